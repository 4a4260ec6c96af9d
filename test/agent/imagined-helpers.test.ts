import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Draft, Entry } from "../../src/core/entry.ts";
import { DELEGATE } from "../../src/core/tool-spec.ts";
import { ana, began, message, wrote } from "../thread/entries.ts";
import { work } from "./imagined.ts";
import { checkReading, checkSnapshot, history, numbers, TIMEOUT_MS } from "./imagined-history.ts";
import { checkStopped, imagine, write } from "./imagined-world.ts";
import { ofKind } from "./talking.ts";

/** How often there was what a property of helpers is about. */
function count(seen: Record<string, number>, entries: readonly Entry[]): void {
  const helpers = ofKind(entries, "run_started").filter(({ parent }) => parent !== undefined);
  const isHelpers = (run: string) => helpers.some((each) => each.run === run);
  const note = (what: string, times: number) => (seen[what] = (seen[what] ?? 0) + times);
  const cards = ofKind(entries, "action_proposed").filter(({ run }) => isHelpers(run));
  const ended = ofKind(entries, "run_ended").filter(({ run }) => isHelpers(run));
  const closed = (action: string) =>
    entries.find(
      (each) =>
        (each.kind === "action_closed" || each.kind === "tool_started") && each.action === action,
    )?.seq ?? Infinity;
  const clicks = ofKind(entries, "click").filter(({ choice }) => choice.kind === "approve");
  note("helpers", helpers.length);
  note("inner", helpers.filter(({ parent }) => isHelpers(parent?.run ?? "")).length);
  note("cards", cards.length);
  note(
    "begun",
    ofKind(entries, "tool_started").filter(
      ({ run, action }) => action !== undefined && isHelpers(run),
    ).length,
  );
  note("stopped", ended.filter(({ status }) => status === "cancelled").length);
  note(
    "late",
    cards.filter(({ action }) =>
      clicks.some((click) => click.action === action && click.seq > closed(action)),
    ).length,
  );
}

const asks = (id: string, name: string) => ({ kind: "tool_use" as const, id, name, input: "{}" });
const result = (call: string): Draft => ({
  id: `finished:${call}`,
  kind: "tool_finished",
  run: call.split(".")[0] ?? "",
  call,
  outcome: "ok",
  text: "so",
});
const beginning = (call: string, action: string): Draft => ({
  id: `started:${call}`,
  kind: "tool_started",
  run: call.split(".")[0] ?? "",
  call,
  tool: "act",
  effect: "write",
  digest: "d",
  action,
  revision: 1,
});
/** A run has a helper, whose card is open. */
const helped: readonly Draft[] = [
  message("m1", "why?"),
  began("r1", ["m1"]),
  wrote("r1", 1, 2, [asks("c1", DELEGATE)]),
  { ...began("r2", []), parent: { run: "r1", call: "r1.t1" }, task: { text: "a part" } } as Draft,
  wrote("r2", 1, 4, [asks("c2", "act")]),
  {
    id: "proposed:a1.1",
    kind: "action_proposed",
    run: "r2",
    call: "r2.t2",
    action: "a1",
    revision: 1,
    tool: "act",
    effect: "write",
    args: {},
    digest: "d",
    preview: { lines: [], blastRadius: "", undo: "" },
    approvers: { kind: "anyone" },
    quorum: 1,
    barred: [],
    expiresAt: 9_000_000,
  },
];

describe("whatever helpers do", () => {
  test(
    "each call for one ends once and after it, no run before its helpers, no write twice, and a Stop or a late click changes nothing of that",
    () => {
      const seen = { helpers: 0, inner: 0, cards: 0, begun: 0, stopped: 0, late: 0 };
      fc.assert(
        fc.property(
          numbers(120),
          fc.integer({ min: 1, max: 2 }),
          fc.nat(),
          (each, depth, split) => {
            const { world, tape } = history(each, { hasHelpers: depth });
            checkReading(world, split);
            checkSnapshot(world, split);
            work(world, tape);
            for (const run of world.thread.runs.values())
              for (const { action, asked, helper } of run.open.values())
                expect(action ?? asked ?? helper).toBeDefined();
            checkStopped(world);
            count(seen, world.entries);
            write(world, { id: "last", kind: "stop", actor: { account: "test:ana", name: "ana" } });
            work(world, tape);
            expect(world.thread.runs.size).toBe(0);
          },
        ),
        { numRuns: 60, endOnFailure: true },
      );

      for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  test.each<[string, (world: ReturnType<typeof imagine>) => Draft, RegExp]>([
    [
      "a report that came before its helper's end",
      () => result("r1.t1"),
      /^H1 finished:r1.t1 came before the end of the helper r2/,
    ],
    [
      "a run that ended before its helper",
      () => ({ id: "ended:r1", kind: "run_ended", run: "r1", status: "completed", text: "so" }),
      /^H1 ended:r1 came before the end of the helper r2/,
    ],
    [
      "a helper's write after a Stop of the run that it works for",
      (world) => {
        write(world, { id: "s", kind: "stop", actor: ana, run: "r1" });
        return beginning("r2.t2", "a1");
      },
      /^D2 a1 was started after a deny or Stop/,
    ],
    [
      "a helper's write that a late click began again",
      (world) => {
        write(world, beginning("r2.t2", "a1"));
        return { ...beginning("r2.t2", "a1"), id: "started:again" };
      },
      /^A1 a1 was begun 2 times/,
    ],
  ])("%s is noticed", (_what, planted, expected) => {
    const world = imagine(undefined, true);
    for (const draft of helped) write(world, draft);
    expect(() => write(world, planted(world))).toThrow(expected);
  });
});
