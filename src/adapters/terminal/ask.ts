import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import { exactText } from "../../security/sanitize.ts";
import type { Actor } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { ActionCard, Outgoing } from "../shown.ts";
import type { Adapter } from "../adapter.ts";
import type { Inbound } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import { type Answer, plainNotice } from "../render/phrases.ts";
import { readAttachments } from "./attachments.ts";
import { type Board, createBoard } from "./board.ts";
import { cardText, standingText } from "./card.ts";
import { createPaint, type Look } from "./style.ts";
import { isQuiet } from "./idle.ts";
import { evidenceLines, messageText, tryProgressText } from "./message.ts";
import { DELIVERED_TWICE } from "./phrases.ts";
import { DEFAULT_COLUMNS, goneError, type Output } from "./screen.ts";
import { createPlace } from "./people.ts";
import { noteNotice, type TerminalView } from "./view.ts";
import { commandLine } from "../../core/installation.ts";

export interface AskOptions {
  /** The thread in which the question is asked. */
  key: JournalKey;
  queries: Queries;
  /** `terminal:<operating system user>` */
  account: string;
  /** Takes the answer, nothing else. */
  out: Writable;
  /** Takes progress, notices, cards, and the evidence of a model's answer. */
  err: Output;
  /** One JSON object on `out` instead of text: thread, status, text, findings, gaps, threadGaps, results, approvals, questions, notices. */
  json: boolean;
  /** On `err`; the answer is never coloured. */
  color: boolean;
  now: () => number;
}

/** 0: answered, wrapped up at a limit included. 1: failed, cancelled, or no answer came. 3: waits for a person. */
type AskExit = 0 | 1 | 3;

/** One question's view: nothing is read; it is over with the first answer, or when only a person can go on. */
export interface Ask extends Adapter {
  view(key: JournalKey): TerminalView | undefined;
  /** Resolves when everything is printed. The worker may still have to record that it was. */
  readonly finished: Promise<AskExit>;
}

interface OpenQuestion {
  call: string;
  text: string;
  choices: string[];
}

interface Aside {
  notices: string[];
  asked: OpenQuestion[];
}

/**
 * The question as the inbox takes it, with the files that it names as `@path`, relative ones from `folder`.
 * @throws BotError USAGE when one of them cannot be sent
 */
export async function readQuestion(text: string, actor: Actor, folder: string): Promise<Inbound> {
  const read = await readAttachments(text, folder);
  if ("why" in read) throw new BotError("USAGE", `${exactText(read.why)} Nothing was asked.`);
  return { kind: "text", actor, text, ...(read.files.length === 0 ? {} : { files: read.files }) };
}

const POLL_MS = 40;

export function createAsk(options: AskOptions): Ask {
  const { key, queries, err } = options;
  const board = createBoard(key);
  const running = new Set<string>();
  const aside: Aside = { notices: [], asked: [] };
  const { promise: finished, resolve, reject } = Promise.withResolvers<AskExit>();
  let lastAt = options.now();
  let poll: NodeJS.Timeout | undefined;
  let over = false;

  async function finish(answer: Answer | undefined): Promise<void> {
    if (over) return;
    over = true;
    clearTimeout(poll);
    // Nobody may be there to read the answer; the question is over all the same.
    resolve(await report(options, answer, board, aside).catch(() => 1 as const));
  }

  /** Looks again until an answer comes or nothing more will come by itself. */
  async function watch(): Promise<void> {
    const idleMs = options.now() - lastAt;
    const watched = { key, board, running: running.size, unheard: false, idleMs };
    if (await isQuiet(queries, watched)) await finish(undefined);
    if (!over) poll = setTimeout(() => void watch().catch(reject), POLL_MS);
  }

  async function note(text: string): Promise<void> {
    lastAt = options.now();
    if (!over) poll ??= setTimeout(() => void watch().catch(reject), POLL_MS);
    await write(err, text);
  }

  async function say(message: Outgoing): Promise<string> {
    if (message.kind === "answer") {
      await finish(message);
    } else {
      const { text, asks } = message;
      if (asks === undefined) aside.notices.push(text);
      else aside.asked.push({ ...asks, text });
      noteNotice(message, board);
      // What could be typed about it can be typed only in the thread.
      const readable = { ...message, settles: undefined, holds: [], approves: [] };
      await note(await messageText(readable, lookOf(options)));
    }
    return randomUUID();
  }

  async function place(card: ActionCard): Promise<string> {
    const placement = board.place(card);
    const look = lookOf(options);
    if (placement === "card") await note(cardText(card, look, "waiting for approval"));
    else if (placement !== undefined) await note(standingText(card, look.paint, placement));
    return randomUUID();
  }

  const view: TerminalView = {
    progress(update) {
      lastAt = options.now();
      if (update.kind === "tool_started") running.add(update.call);
      if (update.kind === "tool_finished") running.delete(update.call);
      const line = tryProgressText(update, lookOf(options));
      // Disposable: what cannot be printed is dropped.
      if (line !== undefined) void write(err, line).catch(() => undefined);
    },
    post: say,
    postPrivately: (_account, text, offer) => say({ ...plainNotice(text), ...offer }),
    updateNotice: async () => {},
    postCard: place,
    updateCard: async (_ref, card) => void (await place(card)),
    delete: () => note(DELIVERED_TWICE),
  };

  // A reader that is gone wants no more of the answer: nothing to report, and nobody to report it to.
  options.out.on("error", () => resolve(1));
  err.on("error", () => undefined);

  return {
    ...createPlace(options.account),
    view: (wanted) => (wanted === key ? view : undefined),
    finished,
  };
}

function lookOf({ color, err, now }: AskOptions): Look {
  const paint = createPaint(color);
  return { paint, columns: err.columns ?? DEFAULT_COLUMNS, now: now(), rich: false };
}

/** Prints how it came out, and what a person is to do if it is for a person now. */
async function report(
  options: AskOptions,
  answer: Answer | undefined,
  board: Board,
  { notices, asked }: Aside,
): Promise<AskExit> {
  const { key, out, err } = options;
  const { open, unsettled } = board.answerable();
  const waiting = open.size > 0 ? "needs_approval" : "needs_answer";
  const isWaiting = open.size + asked.length > 0;
  const status = answer?.status ?? (isWaiting ? waiting : "failed");
  if (options.json) {
    const { text = null, results = [], spent } = answer ?? {};
    const approvals = [...open.values()];
    const questions = answer === undefined ? asked : [];
    const findings = results.flatMap((result) => result.findings);
    const gaps = results.flatMap((result) => result.gaps);
    const threadGaps = (await options.queries.thread(key))?.gaps;
    const found = { status, text, findings, gaps, threadGaps, results, spent };
    await write(out, JSON.stringify({ thread: key, ...found, approvals, questions, notices }));
  } else if (answer !== undefined) {
    await printAnswer(options, answer);
  }
  if (status === "wrapped_up") {
    await write(err, "I stopped at a limit; the thread can continue from here.");
  }
  const goOn = commandLine(`--thread ${key}`);
  if (open.size + unsettled.size > 0)
    await write(err, `To approve or deny, open the thread:  ${goOn}`);
  else if (status === "needs_answer") await write(err, `To answer, open the thread:  ${goOn}`);
  else if (status === "wrapped_up") await write(err, `To continue, open the thread:  ${goOn}`);
  if (status === "completed" || status === "wrapped_up") return 0;
  return status === waiting ? 3 : 1;
}

/** Elsewhere a card shows what a command recorded, and the answer only names it. Here nothing but the answer is printed. */
function withRecord(answer: Answer): Answer {
  const { text, results, byChecks, isModelRun } = answer;
  const [only, another] = results;
  const isNamed = text !== undefined && !isModelRun && byChecks !== true;
  return isNamed && only?.outcome === "ok" && another === undefined
    ? { ...answer, text: only.text }
    : answer;
}

/** For scripts as much as for people: never coloured, nothing shortened. Of a model's answer only its words. */
async function printAnswer(options: AskOptions, answer: Answer): Promise<void> {
  const look = {
    paint: createPaint(false),
    columns: Number.POSITIVE_INFINITY,
    now: options.now(),
    rich: false,
  };
  if (!answer.isModelRun || answer.text === undefined) {
    await write(options.out, await messageText(withRecord(answer), look));
    return;
  }
  const status = answer.status === "wrapped_up" ? "completed" : answer.status;
  await write(options.out, await messageText({ ...answer, status, results: [] }, look));
  for (const line of evidenceLines(answer, lookOf(options))) await write(options.err, line);
}

async function write(to: Writable, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  to.write(`${text}\n`, (error) => (error ? reject(goneError(error)) : resolve()));
  return promise;
}
