import fc from "fast-check";
import { isBotError } from "../../src/core/errors.ts";
import type { Change, Incident } from "../../src/incidents/incident.ts";
import { MINUTE, START, type Stage } from "./stage.ts";

/** What people say of incidents in several places, generated. */

export const SEVERITIES = ["sev1", "sev2", "sev3", "sev4"] as const;
export const WORDS = ["disk", "full", "checkout", "deploy", "timeouts", "dns"];
export const PLACES = [undefined, "slack:T1:C7", "slack:T1:C8", "discord:9"];
export const HORIZON = 2_000;

const minutes = fc.integer({ min: -HORIZON, max: HORIZON });
const words = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 })
  .map((all) => all.join(" "));
export const optional = <T>(values: fc.Arbitrary<T>) =>
  fc.option(values, { nil: undefined, freq: 2 });

export interface Move {
  place: number;
  target: number;
  verb: "open" | "update" | "resolve";
  change: Change;
  wait: number;
}

const change: fc.Arbitrary<Change> = fc
  .record({
    title: optional(words),
    severity: optional(fc.constantFrom(...SEVERITIES)),
    services: optional(fc.array(fc.constantFrom("web", "db", "dns"), { maxLength: 3 })),
    startedAt: optional(minutes),
    detectedAt: optional(minutes),
    resolvedAt: fc.option(minutes, { nil: undefined, freq: 1 }),
    cause: optional(words),
    actions: optional(fc.array(words, { maxLength: 2 })),
    note: optional(words),
    status: fc.option(fc.constant("open" as const), { nil: undefined, freq: 2 }),
  })
  .map(({ startedAt, detectedAt, resolvedAt, ...rest }) => {
    const at = (minute: number | undefined) =>
      minute === undefined ? undefined : START + minute * MINUTE;
    const times = {
      startedAt: at(startedAt),
      detectedAt: at(detectedAt),
      resolvedAt: at(resolvedAt),
    };
    const said = Object.entries({ ...rest, ...times }).filter(([, value]) => value !== undefined);
    return Object.fromEntries(said);
  });

export const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    place: fc.nat({ max: PLACES.length - 1 }),
    target: fc.nat({ max: 5 }),
    verb: fc.constantFrom("open", "update", "update", "resolve"),
    change,
    wait: fc.integer({ min: 0, max: 400 }),
  }),
  { maxLength: 25 },
);

/** Plays the moves; every id that was opened, in order. */
export async function play(
  { ledger, clock, saying }: Pick<Stage, "ledger" | "clock" | "saying">,
  all: readonly Move[],
  told: (move: Move, id: string | undefined, incident: Incident | undefined) => void = () => {},
): Promise<string[]> {
  const ids: string[] = [];
  for (const [i, move] of all.entries()) {
    clock.now += move.wait * MINUTE;
    const call = saying({
      audience: PLACES[move.place],
      thread: `test:${move.place}`,
      call: `r${i}`,
    });
    const id = move.verb === "open" ? undefined : ids[move.target];
    if (move.verb !== "open" && id === undefined) continue;
    try {
      const incident =
        id === undefined
          ? await ledger.open(call, { ...move.change, title: move.change.title ?? "untitled" })
          : await (move.verb === "update" ? ledger.update : ledger.resolve)(call, id, move.change);
      if (id === undefined) ids.push(incident.id);
      told(move, id, incident);
    } catch (error) {
      if (!isBotError(error, "INPUT_INVALID", "PRECHECK_FAILED")) throw error;
      told(move, id, undefined);
    }
  }
  return ids;
}
