import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import type { JournalKey } from "../../core/journal-key.ts";
import type { ActionCard, Adapter, Outgoing, Queries, View } from "../adapter.ts";
import type { Board } from "./board.ts";
import { createBoard } from "./board.ts";
import { renderCard, renderStanding } from "./card.ts";
import type { Look } from "./paint.ts";
import { createPaint } from "./paint.ts";
import { isQuiet } from "./quiet.ts";
import { DELIVERED_TWICE, renderOutgoing, renderProgress } from "./render.ts";
import type { Output } from "./screen.ts";
import { DEFAULT_COLUMNS, goneError } from "./screen.ts";
import { createPeople } from "./people.ts";

export interface AskOptions {
  /** The thread in which the question is asked. */
  key: JournalKey;
  queries: Queries;
  /** `terminal:<operating system user>` */
  account: string;
  /** Takes the answer, nothing else. */
  out: Writable;
  /** Takes progress, notices and cards. */
  err: Output;
  /** One JSON object on `out` instead of text: thread, status, text, results, approvals, notices. */
  json: boolean;
  /** On `err`; the answer is never coloured. */
  color: boolean;
  /** Ms since 1970. */
  now: () => number;
}

/** 0: answered. 1: failed, cancelled, or no answer came. 3: waits for an approval. */
type AskExit = 0 | 1 | 3;

/** One question's view: nothing is read; it is over with the first answer, or when only a person can go on. */
export interface Ask extends Adapter {
  /** Resolves when everything is printed. The worker may still have to record that it was. */
  readonly finished: Promise<AskExit>;
}

type Answer = Extract<Outgoing, { kind: "answer" }>;

/** How often it looks whether anything more will come. */
const POLL_MS = 40;

export function createAsk(options: AskOptions): Ask {
  const { key, queries, err } = options;
  const board = createBoard(key);
  const running = new Set<string>();
  const notices: string[] = [];
  const { promise: finished, resolve, reject } = Promise.withResolvers<AskExit>();
  let lastAt = options.now();
  let poll: NodeJS.Timeout | undefined;
  let over = false;

  async function finish(answer: Answer | undefined): Promise<void> {
    if (over) return;
    over = true;
    clearTimeout(poll);
    // Nobody may be there to read the answer; the question is over all the same.
    resolve(await report(options, answer, board, notices).catch(() => 1 as const));
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
      notices.push(message.text);
      if (message.settles !== undefined) board.askOutcome(message.settles);
      await note(renderOutgoing({ ...message, settles: undefined }, lookOf(options)));
    }
    return randomUUID();
  }

  async function place(card: ActionCard): Promise<string> {
    const placement = board.place(card);
    const look = lookOf(options);
    if (placement === "card") await note(renderCard(card, look, "waits for approval"));
    else if (placement !== undefined) await note(renderStanding(card, look.paint, placement));
    return randomUUID();
  }

  const view: View = {
    progress(update) {
      lastAt = options.now();
      if (update.kind === "tool_started") running.add(update.call);
      else running.delete(update.call);
      // Disposable: what cannot be printed is dropped.
      void write(err, renderProgress(update, lookOf(options))).catch(() => undefined);
    },
    say,
    whisper: (_account, text) => say({ kind: "notice", text, settles: undefined }),
    card: place,
    settle: async (_ref, card) => void (await place(card)),
    retract: () => note(DELIVERED_TWICE),
  };

  // A reader that is gone wants no more of the answer: nothing to report, and nobody to report it to.
  options.out.on("error", () => resolve(1));
  err.on("error", () => undefined);

  return {
    transport: "terminal",
    people: createPeople(options.account),
    singleOperator: true,
    view: (wanted) => (wanted === key ? view : undefined),
    finished,
  };
}

function lookOf({ color, err, now }: AskOptions): Look {
  return { paint: createPaint(color), columns: err.columns ?? DEFAULT_COLUMNS, now: now() };
}

/** Prints how it came out, and what a person is to do if it is for a person now. */
async function report(
  options: AskOptions,
  answer: Answer | undefined,
  board: Board,
  notices: string[],
): Promise<AskExit> {
  const { key, out, err } = options;
  const { open, unsettled } = board.answerable();
  const status = answer?.status ?? (open.size > 0 ? "needs_approval" : "failed");
  if (options.json) {
    const { text = null, results = [] } = answer ?? {};
    const approvals = [...open.values()];
    await write(out, JSON.stringify({ thread: key, status, text, results, approvals, notices }));
  } else if (answer !== undefined) {
    // For scripts as much as for people: never coloured, nothing shortened.
    const look = {
      paint: createPaint(false),
      columns: Number.POSITIVE_INFINITY,
      now: options.now(),
    };
    await write(out, renderOutgoing(answer, look));
  }
  if (open.size + unsettled.size > 0) {
    await write(err, `To decide, open the thread:  npm start -- --thread ${key}`);
  }
  if (status === "completed") return 0;
  return status === "needs_approval" ? 3 : 1;
}

async function write(to: Writable, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  to.write(`${text}\n`, (error) => (error ? reject(goneError(error)) : resolve()));
  return promise;
}
