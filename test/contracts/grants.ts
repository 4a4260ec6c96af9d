import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, KEY, workerOf } from "../fakes/stage.ts";

interface Ground {
  journal: Journal;
  /** Moves the store's clock on, where it can be; ms. */
  pass?(ms: number): void;
  close?(): Promise<void>;
}

const USES = 2;
const MINUTES = 30;
const [SHORT_MS, LONG_MS] = [3_000, 10 * 60_000];

/** What happens in a thread in which Bob has granted Ana's call, on two workers. */
const MOVES = "ask ask ask other crash revoke stop freeze thaw grant wait wait".split(" ");

/**
 * Whatever comes in whatever order, and whichever worker dies where: a grant is used at most as often as it says, never after its
 * time, a revocation or a Stop, and never in a freeze; and nothing is done twice.
 */
export function grantContract(name: string, open: () => Promise<Ground>, numRuns: number): void {
  test(`a grant is kept to, over crashes and two workers, on ${name}`, async () => {
    const move = fc.record({
      what: fc.constantFrom(...MOVES),
      on: fc.nat({ max: 2 }),
    });
    const moves = fc.array(move, { minLength: 4, maxLength: 12 });
    let used = 0;
    await fc.assert(
      fc.asyncProperty(moves, async (drawn) => {
        const ground = await open();
        try {
          used += await play(ground, drawn);
        } finally {
          await ground.close?.();
        }
      }),
      { numRuns, seed: 11 },
    );
    // It would hold of grants that nobody can use, too.
    expect(used).toBeGreaterThan(numRuns / 2);
  });
}

async function play({ journal, pass }: Ground, moves: readonly { what: string; on: number }[]) {
  const act = fakeTool({ name: "act", effect: "write" });
  let dies: "before" | "after" | undefined;
  const mortal = new Proxy(journal, {
    get(target, property: keyof Journal) {
      if (property !== "append") return target[property].bind(target);
      return async (...given: Parameters<Journal["append"]>) => {
        const isStart = given[2].some((draft) => draft.kind === "tool_started");
        const at = isStart ? dies : undefined;
        if (at !== undefined) dies = undefined;
        if (at === "before") throw new Error("died before");
        const reply = await target.append(...given);
        if (at === "after") throw new Error("died after");
        return reply;
      };
    },
  });
  const chat = createChat();
  const approvals = { grants: { uses: USES, minutes: MINUTES } };
  const leaseMs = pass === undefined ? 200 : 2_000;
  const stage = await createStage({ tools: [act], journal: mortal, chat, approvals, leaseMs });
  const others = [stage.worker, workerOf(stage.parts, chat.adapter)];
  const work = async (on: number) => {
    const chosen = on === 2 ? others : others.slice(on, on + 1);
    await Promise.allSettled(chosen.map((each) => each.work(KEY)));
  };
  const by = { account: "test:cy", name: "cy" };
  const freeze = (until: number) =>
    stage.parts.freezes.post(`f${freezes.push(until)}`, {
      by,
      what: "everything",
      thread: KEY,
      ...(until > 0 && { until }),
    });
  const freezes: number[] = [];
  await stage.say("run act name=web");
  await work(0);
  await stage.click("a1", { kind: "approve", grants: true }, "test:bob");
  await work(1);
  for (const { what, on } of moves) {
    if (what === "crash") dies = on === 0 ? "before" : "after";
    if (what === "ask" || what === "crash") await stage.say("run act name=web");
    if (what === "other") await stage.say("run act name=db");
    if (what === "revoke") await stage.say("revoke a1", "test:cy");
    if (what === "stop") await stage.say("stop", "test:cy");
    if (what === "freeze") await freeze(Number.MAX_SAFE_INTEGER);
    if (what === "thaw") await freeze(0);
    if (what === "grant") {
      const open = [...(await stage.thread()).live].find(
        ({ started, closed }) => !started && !closed,
      );
      if (open !== undefined)
        await stage.click(open.action, { kind: "approve", grants: true }, "test:bob");
    }
    if (what === "wait") pass?.(on === 0 ? LONG_MS * 3 : LONG_MS);
    const before = act.runs.length;
    await work(on);
    if ((freezes.at(-1) ?? 0) > 0) expect(act.runs).toHaveLength(before);
    dies = undefined;
    pass?.(SHORT_MS);
  }
  await work(2);
  return check(await stage.entries(), act.runs.length);
}

function check(entries: Entry[], runs: number): number {
  const grants = new Map<string, { until: number; used: number; over: boolean }>();
  const granting = new Map<string, number>();
  let started = 0;
  let used = 0;
  for (const entry of entries) {
    if (entry.kind === "vote" && entry.grants === true) granting.set(entry.action, entry.at);
    if (entry.kind === "stop") for (const grant of grants.values()) grant.over = true;
    if (entry.kind === "grant_revoked") {
      const grant = grants.get(entry.action);
      if (grant !== undefined) grant.over = true;
    }
    if (entry.kind !== "tool_started") continue;
    started += 1;
    const given = granting.get(entry.action ?? "");
    if (given !== undefined && entry.grant === undefined)
      grants.set(entry.action ?? "", { until: given + MINUTES * 60_000, used: 0, over: false });
    if (entry.grant === undefined) continue;
    used += 1;
    const grant = grants.get(entry.grant);
    expect(grant).toMatchObject({ over: false });
    expect(entry.at).toBeLessThan(grant?.until ?? 0);
    expect((grant?.used ?? USES) + 1).toBeLessThanOrEqual(USES);
    if (grant !== undefined) grant.used += 1;
  }
  expect(runs).toBeLessThanOrEqual(started);
  return used;
}
