import fc from "fast-check";
import { DateTime } from "luxon";
import { expect, test } from "vitest";
import { isBotError } from "../../src/core/errors.ts";
import { changeOf } from "../../src/incidents/facts.ts";
import type { Change } from "../../src/incidents/incident.ts";
import { binsOf } from "../../src/incidents/bins.ts";
import { readPeriod } from "../../src/incidents/period.ts";
import { countByHand, middle, ninth, STEP, type Told } from "./by-hand.ts";
import { createStage } from "./stage.ts";

/** `LEDGERS=1000 npx vitest run test/incidents/numbers.test.ts` makes so many. */
const LEDGERS = Number(process.env["LEDGERS"] ?? 60);

/** Days on which clocks change, there and elsewhere. */
const ZONES = [
  ["Europe/Madrid", "2026-10-25"],
  ["Europe/Madrid", "2026-03-29"],
  ["America/New_York", "2026-11-01"],
  ["Australia/Lord_Howe", "2026-04-05"],
  ["America/St_Johns", "2026-03-08"],
  ["Asia/Kathmandu", "2026-11-20"],
  ["UTC", "2026-11-20"],
] as const;
/** `day` is that of the zone. Longer ones have weeks and months. */
const PERIODS = [
  "today",
  "yesterday",
  "this week",
  "last 7 days",
  "this month",
  "day",
  "last 31 days",
  "last 60 days",
  "last 500 days",
];
const PLACES = [undefined, undefined, "test:private", "test:other"];
const maybe = <T>(values: fc.Arbitrary<T>, freq = 3) => fc.option(values, { nil: undefined, freq });
const back = fc.integer({ min: 0, max: 200 });

const said = fc.record({
  kind: fc.constantFrom(
    "open",
    "open",
    "update",
    "update",
    "resolve",
    "resolve",
    "alert",
    "acted",
    "acted",
  ),
  target: fc.nat({ max: 7 }),
  place: fc.nat({ max: PLACES.length - 1 }),
  wait: fc.integer({ min: 0, max: 60 }),
  severity: maybe(fc.constantFrom("sev1", "sev2", "sev3", "sev4"), 1),
  services: maybe(fc.uniqueArray(fc.constantFrom("web", "db", "dns")), 1),
  cause: maybe(fc.constantFrom("disk full", "bad deploy", "dns"), 1),
  startedAt: maybe(back, 1),
  detectedAt: maybe(back, 1),
  acknowledgedAt: maybe(back, 1),
  mitigatedAt: maybe(back, 1),
  resolvedAt: maybe(back, 1),
  status: maybe(fc.constantFrom("open", "mitigated", "false_alarm"), 1),
  followUp: maybe(fc.constantFrom("new", "done", "dropped"), 1),
  number: fc.nat({ max: 2 }),
  approved: fc.boolean(),
  outcome: fc.constantFrom("ok", "error", "unknown"),
  later: fc.constantFrom("ended", "undone", "fixed", "not_fixed"),
});
type Move = typeof said extends fc.Arbitrary<infer M> ? M : never;

function changeFor(move: Move, now: number): Change {
  const { severity, services, cause, status, followUp, number } = move;
  const times = ["startedAt", "detectedAt", "acknowledgedAt", "mitigatedAt", "resolvedAt"] as const;
  const given = times.flatMap((name) => {
    const ago = move[name];
    const isFitting = name !== "resolvedAt" || move.kind === "resolve";
    return ago === undefined || !isFitting || (move.kind === "open" && name === "mitigatedAt")
      ? []
      : [[name, now - ago * STEP] as const];
  });
  const isUpdate = move.kind === "update";
  return {
    note: "x",
    ...Object.fromEntries(given),
    ...(severity !== undefined && { severity }),
    ...(services !== undefined && { services }),
    ...(cause !== undefined && { cause }),
    ...(isUpdate && status !== undefined && { status }),
    ...(followUp === "new" && { followUps: [{ text: "alert" }] }),
    ...(followUp !== undefined &&
      followUp !== "new" && {
        followUps: [{ name: `f${number + 1}`, state: followUp }],
      }),
  };
}

function factFor({ kind, number, approved, outcome, later }: Move, now: number) {
  if (kind === "alert") {
    const alert = { of: "alerts:test", group: `g${number}`, name: "A" };
    const over = later === "ended" ? {} : { overAt: now };
    return { alert: { ...alert, startedAt: now - 9 * STEP, ...over } };
  }
  const votes = approved ? [{ name: "Bo", at: now, approve: true }] : [];
  const by = { action: `a${number}`, title: "Restart", tool: "restart" };
  const more =
    later === "ended"
      ? { outcome, votes, endedAt: now }
      : later === "undone"
        ? { undoneAt: now }
        : { verified: later, verifiedAt: now };
  return { acted: { ...by, ...more } };
}

test("every number is what counting by hand gives, and lists exactly the incidents that it counts: any zone, corrected, opened again, false, private", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(said, { minLength: 1, maxLength: 30 }),
      fc.constantFrom(...ZONES),
      fc.constantFrom(...PERIODS),
      fc.nat({ max: 3 }),
      async (moves, [zone, day], form, who) => {
        const stage = await createStage();
        const { ledger, clock, saying } = stage;
        clock.now = DateTime.fromISO(`${day}T00:00`, { zone }).toMillis();
        const told: Told[] = [];
        for (const [i, move] of moves.entries()) {
          clock.now += move.wait * STEP;
          const target = told[move.target % Math.max(1, told.length)];
          const place =
            target === undefined || move.kind === "open" ? PLACES[move.place] : target.place;
          const call = saying({ audience: place, thread: `test:${place}`, call: `r${i}` });
          const change = changeFor(move, clock.now);
          try {
            if (move.kind === "open" || target === undefined) {
              const { id } = await ledger.open(call, { ...change, title: "T" });
              told.push({ id, place, said: [{ at: clock.now, change, isProgram: false }] });
            } else if (move.kind === "alert" || move.kind === "acted") {
              const { id, said: before } = target;
              const happened = { thread: call.thread, link: undefined, audience: place };
              let seen: Change | undefined;
              const fact = { ...happened, fact: `f${i}`, at: clock.now };
              await ledger.happened(fact, id, (incident) => {
                seen = changeOf(incident, factFor(move, clock.now), clock.now);
                return seen;
              });
              const viewer = { audience: place, tenants: ["test"] };
              const { history } = await ledger.get(id, viewer);
              if (seen !== undefined && history.length > before.length)
                before.push({ at: clock.now, change: seen, isProgram: true });
            } else {
              const isEnd = move.kind === "resolve";
              await (isEnd
                ? ledger.resolve(call, target.id, change)
                : ledger.update(call, target.id, change));
              const whole = isEnd ? { ...change, status: "resolved" as const } : change;
              target.said.push({ at: clock.now, change: whole, isProgram: false });
            }
          } catch (error) {
            if (!isBotError(error)) throw error;
          }
        }
        clock.now += STEP;
        const period = await readPeriod(form === "day" ? day : form, { zone, now: clock.now });
        const viewer = { audience: PLACES[who], tenants: ["test"] };
        const seen = told.filter(({ place }) => place === undefined || place === viewer.audience);
        // "Last 7 days" ends now; everything here is at whole quarters of an hour.
        const hand = countByHand(seen, { ...period, now: clock.now });
        const bins = await binsOf(period, clock.now);
        const asked = { now: clock.now, listed: 100, bins };
        const { counts, spreads } = await ledger.numbers(period, viewer, asked);
        const numbers = Object.fromEntries(
          counts
            .filter(({ name }) => spreads[name] === undefined)
            .map(({ name, value }) => [name, value]),
        );
        expect(numbers).toEqual(Object.fromEntries(hand.counts));
        expect(Object.keys(spreads).toSorted()).toEqual([...hand.lasted.keys()].toSorted());
        for (const [name, all] of hand.lasted) {
          const { count, mean, median, p90 } = spreads[name] ?? expect.unreachable();
          expect([name, count, median, p90]).toEqual([name, all.length, middle(all), ninth(all)]);
          expect(mean).toBeCloseTo(all.reduce((a, b) => a + b, 0) / all.length, 6);
        }
        for (const { name } of counts) {
          const { which } = await ledger.numbers(period, viewer, { ...asked, which: name });
          const ids = new Set(which?.found.map(({ id }) => id));
          expect(ids, name).toEqual(hand.ids.get(name));
          expect(which?.count, name).toBe(ids.size);
        }
        const stats = await ledger.stats(period, viewer, 100);
        for (const name of ["opened", "resolved", "open"] as const)
          expect(stats[name], name).toBe(hand.counts.get(name) ?? 0);
      },
    ),
    { numRuns: LEDGERS },
  );
}, 600_000);
