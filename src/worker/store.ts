import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { Backoff } from "../core/backoff.ts";
import type { AppendKind, Draft, Entry, StoredEntry } from "../core/entry.ts";
import { isBotError } from "../core/errors.ts";
import { inPages } from "../core/pages.ts";
import { postDurably } from "../journal/durable.ts";
import type { AppendReply } from "../journal/journal.ts";
import type { Behind, JournalContext, StoredEnd } from "./key-handler.ts";

/** Shorter absences of the store are not worth a word to people. */
const NOTABLE_ABSENCE_MS = 2_000;

/** How long a fenced worker keeps trying to post an outcome that only it knows. */
const LATE_WORD_MS = 60_000;

export async function catchUp(ctx: JournalContext): Promise<void> {
  await written(ctx);
  if (ctx.lost !== undefined) return;
  ctx.mayBeSetBack = false;
  try {
    const unseen = await retryUntilStored(ctx, () => ctx.journal.read(ctx.key, ctx.state));
    for await (const page of inPages(unseen)) foldIn(ctx, page);
  } catch (error) {
    if (!isBotError(error, "JOURNAL_LOST")) throw error;
    markLost(ctx);
  }
}

/** The fold is wrong, and nothing may be decided from it. */
export function markLost(ctx: JournalContext, how: JournalContext["lost"] = "set back"): void {
  ctx.lost = how;
  ctx.fenced = true;
  ctx.wakeSignal.notify();
}

const NONE: ReadonlySet<string> = new Set();

function foldIn(ctx: JournalContext, unseen: readonly StoredEntry[], ours = NONE): void {
  ctx.handler.fold(ctx.state, unseen);
  ctx.handler.folded?.(ctx, unseen, ours);
}

/** Tells whoever watches what this worker wrote. */
function tell({ events, key }: JournalContext, entries: readonly StoredEntry[]): void {
  for (const entry of entries)
    if (entry.kind !== "newer") events.publish({ kind: "written", key, entry });
}

/**
 * Appends, however long the store is away: the entries' ids make a repeated request harmless. Folds what comes back.
 * `unseen`: the store refused a decision that was taken without the newest entries, so decide again.
 * @throws BotError STORE_UNAVAILABLE, STORE_FULL once this worker has given up or is over
 */
export async function append(
  ctx: JournalContext,
  drafts: readonly Draft<AppendKind>[],
  options?: { before?: number },
): Promise<"ok" | "unseen" | "late" | "fenced"> {
  await written(ctx);
  if (ctx.lost !== undefined) return "fenced";
  const reply = await retryUntilStored(ctx, () =>
    ctx.journal.append(ctx.lease, ctx.state, drafts, options),
  );
  if (reply.kind === "fenced" || reply.kind === "lost") {
    if (reply.kind === "lost") markLost(ctx);
    ctx.fenced = true;
    return "fenced";
  }
  ctx.noteClock(reply.now);
  const isWritten = reply.kind === "ok";
  // Deciding again from the same fold would decide the same, for ever.
  if (isWritten && reply.unseen.length === 0)
    throw new Error(
      `${drafts.map(({ id }) => id).join(", ")} was decided again though it is written.`,
    );
  const ours = isWritten ? new Set(drafts.map(({ id }) => id)) : NONE;
  if (reply.kind !== "late") {
    foldIn(ctx, reply.unseen, ours);
    tell(
      ctx,
      reply.unseen.filter(({ id }) => ours.has(id)),
    );
  }
  return reply.kind;
}

/** So many facts may be on their way: a store that does not answer is waited for. */
const MAX_BEHIND = 16;

/**
 * Folds facts at once and writes them behind: in order, and what comes during one append with the next. For facts from which
 * only reads and models' requests follow: what is lost of them with the process is done again. Everything else waits until
 * they are written. Where somebody else wrote first, this worker begins again.
 * @throws as `append`
 */
export async function appendBehind(
  ctx: JournalContext,
  drafts: readonly Draft<AppendKind>[],
): Promise<void> {
  const { behind, state } = ctx;
  behind.stored ??= { last: state.last, head: state.head };
  const at = ctx.now();
  const facts = drafts.map((draft, i) => {
    const entry: Entry = { seq: state.last + 1 + i, at, ...draft };
    return { draft, entry };
  });
  behind.unsent.push(...facts);
  const entries = facts.map(({ entry }) => entry);
  // Nothing of it is shown by itself.
  foldIn(ctx, entries);
  tell(ctx, entries);
  if (behind.writing === undefined) {
    behind.writing = writeBehind(ctx, behind.stored);
    // Whoever waits for it hears of it.
    behind.writing.catch(() => {});
  }
  if (behind.unsent.length >= MAX_BEHIND || ctx.awaySince !== undefined) await written(ctx);
}

/** Waits until the store has all that was folded. @throws as `append` */
export async function written({ behind }: JournalContext): Promise<void> {
  if (behind.writing !== undefined) await behind.writing;
}

async function writeBehind(ctx: JournalContext, from: StoredEnd): Promise<void> {
  const { behind, state } = ctx;
  let stored = from;
  while (behind.unsent.length > 0) {
    const facts = behind.unsent.splice(0);
    const reply = await send(ctx, stored, facts);
    if (reply.kind === "ok") ctx.noteClock(reply.now);
    const end = asFolded(facts, reply);
    if (end === undefined) {
      markLost(ctx, reply.kind === "lost" ? "set back" : "overtaken");
      return;
    }
    behind.stored = stored = end;
  }
  state.head = stored.head;
  behind.stored = undefined;
  behind.writing = undefined;
}

/**
 * What tells by its number which entry was the last one seen is written only where that number is right: behind what came
 * first it would count as seen. Then what stands before it is kept.
 */
async function send(
  ctx: JournalContext,
  after: StoredEnd,
  facts: Behind["unsent"],
): Promise<AppendReply> {
  const numbered = facts.findIndex(({ draft }) => "seen" in draft && draft.seen > after.last);
  const write = (some: Behind["unsent"], ifLast: boolean) => {
    const drafts = some.map(({ draft }) => draft);
    const options = ifLast ? { ifLast } : {};
    return retryUntilStored(ctx, () => ctx.journal.append(ctx.lease, after, drafts, options));
  };
  const reply = await write(facts, numbered !== -1);
  if (reply.kind === "unseen") await write(facts.slice(0, numbered), false);
  return reply;
}

/** The end of the journal, if these were written as they were folded; they get the store's times. */
function asFolded(folded: Behind["unsent"], reply: AppendReply): StoredEnd | undefined {
  if (reply.kind !== "ok" || reply.unseen.length !== folded.length) return undefined;
  let end: StoredEnd | undefined;
  for (const [i, { seq, id, at, head }] of reply.unseen.entries()) {
    const entry = folded[i]?.entry;
    if (entry?.seq !== seq || entry.id !== id) return undefined;
    Object.assign(entry, { at, ...(head !== undefined && { head }) });
    end = { last: seq, head };
  }
  return end;
}

/**
 * Returns once neither the machine's death nor a failover loses what this worker has folded: before a write's first byte, before
 * anything is shown, and before it forgets how a write ended. False: the store has lost it already, and nothing may rest on it.
 * @throws BotError STORE_UNAVAILABLE once this worker has given up or is over
 */
export async function barrier(ctx: JournalContext): Promise<boolean> {
  await written(ctx);
  if (ctx.lost !== undefined) return false;
  const { last, head } = ctx.state;
  const reply = await retryUntilStored(ctx, () => ctx.journal.flush(ctx.key, { last, head }));
  if (reply === "ok") return true;
  markLost(ctx);
  return false;
}

/**
 * Appends what `make` derives from the fold, and asks it again after every refusal until the drafts are written or it has
 * none. Gives up where a newer program has written.
 */
export async function appendDecision(
  ctx: JournalContext,
  make: () => readonly Draft<AppendKind>[] | undefined,
): Promise<void> {
  for (;;) {
    const drafts = make();
    if (drafts === undefined || (await append(ctx, drafts)) !== "unseen") return;
    if (ctx.state.newer !== undefined) return;
  }
}

/** Posts what only this worker knows, after it has lost the journal. */
export async function postLate(ctx: JournalContext, draft: Draft<"signal">): Promise<void> {
  const { journal, log } = ctx;
  const until = performance.now() + LATE_WORD_MS;
  let waits: Backoff | undefined;
  for (;;) {
    try {
      await postDurably(journal, ctx.key, draft);
      return;
    } catch (error) {
      if (performance.now() > until) {
        log.error(
          { err: error, key: ctx.key, call: draft.call, outcome: draft.outcome },
          "lost a late word",
        );
        return;
      }
      waits ??= await storeBackoff();
      await sleep(waits.next());
    }
  }
}

/** Repeats a request while the store is away: without a store nothing may be done. */
export async function retryUntilStored<T>(
  ctx: JournalContext,
  request: () => Promise<T>,
): Promise<T> {
  let waits: Backoff | undefined;
  for (;;) {
    try {
      const reply = await request();
      const awayMs = ctx.awaySince === undefined ? 0 : performance.now() - ctx.awaySince;
      ctx.awaySince = undefined;
      if (awayMs >= NOTABLE_ABSENCE_MS) ctx.awayMs = awayMs;
      await letLoopTurn(ctx);
      return reply;
    } catch (error) {
      const isAway = isBotError(error, "STORE_UNAVAILABLE", "STORE_FULL");
      if (!isAway || ctx.over || ctx.abandoned) throw error;
      ctx.awaySince ??= performance.now();
      if (waits === undefined) {
        ctx.log.warn({ err: error, key: ctx.key }, "the store is away; waiting");
      }
      waits ??= await storeBackoff();
      await sleep(waits.next());
    }
  }
}

/** A store may answer within the same turn of the event loop: a row of requests must not hold it up for longer. */
const MAX_HOLD_MS = 5;

async function letLoopTurn(ctx: JournalContext): Promise<void> {
  if (performance.now() - ctx.turnedAt < MAX_HOLD_MS) return;
  await turnOfLoop();
  ctx.turnedAt = performance.now();
}

/** From 50 ms doubling to a second: a store that blinks is soon asked again, one that is down not too often. */
async function storeBackoff(): Promise<Backoff> {
  // Loaded by the first failure: a start does not need it.
  const { createBackoff } = await import("../core/backoff.ts");
  return createBackoff(50, 1_000);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
