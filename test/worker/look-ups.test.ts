import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { asked, TWO } from "../fakes/asked.ts";
import { type Chat, createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, type Stage } from "../fakes/stage.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Look-ups of people that fail while `fails` says so; counted from 0. */
function createFlaky(groups: Record<string, string[]> = {}) {
  const chat = createChat({ groups });
  const { people } = chat.adapter;
  const { membership, members, everyone } = people;
  const flaky = { chat, looks: 0, fails: (_look: number, _who: string): boolean => false };
  const look = <T>(who: string, answer: () => Promise<T>): Promise<T> =>
    flaky.fails(flaky.looks++, who) ? Promise.reject(new Error("503")) : answer();
  people.membership = (account, key) => look(account, () => membership(account, key));
  people.members = (group) => look(group, () => members(group));
  people.everyone = (key) => look("everyone", () => everyone(key));
  return flaky;
}

const SRE = {
  rules: [
    { match: { tool: "act" }, decide: "ask" as const, quorum: 1, approvers: ["slack:group:SRE"] },
  ],
};

describe("a click whose judge cannot look", () => {
  test.each([
    ["standings", {}],
    ["groups", SRE],
  ])("stays, tells nobody anything and holds the dispatch back: %s", async (_, approvals) => {
    const flaky = createFlaky({ "slack:group:SRE": ["test:bob", "test:cy"] });
    const { chat } = flaky;
    const { act, click, settle, clock, thread, kinds } = await asked({ chat, approvals });
    flaky.fails = () => true;
    await click("a1", { kind: "deny", reason: "peak hours" }, "test:bob");
    await settle();
    expect(chat.whispers()).toEqual([]);
    flaky.fails = (_look, who) => who === "test:bob";
    await click("a1", { kind: "approve" }, "test:cy");
    await settle();
    expect(await kinds()).toContain("vote");
    expect([...(await thread()).clicks.values()]).toMatchObject([{ choice: { kind: "deny" } }]);
    flaky.fails = () => false;
    clock.now += 6 * SECOND;
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([{ phase: "denied", ending: "denied by bob: peak hours" }]);
  });

  test("is passed over: somebody else's deny behind it counts at once", async () => {
    const flaky = createFlaky();
    const { act, chat, click, settle } = await asked({ chat: flaky.chat });
    flaky.fails = (_look, who) => who === "test:ana";
    await click("a1", { kind: "approve" }, "test:ana");
    await click("a1", { kind: "deny" }, "test:bob");
    await settle();
    expect(chat.cards()).toMatchObject([{ phase: "denied", ending: "denied by bob" }]);
    expect(act.runs).toEqual([]);
  });

  test("is looked at again after 5 seconds, or when the platform says", async () => {
    const chat = createChat();
    const { click, settle, clock, journal } = await asked({ chat });
    const limited = new BotError("PLATFORM_RATE_LIMITED", "wait", { retryAfterMs: 20_000 });
    const dueAfter = async (ms: number) => {
      clock.now += ms;
      const keys: string[] = [];
      for await (const key of journal.due()) keys.push(key);
      return keys.length > 0;
    };
    chat.adapter.people.membership = () => Promise.reject(new Error("503"));
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(await dueAfter(4_000)).toBe(false);
    expect(await dueAfter(1_500)).toBe(true);
    chat.adapter.people.membership = () => Promise.reject(limited);
    await settle();
    expect(await dueAfter(18_000)).toBe(false);
    expect(await dueAfter(2_500)).toBe(true);
  });

  test("after 5 minutes counts as a deny, and an approve is handed back in words", async () => {
    const flaky = createFlaky();
    const { act, chat, click, settle, clock } = await asked({ chat: flaky.chat, approvals: TWO });
    flaky.fails = () => true;
    await click("a1", { kind: "approve" }, "test:ana");
    await settle();
    clock.now += 5 * MINUTE - SECOND;
    await settle();
    expect(chat.whispers()).toEqual([]);
    clock.now += 2 * SECOND;
    await click("a1", { kind: "deny", reason: "no" }, "test:bob");
    await settle();
    expect(chat.whispers()).toEqual([expect.stringContaining("Please click again")]);
    expect(chat.cards()).toMatchObject([{ phase: "open", votes: [] }]);
    clock.now += 5 * MINUTE;
    await settle();
    expect(chat.cards()).toMatchObject([{ phase: "denied", ending: "denied by bob: no" }]);
    expect(act.runs).toEqual([]);
  });

  test("is not judged past the expiry: the action expires, whoever clicked", async () => {
    const flaky = createFlaky();
    const { act, chat, click, settle, clock } = await asked({ chat: flaky.chat });
    flaky.fails = () => true;
    clock.now += 59 * MINUTE;
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    clock.now += 2 * MINUTE;
    await settle();
    expect(chat.cards()).toMatchObject([{ phase: "expired" }]);
    expect(chat.whispers()).toEqual([expect.stringContaining("has expired")]);
    expect(act.runs).toEqual([]);
  });

  test("need not be looked up when the card alone answers: not among the approvers, or too late", async () => {
    const flaky = createFlaky({ "slack:group:SRE": ["test:bob"] });
    const { chat, click, settle } = await asked({ chat: flaky.chat, approvals: SRE });
    await click("a1", { kind: "deny" }, "test:bob");
    await settle();
    flaky.fails = () => true;
    await click("a1", { kind: "approve" }, "test:bob");
    await click("a1", { kind: "cancel" }, "test:eve");
    await settle();
    expect(chat.whispers()).toEqual(["bob already denied a1.", "bob already denied a1."]);
    const other = createFlaky({ "slack:group:SRE": ["test:bob"] });
    const open = await asked({ chat: other.chat, approvals: SRE });
    other.fails = () => true;
    await open.click("a1", { kind: "approve" }, "test:eve");
    await open.settle();
    expect(open.chat.whispers()).toEqual([expect.stringContaining("weren't among its approvers")]);
  });
});

describe("an action that is approved", () => {
  test("waits for a look-up that fails at dispatch, and runs when it answers", async () => {
    const flaky = createFlaky();
    const { act, chat, click, settle, clock, kinds } = await asked({ chat: flaky.chat });
    const vote = flaky.looks;
    flaky.fails = (look) => look > vote;
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(chat.cards()).toMatchObject([{ phase: "approved" }]);
    flaky.fails = () => false;
    clock.now += 6 * SECOND;
    await settle();
    expect(act.runs).toEqual(["web"]);
    expect(await kinds()).not.toContain("action_closed");
  });

  test("is not put off by a failed look-up where somebody clicked meanwhile, which is judged first", async () => {
    const chat = createChat();
    const { act, click, settle, kinds } = await asked({ chat });
    const { people } = chat.adapter;
    const { membership } = people;
    let hasFailed = false;
    people.membership = async (account, key) => {
      if (!(await kinds()).includes("vote") || hasFailed) return membership(account, key);
      hasFailed = true;
      await click("a1", { kind: "approve" }, "test:cy");
      throw new Error("503");
    };
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(act.runs).toEqual(["web"]);
  });

  test("expires when nobody could be looked up until then", async () => {
    const flaky = createFlaky();
    const { act, chat, click, settle, clock } = await asked({ chat: flaky.chat });
    const vote = flaky.looks;
    flaky.fails = (look) => look > vote;
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    clock.now += 61 * MINUTE;
    await settle();
    expect(chat.cards()).toMatchObject([{ phase: "expired" }]);
    expect(act.runs).toEqual([]);
  });
});

describe("an action that is to be proposed", () => {
  async function hiccup(failure: Error): Promise<Stage & { clock: { now: number }; chat: Chat }> {
    const chat = createChat();
    const clock = { now: 1_000_000 };
    const act = fakeTool({ name: "act", effect: "write" });
    const stage = await createStage({ tools: [act], chat, now: () => clock.now });
    chat.adapter.people.everyone = () => Promise.reject(failure);
    await stage.say("run act name=web");
    await stage.settle();
    return { ...stage, clock, chat };
  }

  test("waits for who could approve it, and says so after half a minute", async () => {
    const { chat, clock, settle } = await hiccup(new Error("503"));
    expect(chat.answers()).toEqual([]);
    clock.now += 40 * SECOND;
    await settle();
    const told = [{ text: expect.stringContaining("I can't look up") }];
    expect(chat.notices()).toMatchObject(told);
    clock.now += 6 * SECOND;
    await settle();
    expect(chat.notices()).toMatchObject(told);
    chat.adapter.people.everyone = async () => ["test:ana", "test:bob"];
    clock.now += 6 * SECOND;
    await settle();
    expect(chat.cards()).toMatchObject([{ action: "a1", phase: "open" }]);
    expect(chat.answers()).toEqual([]);
  });

  test("is given up after an hour, or when the platform refuses for good, with the reason", async () => {
    const { chat, clock, settle } = await hiccup(new Error("503"));
    clock.now += 61 * MINUTE;
    await settle();
    const text = expect.stringContaining("503");
    expect(chat.answers()).toMatchObject([{ results: [{ outcome: "blocked", text }] }]);
    const refused = await hiccup(new BotError("PLATFORM_REFUSED", "missing_scope"));
    expect(refused.chat.answers()).toMatchObject([{ results: [{ outcome: "blocked" }] }]);
    expect(refused.chat.cards()).toEqual([]);
  });
});

test("an answer whose author cannot be looked up stays, and is handed back after 5 minutes", async () => {
  const chat = createChat();
  const clock = { now: 1_000_000 };
  const question = () => ({ text: "Which?", choices: ["one"] });
  const ask = fakeTool({ name: "ask", question });
  const stage = await createStage({ tools: [ask], chat, now: () => clock.now });
  await stage.say("run ask name=x");
  await stage.settle();
  chat.adapter.people.membership = () => Promise.reject(new Error("503"));
  await stage.click("r1.t1", { kind: "answer", text: "one" }, "test:bob");
  await stage.settle();
  expect(chat.answers()).toEqual([]);
  expect(chat.whispers()).toEqual([]);
  clock.now += 6 * MINUTE;
  await stage.settle();
  expect(chat.whispers()).toEqual([expect.stringContaining("Please click again")]);
});

describe("a look-up that never ends", () => {
  const pending: PromiseWithResolvers<never>[] = [];
  afterEach(() => {
    for (const each of pending.splice(0)) each.reject(new Error("over"));
  });

  async function hanging(lookUpMs?: number) {
    const chat = createChat();
    const limit = lookUpMs === undefined ? {} : { lookUpMs };
    const stage = await asked({ chat, ...limit });
    const { membership } = chat.adapter.people;
    const asking = Promise.withResolvers<void>();
    chat.adapter.people.membership = async (account, key) => {
      if (account !== "test:bob") return membership(account, key);
      asking.resolve();
      const never = Promise.withResolvers<never>();
      pending.push(never);
      return never.promise;
    };
    return { ...stage, chat, asking: asking.promise };
  }

  test("is given up by itself, and others are judged", async () => {
    const { act, chat, click, settle, say } = await hanging(20);
    await click("a1", { kind: "approve" }, "test:bob");
    await click("a1", { kind: "deny" }, "test:cy");
    await say("tools");
    await settle();
    expect(chat.cards()).toMatchObject([{ phase: "denied", ending: "denied by cy" }]);
    expect(chat.answers().length).toBeGreaterThan(0);
    expect(act.runs).toEqual([]);
  });

  test("does not hold up a shutdown", async () => {
    const { click, settle, worker, asking, thread } = await hanging();
    await click("a1", { kind: "deny" }, "test:bob");
    const work = settle();
    await asking;
    await worker.stop(60_000);
    await work;
    expect((await thread()).clicks.size).toBe(1);
  });
});

test("whichever look-ups fail, nothing runs after a deny and nothing approved is dropped", async () => {
  const click = fc.constantFrom("ana", "bob", "cy");
  const scene = fc.record({
    approvals: fc.uniqueArray(click, { minLength: 2, maxLength: 3 }),
    denier: fc.option(fc.constantFrom("ana", "bob", "cy")),
    /** How many clicks come before the deny. */
    before: fc.nat(1),
    /** Look-ups that fail, by their number since the card was asked for. */
    failing: fc.uniqueArray(fc.nat(14), { maxLength: 12 }),
    settles: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(scene, async ({ approvals, denier, before, failing, settles }) => {
      const flaky = createFlaky();
      flaky.fails = (look) => failing.includes(look);
      const stage = await asked({ chat: flaky.chat, approvals: TWO });
      const { act, journal, clock, settle } = stage;
      while ((await stage.thread()).actions.size === 0) {
        clock.now += 6 * SECOND;
        await settle();
      }
      const clicks = approvals.map((who) => ({ who, deny: false }));
      if (denier !== null) clicks.splice(before, 0, { who: denier, deny: true });
      for (const [i, { who, deny }] of clicks.entries()) {
        await stage.click("a1", { kind: deny ? "deny" : "approve" }, `test:${who}`);
        if (settles[i] === true) await settle();
      }
      for (let round = 0; round < 20 && stage.chat.answers().length === 0; round++) {
        await settle();
        clock.now += 6 * SECOND;
      }
      expect(act.runs).toEqual(denier === null ? ["web"] : []);
      const entries = await stage.entries();
      const closed = entries.filter((entry) => entry.kind === "action_closed");
      expect(closed.map(({ outcome }) => outcome)).toEqual(denier === null ? [] : ["denied"]);
      await journal.close();
    }),
    { numRuns: 60 },
  );
});
