import { expect, test } from "vitest";
import { ModelError } from "../../src/models/model.ts";
import { asksIn, looksOnce, planning, pursuing, taskIn } from "./goal-stage.ts";
import { ofKind } from "./talking.ts";

type Stage = Awaited<ReturnType<typeof pursuing>>;

const DONE = { done: true, answer: "CONFIRMED: all is well [T1]." };

async function verdictsIn(stage: Stage) {
  const judged = ofKind(await stage.entries(), "goal_judged");
  return judged.map(({ task, verdict, by }) => `${task} ${verdict ?? "not judged"} by ${by}`);
}

test("gap a: once nothing is left it is planned once more, and then it ends with what was done", async () => {
  const stage = await pursuing({
    plan: (_told, asked) => (asked === 1 ? { tasks: ["look at web"] } : {}),
    task: looksOnce,
  });
  await stage.pursue("look at web");
  expect(ofKind(await stage.entries(), "goal_planned")).toHaveLength(2);
  expect(await stage.shown()).toMatchObject({
    status: "done",
    answer: "Nothing more was planned.\n\nDone:\n- look at web: CONFIRMED: seen web [T1].",
  });
});

test("a first plan without a task is made once more, and then the goal fails", async () => {
  const stage = await pursuing({ plan: () => ({}), task: looksOnce });
  await stage.pursue("look at web");
  expect(ofKind(await stage.entries(), "goal_planned")).toHaveLength(2);
  expect((await stage.shown()).status).toBe("failed");
});

test("gap c: a first plan that says done is heeded", async () => {
  const stage = await pursuing({ plan: () => ({ done: true, answer: "Hello." }), task: looksOnce });
  await stage.pursue("say hello");
  expect(await stage.shown()).toMatchObject({ status: "done", answer: "Hello.", tasks: [] });
});

test("gap d: a judge that gives no verdict is asked again, and then the task is tried again by rule", async () => {
  let asked = 0;
  const stage = await pursuing({
    plan: planning("look at web"),
    task: looksOnce,
    judge: () =>
      (asked += 1) <= 3 ? new ModelError("MODEL_UNREACHABLE", "away") : { verdict: "done" },
  });
  await stage.pursue("look at web");
  expect(await verdictsIn(stage)).toEqual([
    "g1.k1 not judged by rule",
    "g1.k1 not judged by rule",
    "g1.k1 not judged by rule",
    "g1.k1 retry by rule",
    "g1.k1 done by model",
  ]);
  expect((await stage.shown()).status).toBe("done");
});

test("gap d: a planner that gives no plan is asked again, and then the goal waits for people, who may have it try again", async () => {
  let away = true;
  const stage = await pursuing({
    plan: (_told, asked) =>
      away
        ? new ModelError("MODEL_UNREACHABLE", "It is away.")
        : asked < 6
          ? { tasks: ["look at web"] }
          : DONE,
    task: looksOnce,
  });
  await stage.pursue("look at web");
  const planned = ofKind(await stage.entries(), "goal_planned");
  expect(planned.map(({ why }) => why)).toEqual(["It is away.", "It is away.", "It is away."]);
  expect(await stage.shown()).toMatchObject({
    status: "paused",
    pause: "trouble",
    why: "It can't go on now: It is away.",
  });
  away = false;
  await stage.change({ state: "resumed" });
  expect((await stage.shown()).status).toBe("done");
});

test("what a model wrote that has no form is paid for all the same", async () => {
  const stage = await pursuing({
    plan: () => ({ tasks: [{ text: "", requires: [] }] }),
    task: looksOnce,
  });
  await stage.pursue("look at web");
  const planned = ofKind(await stage.entries(), "goal_planned");
  expect(planned.map(({ thought }) => thought?.requests)).toEqual([2, 2, 2]);
  const { budget } = await stage.shown();
  expect(budget.steps.used).toBe(6);
  expect((await stage.thread()).counts.usage.input).toBe(700);
});

test("a run that fails is judged by rule, and the work goes on", async () => {
  const stage = await pursuing({
    plan: planning("look at web", "look at db"),
    task: (words, calls) =>
      taskIn(words) === "look at web" ? { text: "" } : looksOnce(words, calls),
  });
  await stage.pursue("look at everything");
  expect(await verdictsIn(stage)).toEqual([
    "g1.k1 retry by rule",
    "g1.k1 retry by rule",
    "g1.k1 abandon by rule",
    "g1.k2 done by model",
  ]);
  expect(stage.look.runs).toEqual(["db"]);
  const { tasks, status } = await stage.shown();
  expect(tasks.map((task) => task.status)).toEqual(["failed", "done"]);
  expect(status).toBe("done");
  expect(asksIn(stage.requests, "judge")).toHaveLength(1);
});

test("a run that no model answers is no try of its task; after three the goal waits for people", async () => {
  let away = true;
  const stage = await pursuing({
    plan: planning("look at web"),
    task: (words, calls) =>
      away ? new ModelError("MODEL_UNREACHABLE", "It is away.") : looksOnce(words, calls),
  });
  await stage.pursue("look at web");
  expect(await stage.shown()).toMatchObject({ status: "paused", pause: "trouble" });
  expect((await stage.goal()).tasks.get("g1.k1")).toMatchObject({ tries: 0, status: "pending" });
  away = false;
  await stage.change({ state: "resumed" });
  const { tasks, status } = await stage.shown();
  expect(tasks[0]).toMatchObject({ status: "done", tries: 1 });
  expect(status).toBe("done");
});

test("no task that is done, given up or waits in front is planned again, in other words neither", async () => {
  const stage = await pursuing(
    {
      plan: (_told, asked) =>
        [
          { tasks: ["look at web", "look at db"] },
          { tasks: ["Look at the WEB.", "look at DB"] },
          DONE,
        ][asked - 1] ?? new Error("too often"),
      task: looksOnce,
    },
    {},
  );
  await stage.pursue("look at everything", { replan: 1 });
  expect(stage.look.runs).toEqual(["web", "db"]);
  const [, second] = ofKind(await stage.entries(), "goal_planned");
  expect(second?.tasks).toEqual([{ task: "g1.k2", text: "look at db" }]);
});

test("a plan stands in place of what waits from the one before, and no more than seven tasks are planned", async () => {
  const stage = await pursuing({
    plan: (_told, asked) =>
      [{ tasks: ["look at web", "look at db"] }, { tasks: ["look at cache"] }, DONE][asked - 1] ??
      new Error("too often"),
    task: looksOnce,
  });
  await stage.pursue("look at everything", { replan: 1 });
  expect(stage.look.runs).toEqual(["web", "cache"]);
  expect((await stage.shown()).tasks.map(({ text }) => text)).toEqual([
    "look at web",
    "look at cache",
  ]);
  const many = await pursuing({
    plan: () => ({ tasks: Array.from({ length: 8 }, (_, i) => `look at w${i}`) }),
    task: looksOnce,
  });
  await many.pursue("look at everything");
  expect(ofKind(await many.entries(), "goal_planned")[0]?.why).toContain("tasks");
});

test("it is planned after every task, after so many, or only on a change", async () => {
  const plans = async (replan: number) => {
    const tasks = ["look at web", "look at db", "look at cache", "look at queue"];
    const stage = await pursuing({
      plan: (words) => {
        const left = tasks.filter((task) => !new RegExp(`g1\\.k\\d+: ${task} →`).test(words));
        return left.length === 0 ? DONE : { tasks: left };
      },
      task: looksOnce,
    });
    await stage.pursue("look at everything", { replan });
    expect(stage.look.runs).toEqual(["web", "db", "cache", "queue"]);
    return ofKind(await stage.entries(), "goal_planned").length;
  };
  expect(await plans(1)).toBe(5);
  expect(await plans(2)).toBe(3);
  expect(await plans(0)).toBe(2);
});

test("tasks that bring nothing new, one after the other, end the goal", async () => {
  let n = 0;
  const stage = await pursuing({
    plan: () => ({ tasks: [`look at thing ${(n += 1)}`] }),
    task: (_told, calls) =>
      calls === 0 ? { calls: [["look", { name: "web" }]] } : { text: "CONFIRMED: seen [T1]." },
  });
  await stage.pursue("look at everything");
  // The first one saw it first; four more saw the same.
  expect(stage.look.runs).toHaveLength(5);
  const { status, answer } = await stage.shown();
  expect(status).toBe("done");
  expect(answer).toContain("The last 4 tasks brought nothing new, so it ends here.");
});

test("tasks that are given up one after the other end the goal too, as failed where nothing was done", async () => {
  let n = 0;
  const stage = await pursuing({
    plan: () => ({ tasks: [`look at thing ${(n += 1)}`] }),
    task: looksOnce,
    judge: () => ({ verdict: "abandon", reason: "not there" }),
  });
  await stage.pursue("look at everything");
  expect((await stage.shown()).tasks).toHaveLength(4);
  expect((await stage.shown()).status).toBe("failed");
});

test("a split into what is known already is none", async () => {
  const stage = await pursuing({
    plan: planning("look at web"),
    task: looksOnce,
    judge: (_told, asked) =>
      asked === 1 ? { verdict: "split", tasks: ["Look at web!"] } : { verdict: "done" },
  });
  await stage.pursue("look at web");
  expect(await verdictsIn(stage)).toEqual(["g1.k1 retry by rule", "g1.k1 done by model"]);
});

test("what people said while a plan was made has it made again, also where that said done", async () => {
  const said: Stage["say"][] = [];
  const stage = await pursuing({
    async plan(words, asked) {
      if (asked === 1) return { tasks: ["look at web"] };
      if (words.includes("db too") && !words.includes("look at db →"))
        return { tasks: ["look at db"] };
      for (const say of said.splice(0)) await say("look at db too");
      return DONE;
    },
    task: looksOnce,
  });
  said.push(stage.say);
  await stage.pursue("look at web");
  await stage.settle();
  expect(stage.look.runs).toEqual(["web", "db"]);
  const planned = ofKind(await stage.entries(), "goal_planned");
  expect(planned.map(({ done }) => done)).toEqual([false, true, false, true]);
  expect((await stage.shown()).status).toBe("done");
});

test("secrets do not pass from a plan or a verdict into the journal", async () => {
  const stage = await pursuing(
    {
      plan: (_told, asked) =>
        asked === 1 ? { tasks: ["look at hunter2"] } : { done: true, answer: "It is hunter2." },
      task: (_told, calls) =>
        calls === 0 ? { calls: [["look", { name: "web" }]] } : { text: "CONFIRMED: seen [T1]." },
      judge: () => ({ verdict: "done", reason: "hunter2 shows it" }),
    },
    { hide: (text) => text.replaceAll("hunter2", "[secret:DB]") },
  );
  await stage.pursue("look at web");
  expect(JSON.stringify(await stage.entries())).not.toContain("hunter2");
});

test("a helper's calls are its task's, and the goal pays for them", async () => {
  const stage = await pursuing({
    plan: planning("look at web"),
    task: (_told, calls) =>
      calls === 0
        ? { calls: [["delegate", { task: "look into web" }]] }
        : { text: "CONFIRMED: it is well [T2]." },
    helper: (_told, calls) =>
      calls === 0 ? { calls: [["look", { name: "web" }]] } : { text: "It is well [T2]." },
  });
  await stage.pursue("look at web");
  expect(stage.look.runs).toEqual(["web"]);
  const { tasks, status, budget } = await stage.shown();
  expect([status, tasks[0]?.status]).toEqual(["done", "done"]);
  // 2 plans, a verdict, 2 requests of the task's run and 2 of its helper's.
  expect(budget.steps.used).toBe(7);
  expect((await stage.goal()).notes.map(({ text }) => text)).toContain("[T2] look: ok. did web");
});
