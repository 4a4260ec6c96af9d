import { expect, test } from "vitest";
import { type GoalParts, looksOnce, pursuing } from "../agent/goal-stage.ts";
import { createChat } from "../fakes/chat.ts";
import { KEY, type StageOptions } from "../fakes/stage.ts";

const GOALS = { budget: { steps: 40, minutes: 60, tokens: 100_000, cents: 200 }, replan: 0 };
const TASKS = ["look at web", "look at db"];

/** A chat in which people give goals; the model looks at web and db, and then it is done. */
async function chatting(
  {
    tasks = TASKS,
    ...options
  }: { tasks?: string[] } & Omit<StageOptions, "goals"> & {
      goals?: StageOptions["goals"] | undefined;
    } = {},
  task: GoalParts["task"] = (told, calls) =>
    calls === 1
      ? { calls: [["append_to_report", { heading: "Seen", text: "It is well [T1]." }]] }
      : looksOnce(told, calls),
) {
  const { goals, ...rest } = options;
  const given = { ...rest, ...(goals && { goals }) };
  const chat = createChat({
    finds: true,
    standings: { "test:ana": "member", "test:bob": "member", "test:gus": "guest" },
  });
  const stage = await pursuing(
    {
      plan: (_told, asked) =>
        asked === 1 ? { tasks } : { done: true, answer: "CONFIRMED: both are well [T1] [T2]." },
      task,
    },
    { chat, ...("goals" in options ? {} : { goals: GOALS }), ...given },
  );
  const living = () =>
    chat.shown.flatMap((item) =>
      item.kind === "living" && item.living.kind === "goal" ? [item.living.card] : [],
    );
  const said = () => chat.shown.flatMap((item) => (item.kind === "say" ? [item.message] : []));
  const press = async (
    choice: Parameters<typeof stage.click>[1],
    account = "test:ana",
    [action, revision]: [string, number] = ["g1", 1],
  ) => {
    await stage.click(action, choice, account, revision);
    await stage.settle();
  };
  return { ...stage, chat, living, said, press };
}

test("a goal that somebody types begins, is one living message, and ends with an answer and a report", async () => {
  const stage = await chatting();
  await stage.ask("goal look at web and db and write a report");
  const [card, ...others] = stage.living();
  expect(others).toEqual([]);
  expect(card).toMatchObject({ id: "g1", by: "ana", status: "done", now: undefined });
  expect(card?.tasks.map(({ text, status }) => `${status} ${text}`)).toEqual([
    "done look at web",
    "done look at db",
  ]);
  const [answer, ...more] = stage.said();
  expect(more).toEqual([]);
  if (answer?.kind !== "answer") throw new Error("no answer");
  expect(answer).toMatchObject({ run: "g1", status: "completed", isModelRun: true });
  // The evidence is that of its runs, whatever the fold has forgotten of them.
  expect(answer.results.map(({ call, tool }) => `${call} ${tool}`)).toEqual([
    "r2.t1 look",
    "r3.t3 look",
  ]);
  const { name = "", text = "" } = answer.file ?? {};
  expect(name).toMatch(/^\d{4}-\d\d-\d\d-look-at-web-and-db-and-write-a-report-g1\.md$/);
  expect(text).toContain("# look at web and db and write a report\n");
  expect(text.match(/## Seen\n\nIt is well \[T1\]\./g)).toHaveLength(2);
  expect(text).toContain("- [x] look at db");
  expect(text).toContain("## Evidence\n\n- [T1] look");
});

test("where goals are off, or one is at work, or a guest asks, nothing begins and it is said", async () => {
  const off = await chatting({ goals: undefined });
  await off.ask("goal look at everything there is");
  expect(off.said()).toMatchObject([{ text: expect.stringMatching(/^Goals are off here/) }]);
  const stage = await waiting();
  const { said } = stage;
  await stage.ask("goal look at everything there is", "test:gus");
  expect(said().at(-1)?.text).toMatch(/^g1 is at work here: change web\nA thread has one goal/);
  await stage.ask("goal stop");
  await stage.ask("goal look at everything there is", "test:gus");
  expect(said().at(-1)?.text).toBe("Guests can't begin. Ask a full member of this thread.");
  expect((await stage.thread()).counts.goals).toBe(1);
});

/** A goal whose first task waits for a card. */
async function waiting(options: Parameters<typeof chatting>[0] = {}) {
  const stage = await chatting({ tasks: ["change web"], ...options }, (_told, calls) =>
    calls === 0 ? { calls: [["act", { name: "web" }]] } : { text: "CONFIRMED: changed [T1]." },
  );
  await stage.ask("goal change web");
  return stage;
}

test("pause and resume are pressed or typed; everybody sees it, and whoever is late is told alone", async () => {
  const stage = await waiting();
  const card = () => stage.living()[0];
  expect(card()).toMatchObject({ status: "running", waits: true });
  await stage.press({ kind: "goal", do: "pause" }, "test:bob");
  expect(card()).toMatchObject({ status: "paused", why: "Paused by bob." });
  await stage.ask("goal pause");
  expect(stage.chat.whispers().at(-1)).toMatch(/^g1 is paused already, by bob\./);
  await stage.press({ kind: "goal", do: "resume" }, "test:gus");
  expect(stage.chat.whispers().at(-1)).toBe(
    "Guests can't resume. Ask a full member of this thread.",
  );
  expect(card()?.status).toBe("paused");
  await stage.ask("goal resume");
  expect(card()?.status).toBe("running");
  await stage.press({ kind: "goal", do: "resume" }, "test:bob");
  expect(stage.chat.whispers().at(-1)).toBe("g1 is at work: nothing to resume.");
  await stage.ask("goal status");
  const status = stage.said().at(-1)?.text;
  expect(status).toMatch(/^g1 · waits for your decision on a card · since /);
  expect(status).toContain("[>] change web");
  await stage.ask("status");
  expect(stage.said().at(-1)?.text).toMatch(
    /\nGoal: g1 waits for your decision on a card, 0 of 1 task done; goal status says more$/,
  );
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await stage.settle();
  expect(card()).toMatchObject({ status: "done" });
  await stage.press({ kind: "goal", do: "pause" });
  expect(stage.chat.whispers().at(-1)).toMatch(/^g1 has ended\./);
});

test("a goal that used up its budget pauses, and each extension counts once whoever presses it", async () => {
  const stage = await chatting({ goals: { ...GOALS, budget: { ...GOALS.budget, steps: 6 } } });
  await stage.ask("goal look at web and db");
  const card = () => stage.living()[0];
  expect(card()).toMatchObject({ status: "paused", pause: "budget", extension: { number: 1 } });
  expect(card()?.why).toContain("Done:\n- look at web");
  // It may be hours later, and nobody is told of the edit of a message far above.
  const told = stage.said().filter(({ kind }) => kind === "notice");
  expect(told).toMatchObject([{ mentions: ["test:ana"] }]);
  expect(told[0]?.text).toBe(
    "g1 is paused. The 6 steps of its budget are used up. Extend in its message, or `goal extend`, lets it use more and go on.",
  );
  await stage.ask("goal status");
  expect(stage.said().at(-1)?.text).not.toContain("Done:");
  await stage.ask("extend");
  expect(stage.chat.whispers().at(-1)).toMatch(/ type: goal extend$/);
  await stage.press({ kind: "goal", do: "resume" });
  expect(stage.chat.whispers().at(-1)).toMatch(/`goal extend` lets it use more/);
  await stage.press({ kind: "extend" }, "test:bob");
  expect(card()?.budget.steps.of).toBe(9);
  await stage.press({ kind: "extend" });
  expect(stage.chat.whispers().at(-1)).toMatch(/^bob already extended g1\./);
  await stage.ask("goal extend by 6 steps and $1");
  expect(stage.chat.whispers().at(-1)).toMatch(/^g1 may use more now/);
  expect(card()).toMatchObject({ status: "done" });
  expect(card()?.budget.steps.of).toBe(15);
  expect(card()?.budget.cents?.of).toBe(400);
});

test("a goal that is stopped says so with what is done, and nothing of it goes on", async () => {
  const stage = await waiting();
  await stage.post({
    id: "s1",
    kind: "stop",
    actor: { account: "test:bob", name: "bob" },
    goal: "g1",
  });
  await stage.settle();
  expect(stage.living()[0]?.status).toBe("stopped");
  expect(stage.said().at(-1)).toMatchObject({ status: "cancelled", run: "g1" });
  expect(stage.said().at(-1)?.text).toMatch(/^Stopped by bob\./);
  expect(stage.act.runs).toEqual([]);
  await stage.ask("goal resume");
  expect(stage.chat.whispers().at(-1)).toMatch(/^No goal is at work here/);
});

test("a goal that goes on for long gives its lease back between tasks, so that a death counts for one task", async () => {
  const { parts, settle, pursue, living, look, ...stage } = await chatting();
  parts.restAfterMs = 0;
  await pursue("look at web and db");
  expect(look.runs).toEqual(["web"]);
  const { attempts = 0, lease } = (await stage.journal.lease(KEY, 60_000)) ?? {};
  expect(attempts).toBe(1);
  if (lease !== undefined) await stage.journal.release(lease, await stage.thread(), 0);
  await settle();
  expect(look.runs).toEqual(["web", "db"]);
  await settle();
  expect(living()[0]?.status).toBe("done");
});

test("a goal of an hour on the clock is paused, extended, paused by its minutes, and finished", async () => {
  const clock = { now: Date.parse("2026-11-28T09:00Z") };
  const tasks = ["look at web", "look at db", "look at mail", "look at disks"];
  const budget = { ...GOALS.budget, minutes: 35 };
  const stage = await chatting({ tasks, now: () => clock.now, goals: { ...GOALS, budget } });
  const minutes = (count: number) => void (clock.now += count * 60_000);
  stage.look.run = async () => {
    minutes(14);
    return { text: `well at ${clock.now}` };
  };
  await stage.ask("goal look at everything");
  const card = () => stage.living()[0];
  expect(card()?.why).toMatch(/^The 35 minutes of its budget are used up\./);
  // A night passes: paused time is nobody's.
  minutes(600);
  await stage.ask("goal extend by 30m");
  expect(card()).toMatchObject({ status: "done" });
  const { used = 0, of } = card()?.budget.minutes ?? {};
  expect(of).toBe(65);
  expect(Math.round(used)).toBe(56);
  expect(stage.said().at(-1)).toMatchObject({ run: "g1", status: "completed" });
});
