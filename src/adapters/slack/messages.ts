import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Address } from "../../core/entry.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { isRecord } from "../../core/json.ts";
import { memoize } from "../../core/memoize.ts";
import { askedWaitMs } from "../../core/retry-wait.ts";
import type { Inbox } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import type { ReadFiles } from "../shared/inbound-files.ts";
import { answerWithin, type Api } from "./api.ts";
import { createChangeTaker, tryChange } from "./changes.ts";
import type { SlackPeople } from "./people.ts";
import { FORWARDED } from "../shared/phrases.ts";
import { addressOf } from "../shared/spoken-to.ts";
import { accountOf, keyOf, type Place, type Workspace } from "./place.ts";
import {
  eventSchema,
  isBlank,
  isPersons,
  messageSchema,
  type ReceivedMessage,
} from "./read-message.ts";
import { mentions, othersIn, readSlackText } from "./text.ts";

const MAX_THREADS = 10_000;
const DAY_MS = 86_400_000;
/** A thread that is not for the bot is not asked about again for so long; events arrive seconds out of order. */
const FOREIGN_MS = 5 * 60_000;
/** An event must be acknowledged within 3 s, and be kept before that. */
const ROOT_MS = 1_500;
const PAUSED = "Slack asks to wait before threads are looked at.";

export interface MessageParts {
  workspace: Workspace;
  api: Api;
  people: SlackPeople;
  inbox: Inbox;
  queries: Queries;
  readFiles: ReadFiles;
  /** Tells a person alone, in the thread; never fails. */
  tell(place: Place, user: string, text: string): Promise<void>;
  onHeard(place: Place, message: { ts: string; text: string }): void;
  /** Takes what no person wrote. */
  hearBot(event: unknown): Promise<void>;
  log: Logger;
}

export function createMessages(parts: MessageParts) {
  const { workspace, api, people, inbox, queries, log } = parts;
  const { team, botUser } = workspace;
  const ours = new LRUCache<string, true>({ ttl: DAY_MS, max: MAX_THREADS });
  const taken = createTaken();
  const isForUs = (said: ReceivedMessage) => isTo(said, botUser);
  const isRoot = (said: ReceivedMessage) => isPersons(said, botUser) && isForUs(said);
  const rootOf = createRootReader(api, isRoot);

  async function isOurs(key: JournalKey): Promise<boolean> {
    if (ours.has(key)) return true;
    if (!(await queries.isKnown(key))) return false;
    ours.set(key, true);
    return true;
  }

  /** False: it asks for nothing, or who wrote it was told why it cannot be kept. */
  async function keep(place: Place, said: ReceivedMessage): Promise<boolean> {
    const { user = "", ts } = said;
    const key = keyOf(team, place);
    const [actor, written, attached] = await Promise.all([
      people.actor(user, said.user_team ?? said.team),
      readSlackText(said.text, { botUser, nameOf: people.nameOf }),
      parts.readFiles(said.files),
    ]);
    const isEmpty = isBlank({ ...said, text: written });
    // An empty line between people asks for nothing.
    if (isEmpty && !isForUs(said)) return false;
    const isForward = written === "" && said.files.length === 0;
    const text = isEmpty ? "help" : isForward ? FORWARDED : written;
    const address = readAddress(said, workspace);
    const inbound = { kind: "text" as const, actor, text, address, ...attached };
    try {
      await inbox.post(key, `msg:${ts}`, inbound);
      ours.set(key, true);
      parts.onHeard(place, { ts, text });
      return true;
    } catch (error) {
      if (!isBotError(error, "USAGE")) throw error;
      // Sending it again would not help.
      await parts.tell(place, user, error.message);
      return false;
    }
  }

  /** Keeps what is for the bot: resolves once it is durable, with whether it was. */
  async function take(place: Place, said: ReceivedMessage): Promise<boolean> {
    const thread = nameOf(place.channel, place.root);
    const isAddressed = isForUs(said);
    if (place.root === said.ts) return keep(place, said);
    // A root whose own event is here is not asked for.
    await taken.ended(thread);
    if (!(await isOurs(keyOf(team, place)))) {
      const root = await answerWithin(ROOT_MS, rootOf(thread)).catch((error: unknown) => {
        // Without its root nobody can tell whether a reply is for the bot, unless it mentions it.
        if (!isAddressed) throw error;
        log.debug({ err: error }, "could not read the first message of a thread");
        return undefined;
      });
      if (root !== undefined) await takeOnce(place, root);
      else if (!isAddressed) return false;
    }
    return keep(place, said);
  }

  const takeOnce = async (place: Place, said: ReceivedMessage) =>
    taken.once(nameOf(said.channel, said.ts), () => take(place, said));

  const takeChange = createChangeTaker(parts, readAddress);

  return {
    /**
     * Takes an event `message` or `app_mention`: resolves once what is for the bot is in the journal, or when nothing is.
     * @throws BotError what the inbox's and the queries' store throws, and Slack where it had to be asked
     */
    async hear(event: unknown): Promise<void> {
      const first = taken.copyOf(event);
      if (first !== undefined) return void (await first);
      const change = tryChange(event);
      const isBots = change?.kind === "edited" && !isPersons(change.message, botUser);
      if (change !== undefined && !isBots) return takeChange(change);
      const said = eventSchema.safeParse(event).data;
      if (said === undefined || !isPersons(said, botUser)) return parts.hearBot(event);
      const place = { channel: said.channel, root: said.thread_ts ?? said.ts };
      const isReply = place.root !== said.ts;
      if (isReply || isForUs(said)) await takeOnce(place, said);
    },
  };
}

export type Messages = ReturnType<typeof createMessages>;

/** Reads a thread's first message, if it is for the bot: its own event is then late or was never sent. */
function createRootReader(api: Api, isRoot: (said: ReceivedMessage) => boolean) {
  /** Otherwise every reply in other people's threads would cost a request, from a limit that answers need too. */
  let pausedUntil = 0;

  async function read(thread: string): Promise<ReceivedMessage | undefined> {
    const [channel = "", ts = ""] = thread.split(" ");
    if (performance.now() < pausedUntil) throw new BotError("PLATFORM_RATE_LIMITED", PAUSED);
    try {
      const answer = await api.ask("conversations.replies", (client) =>
        client.conversations.replies({ channel, ts, limit: 1 }),
      );
      const found = (answer.messages ?? []).find((message) => message.ts === ts);
      const said = messageSchema.safeParse(found).data;
      const root = said && { ...said, channel };
      return root !== undefined && isRoot(root) ? root : undefined;
    } catch (error) {
      // The message is gone, or the bot may not see it.
      if (isBotError(error, "PLATFORM_REFUSED")) return undefined;
      const waitMs = askedWaitMs(error, "PLATFORM_RATE_LIMITED") ?? 0;
      pausedUntil = performance.now() + waitMs;
      throw error;
    }
  }

  return memoize(read, { ttlMs: FOREIGN_MS, max: MAX_THREADS });
}

/** The messages on their way into the journal. */
function createTaken() {
  const taken = new Map<string, Promise<boolean>>();
  return {
    /** Resolves when the message, if it is on its way, has ended well or not. */
    async ended(name: string): Promise<void> {
      await taken.get(name)?.catch(() => {});
    },
    /** The way that the event's message is on already. */
    copyOf(event: unknown): Promise<boolean> | undefined {
      if (!isRecord(event)) return undefined;
      const { channel, ts, subtype } = event;
      if (typeof channel !== "string" || typeof ts !== "string") return undefined;
      return subtype === undefined ? taken.get(nameOf(channel, ts)) : undefined;
    },
    /**
     * One way per message: a mention comes as two events at once, and the second ends as the first does. What comes again later
     * goes the whole way: the store may have lost what it was given before, and a worker is woken once more.
     */
    once(name: string, take: () => Promise<boolean>): Promise<boolean> {
      const first = taken.get(name);
      if (first !== undefined) return first;
      const mine = take().finally(() => taken.delete(name));
      taken.set(name, mine);
      return mine;
    },
  };
}

const nameOf = (channel: string, ts: string) => `${channel} ${ts}`;

function readAddress({ channel, text }: ReceivedMessage, { team, botUser }: Workspace): Address {
  const others = othersIn(text, botUser, (user) => accountOf(team, user));
  return addressOf({ bot: mentions(text, botUser), direct: isDirect(channel) }, others);
}

function isTo({ channel, text }: ReceivedMessage, botUser: string): boolean {
  return isDirect(channel) || mentions(text, botUser);
}

/** A person wrote something; in a channel, to the bot. */
export function isQuestion(message: unknown, isThread: boolean, botUser: string): boolean {
  const said = eventSchema.safeParse(message).data;
  if (said === undefined || !isPersons(said, botUser)) return false;
  return isTo(said, botUser) || (isThread && !isBlank(said));
}

/** Slack's ids say what they name: D is a direct message. */
export function isDirect(channel: string): boolean {
  return channel.startsWith("D");
}
