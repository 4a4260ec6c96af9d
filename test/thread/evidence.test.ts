import { expect, test } from "vitest";
import { checkAnswer } from "../../src/thread/evidence.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import { call, talking } from "../agent/talking.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { fakeTool } from "../fakes/stage.ts";
import { type Claim, CLAIMS } from "./said-in-languages.ts";

const failing = (name: string, effect: "read" | "write") =>
  fakeTool({
    name,
    effect,
    run: async () => ({ text: "connect to web:80: connection refused", failed: true }),
  });
const allowed = { rules: [{ match: { tool: "act" }, decide: "allow" as const }] };
const looks: Saying[] = [{ calls: [call("look")] }];
const acts: Saying[] = [{ calls: [call("act")] }, ...looks];

/** The thread just before its model answers. */
async function before(after: Claim["after"]): Promise<Thread> {
  const stage = await {
    read: () => talking([...looks, { text: "INCONCLUSIVE" }]),
    failed: () =>
      talking([...looks, { text: "INCONCLUSIVE" }], { tools: [failing("look", "read")] }),
    acted: () => talking([...acts, { text: "INCONCLUSIVE" }], { approvals: allowed }),
    act_failed: () =>
      talking([{ calls: [call("act")] }, { text: "INCONCLUSIVE" }], {
        tools: [failing("act", "write")],
        approvals: allowed,
      }),
    denied: () =>
      talking([{ calls: [call("look"), call("act", "redis")] }, { text: "INCONCLUSIVE" }]),
  }[after]();
  await stage.ask("fix it");
  if (after === "denied") await stage.ask("deny a1");
  const thread = new Thread();
  const entries = await stage.entries();
  const last = entries.findLastIndex(({ kind }) => kind === "assistant");
  fold(thread, entries.slice(0, last));
  return thread;
}

const AFTER = ["read", "failed", "acted", "act_failed", "denied"] as const;

/** By structure alone these cannot be told from what is right: "changed nothing" stands below them. */
const MISSED = CLAIMS.filter(({ about }) => about === "unmarked");
/** A failure that is not quoted is sent back for its words. */
const UNQUOTED = CLAIMS.filter(
  ({ about, wrong, text }) => about === "health" && !wrong && !text.includes("refused"),
);

test("an answer is held to the same in every language, by its marks and by what was called", async () => {
  const sentBack = new Set<Claim>();
  for (const after of AFTER) {
    const run = (await before(after)).runs.get("r1");
    if (run?.modelRun === undefined) throw new TypeError("no run");
    for (const claim of CLAIMS.filter((each) => each.after === after))
      if (checkAnswer(claim.text, run, run.modelRun).problems.length > 0) sentBack.add(claim);
  }
  const wanted = CLAIMS.filter(
    (claim) => (claim.wrong && !MISSED.includes(claim)) || UNQUOTED.includes(claim),
  );
  const textsOf = (some: readonly Claim[]) => some.map(({ about, text }) => `${about}: ${text}`);
  const told = CLAIMS.filter((claim) => sentBack.has(claim));
  expect(textsOf(told)).toEqual(textsOf(wanted));
  const wrong = CLAIMS.filter((claim) => claim.wrong);
  const right = told.filter((claim) => claim.wrong);
  expect([CLAIMS.length, told.length, wrong.length, right.length]).toEqual([66, 29, 32, 27]);
});
