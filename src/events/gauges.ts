import { Gauge, type Registry } from "prom-client";

/** What a process is like at one moment. */
export interface Figures {
  /** It can work (`/readyz`). */
  isReady: boolean;
  /** Whether each platform that is served is connected. */
  platforms: ReadonlyMap<string, boolean>;
  slots: { slots: number; busy: number; held: number; waiting: Readonly<Record<string, number>> };
  /** What every process on the same store finds alike. Undefined: the store did not answer in time. */
  store:
    | {
        /** For how long the journal that waits longest has been due, ms; 0: none waits. Undefined: too many others are due. */
        dueLagMs: number | undefined;
        /** How far the store's clock is ahead of this process's, ms. */
        clockMs: number;
        bytes: number;
        left: number | undefined;
        /** Ages of the cards that wait for people, ms. Undefined: they could not be counted in time. */
        waitingMs: readonly number[] | undefined;
      }
    | undefined;
}

const MINUTE_MS = 60_000;
/** Cards up to so old, in ms; the last has all others. A card waits an hour unless a rule says otherwise. */
const AGES: readonly (readonly [label: string, upTo: number])[] = [
  ["under_5m", 5 * MINUTE_MS],
  ["5m_to_15m", 15 * MINUTE_MS],
  ["15m_to_45m", 45 * MINUTE_MS],
  ["over_45m", Infinity],
];

/** Gauges of these figures; what the store did not say is left out, and nothing of an earlier time stands for it. */
export function createGauges(registers: Registry[]): (figures: Figures) => void {
  const gauge = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Gauge<L>({ name: `watchkeeper_${name}`, help, labelNames, registers });
  const ready = gauge("ready", "1: this process can work, as /readyz says");
  const platforms = gauge("platform_connected", "1: the platform is connected", ["transport"]);
  const slots = gauge("slots", "Journals that this process may work on at the same time");
  const busy = gauge("slots_busy", "Journals that this process works on now");
  const held = gauge("journals_held", "Journals whose lease this process has, also to wait");
  const waiting = gauge("journals_waiting", "Journals that wait for a slot here", ["lane"]);
  const storeUp = gauge("store_up", "1: the store answered these figures in time");
  const lag = gauge("due_lag_seconds", "For how long the most overdue journal has been due");
  const clock = gauge("store_clock_ahead_seconds", "The store's clock minus this process's");
  const bytes = gauge("store_bytes", "What the store takes of its disk, or of Redis' memory");
  const left = gauge("store_left_bytes", "What is left on its disk, or up to Redis' maxmemory");
  const oldest = gauge("approvals_oldest_seconds", "Age of the oldest card that waits");
  const cards = gauge("approvals_waiting", "Cards that wait for people, by their age", ["age"]);

  return ({ isReady, platforms: connected, slots: load, store }) => {
    ready.set(isReady ? 1 : 0);
    platforms.reset();
    for (const [transport, isUp] of connected) platforms.set({ transport }, isUp ? 1 : 0);
    slots.set(load.slots);
    busy.set(load.busy);
    held.set(load.held);
    for (const [lane, count] of Object.entries(load.waiting)) waiting.set({ lane }, count);
    storeUp.set(store === undefined ? 0 : 1);
    for (const each of [lag, clock, bytes, left, oldest]) each.remove();
    cards.reset();
    if (store === undefined) return;
    if (store.dueLagMs !== undefined) lag.set(store.dueLagMs / 1_000);
    clock.set(store.clockMs / 1_000);
    bytes.set(store.bytes);
    if (store.left !== undefined) left.set(store.left);
    const { waitingMs } = store;
    if (waitingMs === undefined) return;
    oldest.set(Math.max(0, ...waitingMs) / 1_000);
    for (const [i, [age, upTo]] of AGES.entries()) {
      const from = AGES[i - 1]?.[1] ?? -Infinity;
      cards.set({ age }, waitingMs.filter((ms) => ms >= from && ms < upTo).length);
    }
  };
}
