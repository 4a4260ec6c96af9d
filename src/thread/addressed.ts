import type { Entry, Kind } from "../core/entry.ts";
import { runOfCall } from "./entry-ids.ts";
import { isAside } from "./said.ts";

/**
 * Whom a message is for, decided from the journal alone, so every replica and every surface decides alike. `answer`: the
 * bot; `unsure`: a model says whether it is; `silent`: somebody else, or nobody.
 */
export type Hearing = "answer" | "unsure" | "silent";

/** What of a thread's entries so far says whom the next message is for. */
export class Room {
  /** Who wrote here, by account, and how they are called. */
  readonly people = new Map<string, string>();
  /** It speaks only when it is mentioned. */
  quiet = false;
  /** Whoever the bot asked something back: what they write next is for it. */
  readonly awaited = new Set<string>();
  /** Who began the newest run. */
  askers: ReadonlySet<string> = new Set();
  /** By open run, what it answers, with the authors. */
  readonly runs = new Map<string, ReadonlyMap<string, string>>();
  /** Authors of posts that no run has taken up, by entry. */
  readonly posts = new Map<string, string>();
  /** Pins, and commands given elsewhere, that no run has taken up: they say nothing. */
  readonly asides = new Set<string>();
  /** Authors of lines that nobody was answered, by entry. */
  readonly passed = new Map<string, string>();
  /** Whoever somebody spoke to and who has not written since, by account. */
  readonly owed = new Map<string, { by: string; at: number }>();
  /** Two who write to each other, as long as nobody else does. */
  exchange: { pair: ReadonlySet<string>; at: number } | undefined;
  /** The newest line is the bot's. */
  spoke = false;
  /** The post that made it quiet or not, newest. */
  turned = "";
  /** Others can read it, and its platform says whom messages are to. */
  isChat = false;
  /** People were shown how to make it quiet. */
  offered = false;
  /** A bot's message began it: people write there to each other too. */
  isFromApp = false;
  /** How many messages of bots were heard. */
  appPosts = 0;
  /** It began with alerts, and nobody has asked the bot anything yet: people speak to each other. */
  isUnderAlert = false;
}

/** After so long a line is no reply any more. */
const EXCHANGE_MS = 10 * 60_000;
const MAX_POSTS = 100;
/** Messages of bots that a thread takes up: two that answer each other come to an end. */
const MAX_APP_POSTS = 3;

/** Nothing that a later answer could need: models are not told. */
export function isSmallTalk(hearing: Hearing, { tone, app }: Entry<"message">): boolean {
  const isSmall = tone === "chatter" || tone === "thanks" || tone === "ack" || app === true;
  return hearing === "silent" && isSmall;
}

/** Decides whom the message is for, and folds it into the room. */
export function hear(room: Room, message: Entry<"message">): Hearing {
  const { id, actor } = message;
  if (message.app === true) return hearApp(room, message);
  const others = addressees(room, message);
  room.people.set(actor.account, actor.name);
  noteAddress(room, message);
  const hearing = others.length > 0 ? "silent" : hearingOf(room, message);
  follow(room, message, { hearing, others });
  remember(hearing === "silent" ? room.passed : room.posts, id, actor.account);
  room.spoke = false;
  return hearing;
}

/**
 * A line that was passed over and that its author turns to the bot, as if it were written only now; undefined for every other
 * edit.
 */
export function heardAnew(room: Room, edited: Entry<"edited">): Entry<"message"> | undefined {
  const { seq, at, actor, of, text, address, tone, command, head } = edited;
  const isPassed = room.passed.get(of) === actor.account;
  if (!isPassed || address?.bot !== true || command !== undefined) return undefined;
  room.passed.delete(of);
  return {
    kind: "message",
    id: of,
    seq,
    at,
    actor,
    text,
    address,
    ...(tone && { tone }),
    ...(head !== undefined && { head }),
  };
}

/** What a bot writes nobody asked for: a model says whether it is worth a word. It is nobody of the room's people. */
function hearApp(room: Room, message: Entry<"message">): Hearing {
  noteAddress(room, message);
  room.isFromApp ||= room.people.size === 0;
  room.appPosts += 1;
  const isLeft = room.quiet && message.address?.bot !== true;
  return isLeft || room.appPosts > MAX_APP_POSTS ? "silent" : "unsure";
}

function hearingOf(room: Room, message: Entry<"message">): Hearing {
  const { actor, address, tone } = message;
  const { account } = actor;
  // The terminal, agents, and what was written before this was kept: all of it is to the bot.
  if (address === undefined) return "answer";
  const isAwaited = room.awaited.has(account);
  if (tone === "chatter" || (tone === "thanks" && !isAwaited)) return "silent";
  if (address.bot === true || isAwaited) return "answer";
  if (tone === "ack") return "silent";
  if (address.direct === true) return "answer";
  if (room.quiet || room.isUnderAlert) return "silent";
  if (room.people.size === 1 && !room.isFromApp) return "answer";
  if (isReply(room, message)) return "silent";
  const couldBeOurs = room.spoke || room.askers.has(account);
  return tone === "consent" && !couldBeOurs ? "silent" : "unsure";
}

/** Whoever it is addressed to, when that is not the bot: it begins with them, or turns to them at its end. */
function addressees({ people }: Room, { actor, address, text, tone }: Entry<"message">): string[] {
  if (address === undefined || address.bot === true) return [];
  if (tone === "request" && ASKS_ALL.test(text)) return [];
  const spoken = (address.others ?? []).filter(
    ({ at }) => at === "start" || at === "end" || (at === "reply" && tone !== "request"),
  );
  if (spoken.length > 0) return spoken.map(({ account }) => account);
  const [, name] = /^@?([\p{L}\p{N}_.-]{2,40})[:,]\s/u.exec(text) ?? [];
  if (name === undefined) return [];
  const isCalled = (called: string) =>
    [called, called.split(/\s/)[0]].some((each) => each?.toLowerCase() === name.toLowerCase());
  return [...people].flatMap(([account, called]) =>
    account !== actor.account && isCalled(called) ? [account] : [],
  );
}

/** Whoever else it names: `bob, does that say anything to anyone?` */
const ASKS_ALL = /\b(?:any|some|every)(?:one|body)\b|\bany1\b/iu;

/** The answer of who was spoken to, or a line right after another of two who write to each other. */
function isReply({ owed, exchange, askers }: Room, message: Entry<"message">): boolean {
  const { actor, at, tone } = message;
  const isRecent = (since: number | undefined) => since !== undefined && at - since <= EXCHANGE_MS;
  if (isRecent(owed.get(actor.account)?.at))
    return tone !== "request" || !askers.has(actor.account);
  return exchange?.pair.has(actor.account) === true && isRecent(exchange.at) && tone !== "request";
}

/** Who owes whom a reply from here on, and which two go on with each other. */
function follow(
  room: Room,
  { actor: { account }, at }: Entry<"message">,
  { hearing, others }: { hearing: Hearing; others: readonly string[] },
): void {
  const { owed, exchange } = room;
  const by = owed.get(account)?.by;
  owed.delete(account);
  for (const other of others) owed.set(other, { by: account, at });
  if (others.length > 0) room.exchange = undefined;
  else if (hearing !== "silent") room.exchange = undefined;
  else if (by !== undefined) room.exchange = { pair: new Set([account, by]), at };
  else if (exchange?.pair.has(account) === true) room.exchange = { ...exchange, at };
  else room.exchange = undefined;
}

function remember(posts: Map<string, string>, id: string, account: string): void {
  posts.set(id, account);
  for (const oldest of posts.keys()) {
    if (posts.size <= MAX_POSTS) break;
    posts.delete(oldest);
  }
}

/** Folds what is no message into the room. */
export function noteInRoom<K extends Kind>(room: Room, entry: Entry<K>): void {
  NOTED[entry.kind]?.(room, entry);
}

const NOTED: { readonly [K in Kind]?: (room: Room, entry: Entry<K>) => void } = {
  command(room, entry) {
    const { id, actor, command, address } = entry;
    if (isAside(entry)) return void room.asides.add(id);
    noteAddress(room, { address });
    room.people.set(actor.account, actor.name);
    remember(room.posts, id, actor.account);
    room.exchange = undefined;
    room.spoke = false;
    if (command.name === "quiet" || command.name === "listen") turn(room, id, command.name);
  },
  click(room, { id, actor, choice }) {
    if (choice.kind !== "quiet" && choice.kind !== "listen") return;
    turn(room, id, choice.kind);
    remember(room.posts, id, actor.account);
  },
  run_started(room, { run, answers, parent, goal }) {
    // Of a helper, and of a goal's run, nobody here hears.
    if ((parent ?? goal) !== undefined) return;
    const taken = new Map<string, string>();
    for (const id of answers) {
      const account = room.posts.get(id);
      if (account !== undefined) taken.set(id, account);
      room.posts.delete(id);
    }
    room.runs.set(run, taken);
    if (room.asides.delete(answers[0] ?? "")) return;
    room.askers = new Set(taken.values());
    if (room.askers.size > 0) room.isUnderAlert = false;
    for (const account of room.askers) room.awaited.delete(account);
  },
  alert_state(room) {
    if (room.people.size > 0) return;
    room.isUnderAlert ||= room.appPosts === 0 && room.askers.size === 0;
    room.isFromApp = true;
  },
  notice(room, { asks, to }) {
    if (to === undefined) speak(room);
    if (asks === undefined) return;
    for (const account of room.runs.get(runOfCall(asks.call))?.values() ?? [])
      room.awaited.add(account);
  },
  action_proposed: speak,
  run_ended(room, { run, status, text = "" }) {
    const taken = room.runs.get(run);
    if (taken === undefined) return;
    room.runs.delete(run);
    if (status === "silent") {
      for (const [id, account] of taken) remember(room.passed, id, account);
      return;
    }
    speak(room);
    const asksBack = status === "failed" || status === "wrapped_up" || isAskingBack(text);
    for (const account of asksBack ? taken.values() : []) room.awaited.add(account);
  },
};

function noteAddress(room: Room, { address }: Pick<Entry<"message">, "address">): void {
  room.isChat ||= address !== undefined && address.direct !== true;
}

function turn(room: Room, id: string, to: "quiet" | "listen"): void {
  if (room.quiet === (to === "quiet")) return;
  room.quiet = !room.quiet;
  room.turned = id;
}

function speak(room: Room): void {
  room.spoke = true;
  room.exchange = undefined;
}

const OFFERS =
  /[?？]|\b(?:if you (?:want|like|need|wish|prefer|agree)|let me know|tell me|shall|should i|want me|i (?:can|could)(?![’']t)|go ahead)\b|(?:^|[.,:;!—–-]\s*|\b(?:please|just|or|and|to)\s+)(?:say|reply|confirm|approve)\b/imu;

/** The answer ends with a question, or offers something that a "yes" or "ok" would take up. */
function isAskingBack(text: string): boolean {
  const last = text
    .trimEnd()
    .split(/\n\s*\n/)
    .slice(-2)
    .join("\n");
  return OFFERS.test(last);
}
