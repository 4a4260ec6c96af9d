import type { Queries } from "../adapters/queries.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { atMost } from "../core/time-limit.ts";
import type { Figures } from "../events/gauges.ts";
import type { Journal } from "../journal/journal.ts";
import type { Load } from "../wakeups/wakeups.ts";
import type { Health } from "./health.ts";

/** Prometheus waits 10 s unless it is told otherwise. */
const STORE_MS = 3_000;
/** Journals that are due and no affair of this process's, such as what an `ask` left, are passed over up to here. */
const MOST_PASSED = 1_000;
/** Journals that owe something may be very many; without their cards the others are told all the same. */
const CARDS_MS = 1_500;
/** More cards are not told apart from so many. */
const MOST_CARDS = 1_000;

export interface FigureParts {
  journal: Pick<Journal, "beat" | "hosts" | "owed" | "size">;
  health: Pick<Health, "whyNot" | "connected">;
  host: string;
  serves(key: JournalKey): boolean;
  load(): Load;
  openActions: Queries["openActions"];
}

/** Reads this process's figures. However many ask, the store is asked by one at a time. */
export function createFigures(parts: FigureParts): () => Promise<Figures> {
  const { health, load } = parts;
  let reading: Promise<Figures["store"]> | undefined;
  let counting: Promise<number[]> | undefined;

  async function readCards(): Promise<number[] | undefined> {
    counting ??= waitingCards(parts).finally(() => {
      counting = undefined;
    });
    return atMost(CARDS_MS, counting, () => undefined);
  }

  async function readStore(): Promise<Figures["store"]> {
    reading ??= storeFigures(parts, readCards()).finally(() => {
      reading = undefined;
    });
    return atMost(
      STORE_MS,
      reading.catch(() => undefined),
      () => undefined,
    );
  }

  return async () => {
    const [why, store] = await Promise.all([health.whyNot(), readStore()]);
    return { isReady: why === undefined, platforms: health.connected(), slots: load(), store };
  };
}

async function storeFigures(
  parts: FigureParts,
  cards: Promise<number[] | undefined>,
): Promise<Figures["store"]> {
  const [dueLagMs, clockMs, { bytes, left }, waitingMs] = await Promise.all([
    dueLag(parts),
    clockAhead(parts),
    parts.journal.size(),
    cards,
  ]);
  return { dueLagMs, clockMs, bytes, left, waitingMs };
}

/** The journals come in the order in which they are due. */
async function dueLag({ journal, serves }: FigureParts): Promise<number | undefined> {
  let passed = 0;
  for await (const { key, dueAt, leased, now } of journal.owed()) {
    passed += 1;
    if (dueAt === undefined || dueAt > now) return 0;
    if (passed > MOST_PASSED) return undefined;
    if (!leased && serves(key)) return now - dueAt;
  }
  return 0;
}

async function clockAhead({ journal, host }: FigureParts): Promise<number> {
  const before = Date.now();
  await journal.beat(host);
  const after = Date.now();
  const beat = (await journal.hosts()).find((each) => each.host === host);
  return beat === undefined ? 0 : beat.beatAt - (before + after) / 2;
}

async function waitingCards({ health, openActions }: FigureParts): Promise<number[]> {
  const ages: number[] = [];
  for (const transport of health.connected().keys())
    for await (const { phase, askedAt } of openActions(transport)) {
      if (phase === "open" && askedAt !== undefined) ages.push(Date.now() - askedAt);
      if (ages.length >= MOST_CARDS) return ages;
    }
  return ages;
}
