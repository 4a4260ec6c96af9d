import type { Adapter } from "../adapters/adapter.ts";
import { BotError } from "../core/errors.ts";
import { type JournalKey, tenantOf, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { maySee, prefixesSeen, type Viewer, viewerOf } from "../core/viewer.ts";
import type { Handoff, PlacedShift } from "../handoff/handoff.ts";
import { threadShift } from "../handoff/thread-shift.ts";
import type { Incident, Ledger } from "../incidents/incident.ts";
import type { Period } from "../incidents/period.ts";
import type { Journal } from "../journal/journal.ts";
import { type Freezes, freezesSeen } from "../team/freezes.ts";
import type { Handoffs } from "../tools/integration.ts";
import type { Tool } from "../tools/tool.ts";
import { quietShifts, unaskedThreads } from "./handoff-around.ts";
import { homeOf, readersOf, threadAt } from "./thread-places.ts";

const DAY_MS = 86_400_000;
/** An action may wait so long: it is looked for in threads that were written in since. */
const WAIT_MS = 7 * DAY_MS;
/** Of a cause it is told that it came back after so long. */
const RECUR_MS = 90 * DAY_MS;
/** The newest threads, of each of the places that are looked at, and incidents of each kind. */
const [MAX_THREADS, MAX_INCIDENTS] = [2_000, 500];
/** Threads that are read at once. */
const PAGE = 16;

export interface HandoffParts {
  journal: Pick<Journal, "read" | "list">;
  adapters: ReadonlyMap<string, Adapter>;
  ledger: Pick<Ledger, "list">;
  tools(): readonly Pick<Tool, "name" | "own">[];
  freezes: Pick<Freezes, "known">;
  encode(text: string): string;
}

/**
 * What happened in a period, over all threads that whoever reads the answer may see: as in incidents' lists, public ones of their
 * tenants and those of the same private place.
 */
export function createHandoffs(parts: HandoffParts) {
  const { journal, adapters, ledger } = parts;
  const adapterOf = (key: string) => adapters.get(transportOf(key));

  async function isSeen(viewer: Viewer, key: JournalKey, views: readonly string[]) {
    const readers = await readersOf(adapters, key, views);
    return maySee(viewer, { audience: readers, tenant: tenantOf(key) });
  }

  async function shiftOf(
    key: JournalKey,
    { from, to }: Period,
    viewer: Viewer,
  ): Promise<PlacedShift[]> {
    const own = new Set(parts.tools().flatMap((tool) => (tool.own === true ? [tool.name] : [])));
    const shift = threadShift(await journal.read(key), { from, to }, (tool) => own.has(tool));
    if (!(await isSeen(viewer, key, shift.views))) return [];
    return [{ ...shift, where: adapterOf(key)?.link(key) ?? key }];
  }

  async function threadsOf(period: Period, viewer: Viewer) {
    const since = Math.min(period.from, period.to - WAIT_MS);
    const keys = new Set<JournalKey>();
    let isCut = false;
    for (const prefix of prefixesSeen(viewer, adapters.keys())) {
      let count = 0;
      for await (const { key } of journal.list({ prefix, since })) {
        isCut ||= count === MAX_THREADS;
        if (count === MAX_THREADS) break;
        count += 1;
        keys.add(key);
      }
    }
    const threads: PlacedShift[] = [];
    const all = [...keys];
    for (let i = 0; i < all.length; i += PAGE) {
      const page = all.slice(i, i + PAGE).map((key) => shiftOf(key, period, viewer));
      threads.push(...(await Promise.all(page)).flat());
    }
    return { threads, isCut };
  }

  return {
    async of(period: Period, viewer: Viewer, now: number): Promise<Handoff> {
      const { from, to, zone, name } = period;
      const limit = MAX_INCIDENTS;
      const ever = { ...period, from: Math.max(0, to - RECUR_MS), zone, name };
      const [{ threads, isCut }, open, began, said, before, quiet, unasked] = await Promise.all([
        threadsOf(period, viewer),
        ledger.list({ status: "open", limit }, viewer),
        ledger.list({ period, limit }, viewer),
        // What ended in the period or after it.
        ledger.list({ saidIn: { from, to: now }, limit }, viewer),
        ledger.list({ period: ever, limit }, viewer),
        quietShifts(parts, period, viewer),
        unaskedThreads(parts, period, viewer),
      ]);
      return {
        period,
        incidents: concerned([...open, ...began, ...said], period),
        explained: before.filter(({ cause }) => cause !== undefined),
        threads,
        maintenance: quiet,
        unasked,
        frozen: freezesSeen(parts.freezes.known(now), viewer, parts.encode),
        isCut,
      };
    },
  };
}

/** Each once: those that began, ended or went on in the period. */
function concerned(incidents: readonly Incident[], { from, to }: Period): Incident[] {
  const once = new Map(incidents.map((each) => [each.id, each]));
  return [...once.values()]
    .filter(({ startedAt, resolvedAt = Infinity }) => startedAt < to && resolvedAt >= from)
    .toSorted((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1));
}

/** As tools ask: of other threads only members are told. */
export function createAskedHandoffs(
  handoffs: ReturnType<typeof createHandoffs>,
  { journal, adapters }: Pick<HandoffParts, "journal" | "adapters">,
): Handoffs {
  return {
    async of(period, asker) {
      const { key, account, startedAt } = asker;
      const home = homeOf(await threadAt(journal, key), key, account);
      const people = adapters.get(transportOf(home))?.people;
      if ((await people?.membership(account, tryJournalKey(home) ?? key)) !== "member")
        throw new BotError("NOT_AVAILABLE", "Only members can look at other threads.");
      return handoffs.of(period, await viewerOf(asker), startedAt);
    },
  };
}
