import type { types } from "@slack/bolt";
import * as z from "zod";
import { isBotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Inbox } from "../inbox.ts";
import type { OpenIncident } from "../overview.ts";
import {
  incidentChoices,
  investigationOf,
  noteOf,
  updateOf,
  WHICH_INCIDENT,
} from "../shared/about-message.ts";
import { DOOR, incidentOfTheirs } from "../shared/incident-door.ts";
import type { LookOut } from "../shared/outlook.ts";
import * as doors from "../shared/phrases.ts";
import type { Api } from "./api.ts";
import type { SlackPeople } from "./people.ts";
import * as phrases from "./phrases.ts";
import { accountOf, keyOf, linkOf, type Place, timeOf, tryPlace, type Workspace } from "./place.ts";

const INVESTIGATE = "investigate";
export const ADD_TO_INCIDENT = "add_to_incident";

/** Options of a select (Block Kit reference), and characters of one. */
const OPTIONS = { most: 100, longest: 75 };
const [BLOCK, FIELD] = ["incident", "input"];

const person = z.object({ id: z.string(), team_id: z.string().optional() });

type Person = z.infer<typeof person>;

const schema = z.object({
  callback_id: z.string(),
  trigger_id: z.string(),
  action_ts: z.string(),
  user: person,
  channel: z.object({ id: z.string() }),
  message_ts: z.string().regex(/^\d+\.\d+$/),
  message: z.object({ thread_ts: z.string().optional() }),
});
type Used = z.infer<typeof schema>;

const noteSchema = z.strictObject({ channel: z.string(), root: z.string(), note: z.string() });

const chosenSchema = z.object({
  user: person,
  view: z.object({
    id: z.string(),
    private_metadata: z.string(),
    state: z.object({
      values: z.record(
        z.string(),
        z.record(z.string(), z.object({ selected_option: z.object({ value: z.string() }) })),
      ),
    }),
  }),
});

export interface ShortcutParts {
  workspace: Workspace;
  api: Api;
  people: SlackPeople;
  inbox: Inbox;
  lookOut: LookOut;
  tell(place: Place, user: string, text: string): Promise<void>;
}

interface Noting {
  /** Where they are. */
  place: Place;
  user: Person;
  seen: readonly OpenIncident[];
  post: string;
}

/** Takes the shortcuts in the menu of a message. Each resolves once it is in the journal of that message's thread. */
export function createShortcuts(parts: ShortcutParts) {
  const { workspace, api, people, inbox, lookOut } = parts;
  const { team } = workspace;

  /** Writes it as if that person had typed it there. */
  async function say(place: Place, id: string, user: Person, text: string) {
    const actor = await people.actor(user.id, user.team_id);
    await inbox.post(keyOf(team, place), id, { kind: "text", actor, text });
  }

  async function seenFrom({ channel }: Place, user: Person): Promise<OpenIncident[]> {
    const isOpen = await people.isPublic(channel);
    const from = isOpen ? undefined : `slack:${team}:${channel}`;
    return (await lookOut(accountOf(user.team_id ?? team, user.id), from)).incidents;
  }

  /** In the incident's own thread, or where they are. */
  async function noteIn({ place, user, seen, post }: Noting, incident: string, note: string) {
    const account = accountOf(user.team_id ?? team, user.id);
    const placeOf = (key: JournalKey) => tryPlace(key, team);
    const found = await incidentOfTheirs({ account, incident, seen }, people, placeOf);
    const text = updateOf(incident, note);
    if (found === undefined) return say(place, post, user, text);
    await say(found.place, DOOR + post, user, text);
    void parts.tell(place, user.id, doors.writtenInto(incident, linkOf(workspace, found.place)));
  }

  async function addToIncident(used: Used, place: Place): Promise<void> {
    const { user, trigger_id, message_ts } = used;
    const incidents = await seenFrom(place, user);
    const [first, ...others] = incidents;
    if (first === undefined) return parts.tell(place, user.id, doors.NO_INCIDENT);
    const note = noteOf(timeOf(message_ts), addressOf(workspace, place, message_ts));
    if (others.length === 0) {
      const post = `note:${message_ts}:${first.id}`;
      return noteIn({ place, user, seen: incidents, post }, first.id, note);
    }
    const view = whichView(incidents, { ...place, note });
    await api.ask("views.open", (client) => client.views.open({ trigger_id, view }));
  }

  return {
    /** Takes a `message_action`. */
    async use(body: unknown): Promise<void> {
      const used = schema.parse(body);
      const { callback_id, channel, user, message, message_ts, action_ts } = used;
      const place = { channel: channel.id, root: message.thread_ts ?? message_ts };
      const tell = (text: string) => parts.tell(place, user.id, text);
      try {
        if (!(await people.isHere(channel.id))) return await tell(phrases.NOT_HERE);
        if (callback_id === ADD_TO_INCIDENT) return await addToIncident(used, place);
        if (callback_id !== INVESTIGATE) return;
        // What stands above this moment is read, the message itself included.
        await say(
          place,
          `msg:${action_ts}`,
          user,
          investigationOf(timeOf(message_ts), place.root === message_ts),
        );
        void tell(doors.INVESTIGATING);
      } catch (error) {
        if (!isBotError(error)) throw error;
        void tell(doors.failed(error));
      }
    },

    /** Takes the `view_submission` that says which incident. */
    async choose(body: unknown): Promise<void> {
      const { user, view } = chosenSchema.parse(body);
      const { note, ...place } = noteSchema.parse(JSON.parse(view.private_metadata));
      const id = view.state.values[BLOCK]?.[FIELD]?.selected_option.value ?? "";
      const seen = await seenFrom(place, user);
      await noteIn({ place, user, seen, post: `form:${view.id}` }, id, note);
    },
  };
}

/** The message's address. */
function addressOf(workspace: Workspace, { channel, root }: Place, ts: string): string {
  const inThread = root === ts ? "" : `?thread_ts=${root}&cid=${channel}`;
  return linkOf(workspace, { channel, root: ts }) + inThread;
}

function whichView(
  incidents: readonly OpenIncident[],
  noted: z.infer<typeof noteSchema>,
): types.ModalView {
  return {
    type: "modal",
    callback_id: ADD_TO_INCIDENT,
    private_metadata: JSON.stringify(noted),
    title: plain(WHICH_INCIDENT.title),
    submit: plain("Add"),
    close: plain(phrases.CANCEL),
    blocks: [
      {
        type: "input",
        block_id: BLOCK,
        label: plain(WHICH_INCIDENT.label),
        element: {
          type: "static_select",
          action_id: FIELD,
          options: incidentChoices(incidents, OPTIONS).map(({ text, value }) => ({
            text: plain(text),
            value,
          })),
        },
      },
    ],
  };
}

function plain(text: string): types.PlainTextElement {
  return { type: "plain_text", text };
}
