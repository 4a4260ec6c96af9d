import { alertsKey } from "../alerts/handler.ts";
import { AlertsState, foldAlerts } from "../alerts/state.ts";
import type { Adapter } from "../adapters/adapter.ts";
import { PLATFORMS } from "../adapters/platforms.ts";
import { type JournalKey, tenantOf, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { maySee, prefixesSeen, type Viewer } from "../core/viewer.ts";
import type { Handoff, QuietShift } from "../handoff/handoff.ts";
import type { Span } from "../handoff/thread-shift.ts";
import type { Journal } from "../journal/journal.ts";

/** What a hand-off tells besides threads: what maintenance kept quiet, and which threads nobody here can judge. */

interface Around {
  journal: Pick<Journal, "read" | "list">;
  adapters: ReadonlyMap<string, Adapter>;
  encode(text: string): string;
}

/** More are not counted. */
const MAX_COUNTED = 2_000;

/** What maintenance windows that held in the span kept from having a thread, in channels that the viewer may read. */
export async function quietShifts(
  { journal, adapters, encode }: Around,
  { from, to }: Span,
  viewer: Viewer,
): Promise<QuietShift[]> {
  const found: QuietShift[] = [];
  for (const prefix of prefixesSeen(viewer, adapters.keys())) {
    for await (const { key } of journal.list({ prefix: alertsKey(prefix) })) {
      const channel = tryJournalKey(key.slice(alertsKey("").length));
      const adapter = channel && adapters.get(transportOf(channel));
      if (channel === undefined || adapter === undefined) continue;
      const audience = await adapter.audience(channel);
      if (!maySee(viewer, { audience, tenant: tenantOf(channel) })) continue;
      const { quiet, held } = await alertsUntil(journal, key, to);
      const where = (await adapter.placeName?.(channel).catch(() => undefined)) ?? channel;
      for (const { window, until, firstAt, count, names } of quiet.values()) {
        if (until <= from || firstAt >= to) continue;
        const firing = [...held.values()].filter(
          (each) => each.window === window && each.until === until,
        ).length;
        const told = [...names].map(encode);
        found.push({ window: encode(window), until, count, names: told, firing, where });
      }
    }
  }
  return found.toSorted((a, b) => a.until - b.until || orderOf(a, b));
}

/** Of those that end together: by window, then by where. */
function orderOf(a: QuietShift, b: QuietShift): number {
  const [one, other] = [a, b].map(({ window, where }) => JSON.stringify([window, where]));
  return one === other ? 0 : (one ?? "") < (other ?? "") ? -1 : 1;
}

async function alertsUntil(journal: Around["journal"], key: JournalKey, to: number) {
  const state = new AlertsState();
  const entries = await journal.read(key);
  const end = entries.findIndex(({ at }) => at >= to);
  foldAlerts(state, end === -1 ? entries : entries.slice(0, end));
  return state.groups;
}

/**
 * How many threads of platforms that this process does not serve were written in since the span began. Whoever owns the store may see
 * public ones, but who may read a thread only its platform says: what cannot be judged counts as private.
 */
export async function unaskedThreads(
  { journal, adapters }: Around,
  { from }: Span,
  { tenants }: Viewer,
): Promise<Handoff["unasked"]> {
  if (tenants !== "all") return [];
  const found: Handoff["unasked"] = [];
  for (const { name, title } of PLATFORMS) {
    if (adapters.has(name)) continue;
    let threads = 0;
    for await (const _ of journal.list({ prefix: `${name}:`, since: from }))
      if ((threads += 1) === MAX_COUNTED) break;
    if (threads > 0) found.push({ platform: title, threads });
  }
  return found;
}
