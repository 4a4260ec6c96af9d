import type { Logger } from "pino";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import { isBotError } from "../../core/errors.ts";
import { suggest } from "../../core/suggest.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { headOf } from "../../core/text.ts";
import { atMost } from "../../core/time-limit.ts";
import type { Inbox } from "../inbox.ts";
import type { Overview } from "../overview.ts";
import { DOOR, incidentOfTheirs } from "../shared/incident-door.ts";
import type { LookOut } from "../shared/outlook.ts";
import type { Lines } from "../shared/outlook-lines.ts";
import * as doors from "../shared/phrases.ts";
import type { SlackMessage } from "./encode.ts";
import type { SlackPeople } from "./people.ts";
import * as phrases from "./phrases.ts";
import { accountOf, keyOf, linkOf, type Place, tryPlace, type Workspace } from "./place.ts";
import { respond } from "./response-url.ts";

/** Slack shows an error to who typed it unless it is acknowledged within 3 s. */
const ACK_MS = 2_400;
/** Of what was typed, in the thread's first message. */
const MAX_SHOWN = 2_000;
/** Commands that a lost connection may bring a second time. */
const MAX_TAKEN = 1_000;

const WORDS = ["ask", "status", "approvals", "incident", "help"];

const schema = z.object({
  command: z.string(),
  text: z.string().default(""),
  user_id: z.string(),
  team_id: z.string().optional(),
  channel_id: z.string(),
  trigger_id: z.string(),
  response_url: z.url(),
});
type Typed = z.infer<typeof schema>;

/** What only who typed the command sees. */
type Answer = SlackMessage & { response_type: "ephemeral" };

export interface CommandParts {
  workspace: Workspace;
  people: SlackPeople;
  inbox: Inbox;
  overview: Overview;
  lookOut: LookOut;
  lines: Lines;
  /** Begins a thread; returns its first message. */
  begin(channel: string, text: string): Promise<string>;
  remove(place: Place, ref: string): Promise<void>;
  render(text: string): Promise<SlackMessage>;
  encode(text: string): string;
  /** Done or not, a command is acknowledged by then. Default 2.4 s. */
  ackMs?: number | undefined;
  log: Logger;
}

/**
 * Takes `/wk`. What only reads is answered to that person alone; a question opens a thread in the channel, for everybody to
 * see. It is acknowledged once the journal has it. A store or a Slack that is slower than that is told, and then how it went.
 */
export function createCommands(parts: CommandParts) {
  const { workspace, people, inbox, overview, lines, ackMs = ACK_MS, log } = parts;
  const taken = new LRUCache<string, Promise<string>>({ max: MAX_TAKEN });

  /** Begins a thread with what somebody asks. Its first message goes again if nothing was recorded. */
  async function ask(typed: Typed, text: string): Promise<string> {
    const { channel_id: channel, user_id, team_id } = typed;
    const actor = await people.actor(user_id, team_id);
    const words = headOf(parts.encode(text), MAX_SHOWN);
    const root = await parts.begin(channel, `${actor.name}: ${words}`);
    const place = { channel, root };
    try {
      await inbox.post(keyOf(workspace.team, place), `msg:${root}`, { kind: "text", actor, text });
    } catch (error) {
      await parts.remove(place, root).catch((cause: unknown) => {
        log.warn({ err: cause }, "the first message of a thread that was not begun stays");
      });
      throw error;
    }
    return doors.ASKED;
  }

  async function read(typed: Typed): Promise<string> {
    const [, written = "", rest = ""] = /^\s*(\S*)\s*([^]*)$/.exec(typed.text) ?? [];
    const word = written.toLowerCase();
    const look = () => lookFor(parts, typed);
    if (word === "ask" && rest !== "") return ask(typed, rest);
    if (/^incidents?$/.test(word) && rest !== "") {
      return (await writeInto(parts, typed, rest)) ?? ask(typed, `incident ${rest}`);
    }
    // `status of checkout?` is a question.
    if (rest !== "") return ask(typed, `${written} ${rest}`);
    switch (word) {
      case "status":
        return lines.status(overview.about(), await look());
      case "approvals":
        return lines.cards(await look());
      case "incident":
      case "incidents":
        return lines.incidents(await look());
      case "":
      case "help":
        return phrases.wkHelp(typed.command);
      default:
        return doors.unknownWord(typed.command, written, suggest(word, WORDS));
    }
  }

  async function answer(typed: Typed): Promise<string> {
    try {
      return await read(typed);
    } catch (error) {
      if (!isBotError(error)) log.error({ err: error }, "a command could not be answered");
      return doors.failed(error);
    }
  }

  async function shown(text: string): Promise<Answer> {
    return { response_type: "ephemeral", ...(await parts.render(text)) };
  }

  async function tellLate({ response_url }: Typed, text: string): Promise<void> {
    try {
      await respond(response_url, await shown(text));
    } catch (error) {
      log.warn({ err: error }, "how a slow command ended could not be told");
    }
  }

  return {
    /** @throws z.ZodError when it is no slash command */
    async take(body: unknown): Promise<Answer> {
      const typed = schema.parse(body);
      const known = taken.get(typed.trigger_id);
      const work = known ?? answer(typed);
      taken.set(typed.trigger_id, work);
      const text = await atMost(ackMs, work, () => {
        if (known === undefined) void work.then((late) => tellLate(typed, late));
        return phrases.SLOW;
      });
      return shown(text);
    },
  };
}

/** What changes an open incident is written in its own thread; undefined: it is asked where they are. */
async function writeInto(
  parts: CommandParts,
  typed: Typed,
  rest: string,
): Promise<string | undefined> {
  const { workspace, people, inbox } = parts;
  const { user_id, team_id, trigger_id } = typed;
  const [, incident] = /^(?:update|resolve)\s+(\S+)/i.exec(rest) ?? [];
  if (incident === undefined) return undefined;
  const { incidents: seen } = await lookFor(parts, typed);
  const account = accountOf(team_id ?? workspace.team, user_id);
  const placeOf = (key: JournalKey) => tryPlace(key, workspace.team);
  const found = await incidentOfTheirs({ account, incident, seen }, people, placeOf);
  if (found === undefined) return undefined;
  const actor = await people.actor(user_id, team_id);
  const text = `incident ${rest}`;
  await inbox.post(found.thread, DOOR + trigger_id, { kind: "text", actor, text });
  return doors.writtenInto(found.id, linkOf(workspace, found.place));
}

async function lookFor({ workspace, people, lookOut }: CommandParts, typed: Typed) {
  const { channel_id: channel, user_id, team_id = workspace.team } = typed;
  const isOpen = await people.isPublic(channel);
  const place = isOpen ? undefined : `slack:${workspace.team}:${channel}`;
  return lookOut(accountOf(team_id, user_id), place);
}
