import * as z from "zod";
import { isBotError, messageOf } from "../../core/errors.ts";
import type { Inbox } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import type { AllowLink, RenderedMessage } from "../render/rich-text.ts";
import {
  type ButtonTarget,
  type ClickOrStop,
  handleButton,
  handleForm,
} from "../shared/buttons.ts";
import type { Api } from "./api.ts";
import { FEEDBACK } from "./controls.ts";
import { type SlackMessage, slackMessages, slackPages } from "./encode.ts";
import { sendFile } from "./images.ts";
import { errorsOf, formView, MAX_FIELDS, pageView, readPlace, readSubmit } from "./forms.ts";
import type { SlackPeople } from "./people.ts";
import { PRESS_AGAIN } from "./phrases.ts";
import { keyOf, type Place, type Workspace } from "./place.ts";

/** Of plain output on one page of a window. */
const OUTPUT_CHARS = 9_000;

/** The fields of a `block_actions` payload that are used. Slack says where the button was pressed, not the button's id. */
export const pressSchema = z.object({
  user: z.object({ id: z.string(), team_id: z.string().optional() }),
  trigger_id: z.string(),
  container: z.union([
    z.object({
      channel_id: z.string(),
      message_ts: z.string(),
      thread_ts: z.string().optional(),
    }),
    z.object({ type: z.literal("view"), view_id: z.string() }),
  ]),
  /** The window it was pressed in. */
  view: z.object({ private_metadata: z.string(), hash: z.string() }).nullish(),
  message: z.object({ thread_ts: z.string().optional() }).optional(),
  actions: z
    .tuple([
      z.object({
        action_id: z.string(),
        action_ts: z.string(),
        /** Of a pair of buttons with one id: which one. */
        value: z.string().optional(),
        /** Of a menu: what was chosen in it. */
        selected_option: z.object({ value: z.string() }).optional(),
      }),
    ])
    .rest(z.unknown()),
});
type BlockActions = z.infer<typeof pressSchema>;

const stopSchema = z.object({
  channel: z.string(),
  thread_ts: z.string(),
  user: z.string(),
  event_ts: z.string(),
});

export interface InteractionParts {
  workspace: Workspace;
  api: Api;
  people: SlackPeople;
  inbox: Inbox;
  queries: Queries;
  allowLink: AllowLink;
  /** Shows something to a person alone, in the thread; never fails. False: they could not be shown it. */
  show(place: Place, user: string, messages: readonly SlackMessage[]): Promise<boolean>;
  tell(place: Place, user: string, text: string): Promise<void>;
}

/** The response to a sent form; undefined closes it. */
type FormAnswer = { response_action: "errors"; errors: Record<string, string> } | undefined;

/** Writes what somebody pressed or sent into its thread. */
function createRecorder({ workspace: { team }, people, inbox }: InteractionParts) {
  /** Returns why it cannot be recorded, in words for the person who sent it; undefined: it is recorded. */
  return async function record(
    place: Place,
    id: string,
    { id: user, team_id }: BlockActions["user"],
    click: ClickOrStop,
  ): Promise<string | undefined> {
    try {
      const actor = await people.actor(user, team_id);
      await inbox.post(keyOf(team, place), id, { ...click, actor });
      return undefined;
    } catch (error) {
      if (isBotError(error, "USAGE")) return error.message;
      throw error;
    }
  };
}

type Recorder = ReturnType<typeof createRecorder>;

/** Does what a pressed button or a chosen line of a menu means. */
function createTaker(parts: InteractionParts, record: Recorder) {
  const { workspace, api, queries } = parts;
  return async function take(body: BlockActions, place: Place) {
    const { container, user, actions, trigger_id } = body;
    const [{ action_id, action_ts, value, selected_option }] = actions;
    const pressed =
      selected_option?.value ?? (action_id === FEEDBACK ? value : undefined) ?? action_id;
    const tell = (text: string) => parts.tell(place, user.id, text);
    const show = (message: RenderedMessage) => parts.show(place, user.id, slackMessages(message));
    const origin = "view_id" in container ? container.view_id : container.message_ts;
    const keep = async (click: ClickOrStop): Promise<boolean> => {
      const where = click.kind === "stop" ? "" : `${origin}:${user.id}:`;
      const id = `${click.kind}:${where}${action_ts}`;
      const problem = await record(place, id, user, click);
      if (problem !== undefined) await tell(problem);
      return problem === undefined;
    };
    await handleButton(
      { key: keyOf(workspace.team, place), queries, id: pressed },
      { maxFields: MAX_FIELDS, written: () => undefined },
      { allowLink: parts.allowLink, paginate: slackPages, outputChars: OUTPUT_CHARS },
      {
        ...readingTarget(api, body, place, tell),
        tell,
        show: async (message) => void (await show(message)),
        async note(click) {
          await record(place, `editing:${action_ts}:${user.id}`, user, click).catch(
            () => undefined,
          );
        },
        async record(click) {
          await keep(click);
        },
        async noteFeedback(said, then) {
          if (await keep(said)) await then();
        },
        async open(message, opened) {
          if (await show(message)) await keep(opened);
        },
        async openForm(form, typed) {
          try {
            const view = formView(form, place);
            await api.ask("views.open", (client) => client.views.open({ trigger_id, view }));
          } catch (error) {
            const instead = typed === undefined ? "" : ` Type it instead: ${typed}`;
            await tell(messageOf(error) + instead);
          }
        },
      },
    );
  };
}

/** Takes what people press and fill in. Each resolves once it is in the journal. @throws BotError what the inbox's store throws */
export function createInteractions(parts: InteractionParts) {
  const { workspace, queries } = parts;
  const { team } = workspace;
  const record = createRecorder(parts);
  const take = createTaker(parts, record);

  return {
    /** Takes a `block_actions`. */
    async press(body: unknown): Promise<void> {
      const pressed = pressSchema.parse(body);
      const place = placeOf(pressed);
      try {
        await take(pressed, place);
      } catch (error) {
        // Slack sends a press only once: if it was not recorded, the person must press again.
        void parts.tell(place, pressed.user.id, `${messageOf(error)} ${PRESS_AGAIN}`);
        throw error;
      }
    },

    /** Takes a `view_submission`. */
    async submit(body: unknown): Promise<FormAnswer> {
      const { user: by, place, view, form, written } = readSubmit(body);
      /** A form with fields shows the text under the first; one without closes, and the person is told. */
      const tell = async (text: string): Promise<FormAnswer> => {
        if (Object.keys(written).length > 0) return errorsOf(written, [{ field: undefined, text }]);
        await parts.tell(place, by.id, text);
        return undefined;
      };
      return handleForm<FormAnswer>({ key: keyOf(team, place), queries, id: form }, written, {
        tell,
        showMistakes: async ({ mistakes }) => errorsOf(written, mistakes),
        async record(click) {
          const problem = await record(place, `form:${view}`, by, click);
          return problem === undefined ? undefined : tell(problem);
        },
      });
    },

    /** Takes an `agent_session_stopped`: Slack's own Stop. */
    async stop(event: unknown): Promise<void> {
      const { channel, thread_ts, user: id, event_ts } = stopSchema.parse(event);
      await record({ channel, root: thread_ts }, `stop:${event_ts}`, { id }, { kind: "stop" });
    },
  };
}

/** Long things are read in the window that is open, else in a new one; as files they go to the thread. */
function readingTarget(
  api: Api,
  { container, trigger_id, view }: BlockActions,
  place: Place,
  tell: (text: string) => Promise<void>,
): Pick<ButtonTarget<void>, "showPage" | "sendFile"> {
  const orTold = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      await tell(messageOf(error));
    }
  };
  return {
    showPage: (page) =>
      orTold(async () => {
        const shown = pageView(page, place);
        if (!("view_id" in container)) {
          return api.ask("views.open", (client) => client.views.open({ trigger_id, view: shown }));
        }
        const { view_id } = container;
        const hash = view === null || view === undefined ? {} : { hash: view.hash };
        return api.ask("views.update", (client) =>
          client.views.update({ view_id, view: shown, ...hash }),
        );
      }),
    sendFile: ({ name, text }) =>
      orTold(() => sendFile(api, place, { name, bytes: Buffer.from(text), alt: name })),
  };
}

/** A window remembers the thread that it was opened in, as a form does. */
function placeOf({ container, message, view }: BlockActions): Place {
  if ("view_id" in container) return readPlace(view?.private_metadata ?? "");
  const root = container.thread_ts ?? message?.thread_ts ?? container.message_ts;
  return { channel: container.channel_id, root };
}

export type Interactions = ReturnType<typeof createInteractions>;
