import { InteractionType, MessageFlags } from "discord.js";
import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import type { Inbox } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import { NOT_RECORDED } from "../render/phrases.ts";
import type { Block } from "../render/rich-text.ts";
import { type ClickOrStop, handleButton, handleForm } from "../shared/buttons.ts";
import type { InteractionReplies } from "./interaction-replies.ts";
import { turnsPage } from "../shared/reading.ts";
import { answerWithin } from "./api.ts";
import { discordPages } from "./encode.ts";
import { keptIn, MAX_FIELDS, modalOf, renderMistakes, writtenIn } from "./forms.ts";
import type { Interaction } from "./payloads.ts";
import { actorOf } from "./people.ts";
import { keyOf } from "./place.ts";
import { isWithin } from "./say.ts";
import type { EphemeralMessages } from "./ephemeral.ts";

/** Discord waits 3 s for the first answer: by then the person is told if it could not be recorded. */
const KEEP_MS = 2_000;
/** Of plain output in one message: in UTF-8 it may take three times as many bytes. */
const OUTPUT_CHARS = 3_000;

/** What says which page it is. */
const PAGE_LINE = 100;

export interface InteractionParts {
  replies: InteractionReplies;
  ephemeralMessages: EphemeralMessages;
  inbox: Inbox;
  queries: Queries;
  log: Logger;
}

/** Takes pressed buttons and sent forms: each is recorded, then acknowledged. Never fails. */
export function createInteractions(parts: InteractionParts) {
  const { replies, ephemeralMessages, inbox, log } = parts;
  const queries = inTimeQueries(parts.queries);

  /** False where it is not kept, and the person was told so. */
  async function keep(pressed: Interaction, click: ClickOrStop): Promise<boolean> {
    const key = keyOf(pressed.place);
    const id = `${pressed.type === FORM ? "form" : click.kind}:${pressed.id}`;
    const actor = actorOf(pressed.user, pressed.nick);
    try {
      await inTime(inbox.post(key, id, { ...click, actor }));
    } catch (error) {
      log.warn({ err: error, key, id }, "a click could not be kept");
      await replies.tell(pressed, isBotError(error, "USAGE") ? error.message : NOT_RECORDED);
      return false;
    }
    return true;
  }

  async function record(pressed: Interaction, click: ClickOrStop): Promise<void> {
    if (await keep(pressed, click)) await replies.taken(pressed);
  }

  async function answer(pressed: Interaction): Promise<void> {
    const where = { key: keyOf(pressed.place), queries, id: pressed.data.custom_id };
    const target = {
      record: (click: ClickOrStop) => record(pressed, click),
      tell: (text: string) => replies.tell(pressed, text),
    };
    if (pressed.type === FORM) {
      const written = writtenIn(pressed);
      return handleForm(where, written, {
        ...target,
        showMistakes: async (form) =>
          void (await replies.show(pressed, renderMistakes(form, written))),
      });
    }
    const form = { maxFields: MAX_FIELDS, written: () => keptIn(pressed) };
    const reading = {
      allowLink: isWithin(pressed.place),
      paginate: (blocks: readonly Block[]) => discordPages(blocks, PAGE_LINE),
      outputChars: OUTPUT_CHARS,
    };
    return handleButton(where, form, reading, {
      ...target,
      async showPage({ title, ...page }) {
        const message = { ...page, summary: title };
        await (turnsOwnPage(pressed)
          ? replies.replace(pressed, message)
          : replies.show(pressed, message));
      },
      sendFile: (file) => replies.sendFile(pressed, file),
      async noteFeedback(said, then) {
        if (await keep(pressed, said)) await then();
      },
      openForm: (opened) => replies.form(pressed, modalOf(opened)),
      show: async (message) => void (await replies.show(pressed, message)),
      async note(click) {
        const actor = actorOf(pressed.user, pressed.nick);
        const id = `editing:${pressed.id}`;
        await inTime(inbox.post(where.key, id, { ...click, actor })).catch((error: unknown) => {
          log.debug({ err: error }, "who is editing is not shown");
        });
      },
      async open(message, opened) {
        if (await replies.show(pressed, message)) await keep(pressed, opened);
      },
    });
  }

  async function handle(pressed: Interaction): Promise<void> {
    try {
      await answer(pressed);
    } catch (error) {
      log.warn({ err: error }, "what was pressed could not be answered");
      await replies.tell(pressed, NOT_RECORDED);
    }
  }

  return async (pressed: Interaction): Promise<void> => {
    const { application_id: application, token } = pressed;
    const answered = handle(pressed);
    ephemeralMessages.clicked(pressed.place, pressed.user.id, { application, token, answered });
    await answered;
  };
}

export type Interactions = ReturnType<typeof createInteractions>;

const FORM: number = InteractionType.ModalSubmit;

/** The page that is turned is one person's own. */
function turnsOwnPage({ message, data }: Interaction): boolean {
  if (message === undefined || (message.flags & MessageFlags.Ephemeral) === 0) return false;
  const buttons = message.components.flatMap((row) => row.components);
  return buttons.some((each) => each.custom_id === data.custom_id && turnsPage(each.label));
}

function inTime<T>(asked: Promise<T>): Promise<T> {
  return answerWithin(KEEP_MS, asked, "The store");
}

function inTimeQueries(
  queries: Queries,
): Pick<
  Queries,
  "action" | "incident" | "alerts" | "editForm" | "checkEdit" | "answer" | "output"
> {
  return {
    action: (key, action) => inTime(queries.action(key, action)),
    incident: (key, id) => inTime(queries.incident(key, id)),
    alerts: (key, id) => inTime(queries.alerts(key, id)),
    editForm: (key, action) => inTime(queries.editForm(key, action)),
    answer: (key, run) => inTime(queries.answer(key, run)),
    output: (key, call) => inTime(queries.output(key, call)),
    checkEdit: (key, edit) => inTime(queries.checkEdit(key, edit)),
  };
}
