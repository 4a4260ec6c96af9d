import * as z from "zod";
import { isBotError, messageOf } from "../../core/errors.ts";
import type { Inbox, Queries } from "../adapter.ts";
import { type ClickOrStop, handleButton, handleForm } from "../shared/buttons.ts";
import type { Api } from "./api.ts";
import { type SlackMessage, slackMessages } from "./encode.ts";
import { errorsOf, formView, MAX_FIELDS, readSubmit } from "./forms.ts";
import type { SlackPeople } from "./people.ts";
import { PRESS_AGAIN } from "./phrases.ts";
import { keyOf, type Place, type Workspace } from "./place.ts";

/** The fields of a `block_actions` payload that are used. Slack says where the button was pressed, not the button's id. */
export const pressSchema = z.object({
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
  /** Shows something to a person alone, in the thread; never fails. */
  show(place: Place, user: string, messages: readonly SlackMessage[]): Promise<void>;
  tell(place: Place, user: string, text: string): Promise<void>;
}

/** The response to a sent form; undefined closes it. */
type FormAnswer = { response_action: "errors"; errors: Record<string, string> } | undefined;

/** Takes what people press and fill in. Each resolves once it is in the journal. @throws BotError what the inbox's store throws */
export function createInteractions(parts: InteractionParts) {
  const { workspace, api, people, inbox, queries } = parts;
  const { team } = workspace;

  /** Returns why it cannot be recorded, in words for the person who sent it; undefined: it is recorded. */
  async function record(
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
  }

  async function take({ container, user, actions, trigger_id }: BlockActions, place: Place) {
    const [{ action_id, action_ts }] = actions;
    const tell = (text: string) => parts.tell(place, user.id, text);
    await handleButton(
      { key: keyOf(team, place), queries, id: action_id },
      { maxFields: MAX_FIELDS, written: () => undefined },
      {
        tell,
        show: (message) => parts.show(place, user.id, slackMessages(message)),
        async record(click) {
          const where = click.kind === "stop" ? "" : `${container.message_ts}:${user.id}:`;
          const id = `${click.kind}:${where}${action_ts}`;
          const problem = await record(place, id, user, click);
          if (problem !== undefined) await tell(problem);
        },
        async openForm(form, typed) {
          try {
            const view = formView(form, place);
            await api.ask("views.open", (client) => client.views.open({ trigger_id, view }));
          } catch (error) {
            await tell(`${messageOf(error)} Type it instead: ${typed}`);
          }
        },
      },
    );
  }

  return {
    /** Takes a `block_actions`. */
    async press(body: unknown): Promise<void> {
      const pressed = pressSchema.parse(body);
      const { container, message } = pressed;
      const root = container.thread_ts ?? message?.thread_ts ?? container.message_ts;
      const place = { channel: container.channel_id, root };
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

export type Interactions = ReturnType<typeof createInteractions>;
