import * as z from "zod";
import { isBotError, messageOf } from "../../core/errors.ts";
import type { Inbound, Inbox, Queries } from "../adapter.ts";
import { loadForm, readForm } from "../render/forms.ts";
import { readButtonAction, type ButtonAction } from "../render/buttons.ts";
import { renderDetails } from "../render/card.ts";
import type { Api } from "./api.ts";
import { type SlackMessage, slackMessages } from "./encode.ts";
import { errorsOf, formView, MAX_FIELDS, readSubmit } from "./forms.ts";
import type { SlackPeople } from "./people.ts";
import { keyOf, type Place, type Workspace } from "./place.ts";

/** What is taken of a `block_actions` payload. Where it was pressed is Slack's word, not the button's. */
const pressSchema = z.object({
  user: z.object({ id: z.string(), team_id: z.string().optional() }),
  trigger_id: z.string(),
  container: z.object({
    channel_id: z.string(),
    message_ts: z.string(),
    thread_ts: z.string().optional(),
  }),
  message: z.object({ thread_ts: z.string().optional() }).optional(),
  actions: z.tuple([z.object({ action_id: z.string(), action_ts: z.string() })]).rest(z.unknown()),
});
type Pressed = z.infer<typeof pressSchema>;

const stopSchema = z.object({
  channel: z.string(),
  thread_ts: z.string(),
  user: z.string(),
  event_ts: z.string(),
});

const OTHER_VERSION =
  "This button is from another version of Watchkeeper and means nothing to this one. Type what you want instead; `help` lists how.";

export interface InteractionParts {
  workspace: Workspace;
  api: Api;
  people: SlackPeople;
  inbox: Inbox;
  queries: Queries;
  /** Shows something to a person alone, in the thread; never fails. */
  show(place: Place, user: string, messages: readonly SlackMessage[]): Promise<void>;
  tell(place: Place, user: string, text: string): Promise<void>;
}

/** What is said to Slack about a form that was sent: nothing closes it. */
type FormAnswer = { response_action: "errors"; errors: Record<string, string> } | undefined;

/** Takes what people press and fill in. Each resolves once it is in the journal. */
export interface Interactions {
  /** Takes a `block_actions`. @throws BotError what the inbox's store throws */
  press(body: unknown): Promise<void>;
  /** Takes a `view_submission`. @throws as `press` */
  submit(body: unknown): Promise<FormAnswer>;
  /** Takes an `agent_session_stopped`: Slack's own Stop. @throws as `press` */
  stop(event: unknown): Promise<void>;
}

export function createInteractions(parts: InteractionParts): Interactions {
  const { workspace, people, inbox } = parts;
  const { team } = workspace;

  /** Returns what keeps it from being kept, in words for whoever sent it. */
  async function post(
    place: Place,
    id: string,
    { id: user, team_id }: Pressed["user"],
    inbound: Omit<Extract<Inbound, { kind: "click" }>, "actor"> | { kind: "stop" },
  ): Promise<string | undefined> {
    try {
      const actor = await people.actor(user, team_id);
      await inbox.post(keyOf(team, place), id, { ...inbound, actor });
      return undefined;
    } catch (error) {
      if (isBotError(error, "USAGE")) return error.message;
      throw error;
    }
  }

  async function act(pressed: Pressed, press: ButtonAction, place: Place) {
    const { container, user: by } = pressed;
    const [{ action_ts }] = pressed.actions;
    switch (press.kind) {
      case "click": {
        const id = `click:${container.message_ts}:${by.id}:${action_ts}`;
        return post(place, id, by, { ...press, via: "button" });
      }
      case "stop":
        return post(place, `stop:${action_ts}`, by, { kind: "stop" });
      case "form":
        return openForm(parts, press, pressed.trigger_id, place);
      case "details": {
        const card = await parts.queries.action(keyOf(team, place), press.action);
        if (card === undefined) return `${press.action} is not known in this thread any more.`;
        await parts.show(place, by.id, slackMessages(renderDetails(card)));
        return undefined;
      }
    }
  }

  return {
    async press(body) {
      const pressed = pressSchema.parse(body);
      const { container, message } = pressed;
      const root = container.thread_ts ?? message?.thread_ts ?? container.message_ts;
      const place = { channel: container.channel_id, root };
      const press = readButtonAction(pressed.actions[0].action_id);
      try {
        const problem = press === undefined ? OTHER_VERSION : await act(pressed, press, place);
        if (problem !== undefined) await parts.tell(place, pressed.user.id, problem);
      } catch (error) {
        // Slack sends a press once only: what was not kept must be pressed again.
        void parts.tell(place, pressed.user.id, `${messageOf(error)} Press again in a moment.`);
        throw error;
      }
    },

    async submit(body) {
      const { user: by, place, view, form, written } = readSubmit(body);
      /** Where the form has no field that could show it, it closes, and the person is told. */
      const refuse = async (why: string): Promise<FormAnswer> => {
        if (Object.keys(written).length > 0) {
          return errorsOf(written, [{ field: undefined, text: why }]);
        }
        await parts.tell(place, by.id, why);
        return undefined;
      };
      const sent = await readForm(parts.queries, keyOf(team, place), form, written);
      if (sent === undefined) return refuse("This form is from another version of Watchkeeper.");
      if (sent.kind === "mistaken") return errorsOf(written, sent.mistakes);
      const problem = await post(place, `form:${view}`, by, { ...sent, via: "button" });
      return problem === undefined ? undefined : refuse(problem);
    },

    async stop(event) {
      const { channel, thread_ts, user: id, event_ts } = stopSchema.parse(event);
      const place = { channel, root: thread_ts };
      await post(place, `stop:${event_ts}`, { id }, { kind: "stop" });
    },
  };
}

/** Returns why there is no form, in words for whoever pressed. */
async function openForm(
  { api, queries, workspace }: InteractionParts,
  press: Extract<ButtonAction, { kind: "form" }>,
  trigger_id: string,
  place: Place,
): Promise<string | undefined> {
  const key = keyOf(workspace.team, place);
  const form = await loadForm(queries, key, press, { maxFields: MAX_FIELDS });
  if (form === undefined) return `${press.action} is not known in this thread any more.`;
  const typed = `Type it instead: ${press.form} ${press.action} …`;
  try {
    const view = formView(form, place);
    await api.ask("views.open", (client) => client.views.open({ trigger_id, view }));
    return undefined;
  } catch (error) {
    return `${messageOf(error)} ${typed}`;
  }
}
