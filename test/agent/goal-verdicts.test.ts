import { expect, test } from "vitest";
import { asksIn, looksOnce, planning, pursuing } from "./goal-stage.ts";
import { ofKind, wordsIn } from "./talking.ts";

type Stage = Awaited<ReturnType<typeof pursuing>>;

const DONE = { done: true, answer: "CONFIRMED: all is well [T1]." };

async function verdictsIn(stage: Stage) {
  const judged = ofKind(await stage.entries(), "goal_judged");
  return judged.map(({ task, verdict, by }) => `${task} ${verdict ?? "not judged"} by ${by}`);
}

const told = (stage: Stage, what: Parameters<typeof asksIn>[1]) =>
  asksIn(stage.requests, what).map((request) => wordsIn(request).join("\n"));

test("retry: the task comes first again, with the reason as a hint and what it found, and at most twice", async () => {
  const stage = await pursuing({
    plan: planning("look at web", "look at db"),
    task: looksOnce,
    judge: (words) =>
      words.includes("look at web") && words.includes("time:\n  look at web")
        ? { verdict: "retry", reason: "look at the logs" }
        : { verdict: "done" },
  });
  await stage.pursue("look at everything");
  expect(stage.look.runs).toEqual(["web", "web", "web", "db"]);
  expect(await verdictsIn(stage)).toEqual([
    "g1.k1 retry by model",
    "g1.k1 retry by model",
    "g1.k1 abandon by rule",
    "g1.k2 done by model",
  ]);
  const again = told(stage, "task")[2] ?? "";
  expect(again).toContain("It was tried before and was not done: look at the logs");
  expect(again).toContain("- [T1] look: ok. did web");
  const { tasks } = await stage.shown();
  expect(tasks[0]).toMatchObject({ status: "abandoned", tries: 3 });
  expect(tasks[0]?.reason).toBe("Tried 3 times. look at the logs");
});

test("split: the parts are done next, in their order, and say whose parts they are", async () => {
  const stage = await pursuing({
    plan: planning("look at both", "look at cache"),
    task: looksOnce,
    judge: (words) =>
      words.includes("time:\n  look at both")
        ? { verdict: "split", tasks: ["look at web", "look at db"] }
        : { verdict: "done" },
  });
  await stage.pursue("look at everything");
  expect(stage.look.runs).toEqual(["both", "web", "db", "cache"]);
  const { tasks, status } = await stage.shown();
  expect(tasks.map(({ task, status: how, depth }) => [task, how, depth])).toEqual([
    ["g1.k1", "split", 0],
    ["g1.k2", "done", 0],
    ["g1.k3", "done", 1],
    ["g1.k4", "done", 1],
  ]);
  expect((await stage.goal()).tasks.get("g1.k3")?.parent).toBe("g1.k1");
  expect(status).toBe("done");
  // It was planned again after the split, and no plan drops the parts.
  expect(ofKind(await stage.entries(), "goal_planned")).toHaveLength(3);
});

test("abandon: the task is given up with its reason, and the goal is planned again", async () => {
  const stage = await pursuing({
    plan: (_told, asked) => (asked === 1 ? { tasks: ["look at web", "look at db"] } : DONE),
    task: looksOnce,
    judge: () => ({ verdict: "abandon", reason: "there is no web" }),
  });
  await stage.pursue("look at everything");
  expect(told(stage, "plan")[1]).toContain("Given up:\n  - g1.k1: look at web → there is no web");
  // What was planned and never begun is no task of the goal.
  const { tasks } = await stage.shown();
  expect(tasks.map(({ task, status }) => [task, status])).toEqual([["g1.k1", "abandoned"]]);
});

test("after three levels of parts a task is done or given up: it is neither split nor tried again", async () => {
  let n = 0;
  const stage = await pursuing({
    plan: planning("look at all"),
    task: looksOnce,
    judge: () => ({ verdict: "split", reason: "too large", tasks: [`look at part ${(n += 1)}`] }),
  });
  await stage.pursue("look at everything");
  expect(await verdictsIn(stage)).toEqual([
    "g1.k1 split by model",
    "g1.k2 split by model",
    "g1.k3 split by model",
    "g1.k4 abandon by rule",
  ]);
  const retried = await pursuing({
    plan: planning("look at all"),
    task: looksOnce,
    judge: (_words, asked) =>
      asked < 4
        ? { verdict: "split", tasks: [`look at part ${asked}`] }
        : { verdict: "retry", reason: "once more" },
  });
  await retried.pursue("look at everything");
  expect((await verdictsIn(retried)).at(-1)).toBe("g1.k4 abandon by rule");
});

test("a done without a call that was made is no done, whatever the model says", async () => {
  const stage = await pursuing({
    plan: planning("look at web"),
    task: () => ({ text: "INCONCLUSIVE: it is surely well." }),
  });
  await stage.pursue("look at everything");
  expect(await verdictsIn(stage)).toEqual([
    "g1.k1 retry by rule",
    "g1.k1 retry by rule",
    "g1.k1 abandon by rule",
  ]);
  expect((await stage.goal()).tasks.get("g1.k1")?.reason).toBe(
    "Tried 3 times. No call that was made shows it.",
  );
});

test("a note alone is no evidence", async () => {
  const stage = await pursuing({
    plan: planning("look at web"),
    task: (_told, calls) =>
      calls === 0
        ? { calls: [["write_note", { text: "all is well" }]] }
        : { text: "INCONCLUSIVE: it is well." },
  });
  await stage.pursue("look at everything");
  expect((await verdictsIn(stage))[0]).toBe("g1.k1 retry by rule");
});

test("a task that requires a call is not done before it was made; what an earlier try called counts", async () => {
  const stage = await pursuing({
    plan: (_told, asked) =>
      asked === 1
        ? { tasks: [{ text: "report web", requires: ["look", "append_to_report"] }] }
        : DONE,
    task: (words, calls) =>
      calls > 0
        ? { text: "CONFIRMED: done [T1]." }
        : words.includes("was tried before")
          ? { calls: [["append_to_report", { text: "Well." }]] }
          : { calls: [["look", { name: "web" }]] },
  });
  await stage.pursue("report on web");
  const judged = ofKind(await stage.entries(), "goal_judged");
  expect(judged.map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ["retry", "Not done before append_to_report was called and went well."],
    ["done", "a call shows it"],
  ]);
  expect(stage.look.runs).toEqual(["web"]);
});

test("a goal that asks for something that stays is not done before that was made, whatever the plan says", async () => {
  const stage = await pursuing({
    plan: (_told, asked) =>
      asked === 1
        ? { tasks: ["look at web"], deliverables: ["append_to_report", "nonsense"] }
        : DONE,
    task: (words, calls) =>
      words.includes("Make what the goal asks for") && calls === 0
        ? { calls: [["append_to_report", { text: "Well." }]] }
        : looksOnce(words, calls),
  });
  await stage.pursue("look at web and write a report");
  const { tasks, status, report } = await stage.shown();
  expect(tasks.map(({ text }) => text)).toEqual([
    "look at web",
    "Make what the goal asks for with append_to_report, from what the notes say.",
  ]);
  expect(report).toHaveLength(1);
  expect(status).toBe("done");
  expect(ofKind(await stage.entries(), "goal_planned")[1]).toMatchObject({
    done: false,
    unmet: "The plan says done, but append_to_report was not called.",
  });
});

test("a goal whose report nobody writes ends, and says that it is not whole", async () => {
  const stage = await pursuing({ plan: planning("look at web"), task: looksOnce });
  await stage.pursue("look at web and write a report", { requires: ["append_to_report"] });
  const { status, answer } = await stage.shown();
  expect(status).toBe("partly");
  expect(answer).toContain("Not done:\n- Make what the goal asks for with append_to_report");
});
