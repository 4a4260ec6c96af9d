import * as z from "zod";
import type { Address } from "../../core/entry.ts";
import { isRecord } from "../../core/json.ts";
import type { Inbox } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import type { SlackPeople } from "./people.ts";
import { keyOf, type Workspace } from "./place.ts";
import { isPersons, messageSchema, type ReceivedMessage } from "./read-message.ts";
import { readSlackText } from "./text.ts";

type Message = z.infer<typeof messageSchema>;

const before = z.object({
  ts: z.string().optional(),
  thread_ts: z.string().optional(),
  text: z.string().default(""),
});

const changed = z.object({
  subtype: z.literal("message_changed"),
  channel: z.string(),
  message: messageSchema.extend({ edited: z.object({ ts: z.string() }).optional() }),
  previous_message: before.optional(),
});

const deleted = z.object({
  subtype: z.literal("message_deleted"),
  channel: z.string(),
  deleted_ts: z.string(),
  previous_message: before.optional(),
});

const CHANGES: ReadonlySet<unknown> = new Set(["message_changed", "message_deleted"]);

/** A message that its author changed, with when; or one that is gone. `root`: what its thread begins with. */
export type Change =
  | { kind: "edited"; channel: string; root: string; ts: string; message: Message; editTs: string }
  | { kind: "removed"; channel: string; root: string; ts: string };

/** Undefined for every other event, and for a change that is none of its author's, such as a link's preview. */
export function tryChange(event: unknown): Change | undefined {
  if (!isRecord(event) || !CHANGES.has(event["subtype"])) return undefined;
  const gone = deleted.safeParse(event).data;
  if (gone !== undefined) {
    const { channel, deleted_ts: ts, previous_message: previous } = gone;
    return { kind: "removed", channel, ts, root: previous?.thread_ts ?? ts };
  }
  const now = changed.safeParse(event).data;
  if (now === undefined) return undefined;
  const { channel, message, previous_message: previous } = now;
  const root = message.thread_ts ?? previous?.thread_ts ?? message.ts;
  // Of a message with replies something stays.
  if (message.subtype === "tombstone") return { kind: "removed", channel, ts: message.ts, root };
  const { edited, text } = message;
  if (edited === undefined || text === previous?.text) return undefined;
  return { kind: "edited", channel, root, ts: message.ts, message, editTs: edited.ts };
}

export interface ChangeParts {
  workspace: Workspace;
  people: SlackPeople;
  queries: Pick<Queries, "isSaid">;
  inbox: Inbox;
}

/** Takes changes of what was posted: an edit or a removal of anything else begins nothing. Throws as the inbox. */
export function createChangeTaker(
  { workspace, people, queries, inbox }: ChangeParts,
  addressOf: (said: ReceivedMessage, workspace: Workspace) => Address,
) {
  const { team, botUser } = workspace;
  return async (change: Change): Promise<void> => {
    const key = keyOf(team, change);
    const of = `msg:${change.ts}`;
    if (!(await queries.isSaid(key, of))) return;
    if (change.kind === "removed") return inbox.post(key, `${of}:removed`, { kind: "removed", of });
    const { message, editTs } = change;
    if (!isPersons(message, botUser)) return;
    const { user = "", user_team, team: home } = message;
    const [actor, text] = await Promise.all([
      people.actor(user, user_team ?? home),
      readSlackText(message.text, { botUser, nameOf: people.nameOf }),
    ]);
    const now = { text, address: addressOf({ ...message, channel: change.channel }, workspace) };
    await inbox.post(key, `${of}:edit:${editTs}`, { kind: "edited", actor, of, ...now });
  };
}
