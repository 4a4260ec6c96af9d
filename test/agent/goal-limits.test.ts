import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { GOAL_PROMPT } from "../../src/agent/goal-prompt.ts";
import { planQuestion } from "../../src/agent/goal-thinking.ts";
import { CHAT_PROMPT } from "../../src/agent/prompt.ts";
import { createGoalReports } from "../../src/app/goal-reports.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import { REMOVED, withoutRemoved } from "../../src/core/removed.ts";
import { delegate } from "../../src/tools/delegate/delegate.ts";
import { createChat } from "../fakes/chat.ts";
import { fakeTool, KEY, type StageOptions } from "../fakes/stage.ts";
import { asksIn, type GoalParts, looksOnce, pursuing, taskIn } from "./goal-stage.ts";
import { HELPERS, helper } from "./helping.ts";
import { ofKind, wordsIn } from "./talking.ts";

const GOALS = { budget: { steps: 40, minutes: 60, tokens: 100_000 }, replan: 0 };

/** A goal of these tasks, in a chat where ana and bob are members. */
async function given(tasks: string[], task: GoalParts["task"], options: StageOptions = {}) {
  const chat = createChat({
    finds: true,
    standings: { "test:ana": "member", "test:bob": "member" },
  });
  const plan: GoalParts["plan"] = (_told, asked) =>
    asked === 1 ? { tasks } : { done: true, answer: "CONFIRMED: all is well [T1]." };
  return pursuing({ plan, task }, { chat, goals: GOALS, ...options });
}

const changing: GoalParts["task"] = (told, calls) =>
  taskIn(told) !== "change web"
    ? looksOnce(told, calls)
    : calls === 0
      ? { calls: [["act", { name: "web" }]] }
      : { text: "CONFIRMED: changed [T1]." };

/** The thread is in a channel in which the model only talks. */
function talkingOnly(): StageOptions {
  const chat = createChat();
  const modes = {
    goal: { system: GOAL_PROMPT, tools: [] },
    chat: { system: CHAT_PROMPT, channels: ["test:C1"] },
  };
  return {
    chat: { ...chat, adapter: { ...chat.adapter, channel: async () => "test:C1" } },
    talk: { modes },
  };
}

test("in a channel where the model only talks no goal begins, and none that there was goes on", async () => {
  const stage = await given(["look at web"], looksOnce, talkingOnly());
  await stage.ask("goal look at web");
  expect((await stage.thread()).goals.size).toBe(0);
  expect(stage.chat.answers().at(-1)?.text).toMatch(/^In this channel I only talk/);
  await stage.pursue("look at web");
  expect(stage.look.runs).toEqual([]);
  expect(await stage.shown()).toMatchObject({ status: "paused", pause: "trouble" });
});

test("a goal whose message is removed is stopped, and its card can't be approved any more", async () => {
  const stage = await given(["change web", "look at db"], changing);
  const id = await stage.say("goal change web and look at db");
  await stage.settle();
  expect(ofKind(await stage.entries(), "action_proposed")).toHaveLength(1);
  await stage.post({ id: "gone", kind: "removed", of: id });
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await stage.settle();
  expect(stage.act.runs).toEqual([]);
  expect(stage.look.runs).toEqual([]);
  expect((await stage.shown()).status).toBe("stopped");
  expect((await stage.shown()).answer).toMatch(/^Stopped by the removal of its message\./);
  // What it said is told to nobody any more.
  expect((await stage.shown()).text).toBe(REMOVED);
  const printed = withoutRemoved(await stage.journal.read(KEY));
  expect(printed.flatMap((each) => (each.kind === "goal_started" ? [each.text] : []))).toEqual([
    REMOVED,
  ]);
});

test("what was planned after words that are removed is planned again without them", async () => {
  const plans = [["change web"], ["change mail", "look at db"]];
  const stage = await pursuing(
    {
      plan: (_told, asked) =>
        asked > plans.length
          ? { done: true, answer: "CONFIRMED: all is well [T1]." }
          : { tasks: plans[asked - 1] ?? [] },
      task: (told, calls) => {
        const [verb, name = ""] = taskIn(told).split(" ");
        if (verb !== "change") return looksOnce(told, calls);
        return calls === 0 ? { calls: [["act", { name }]] } : { text: "CONFIRMED: changed [T1]." };
      },
    },
    { goals: GOALS },
  );
  await stage.ask("goal change web");
  const id = await stage.say("look at db too");
  await stage.settle();
  const approve = async (action: string) => {
    await stage.click(action, { kind: "approve" }, "test:bob");
    await stage.settle();
  };
  await approve("a1");
  expect(wordsIn(asksIn(stage.requests, "plan")[1]).join("\n")).toContain("look at db too");
  await stage.post({ id: "gone", kind: "removed", of: id });
  await approve("a2");
  expect(stage.act.runs).toEqual(["web", "mail"]);
  expect(wordsIn(asksIn(stage.requests, "plan")[2]).join("\n")).not.toContain("look at db too");
  expect(stage.look.runs).toEqual([]);
});

test("an extension counts for the number that was offered, and for no later one", async () => {
  const stage = await given(["change web"], changing);
  await stage.ask("goal change web");
  await stage.click("g1", { kind: "extend" }, "test:bob", 7);
  await stage.settle();
  expect((await stage.goal()).budget.steps).toBe(40);
  expect(stage.chat.whispers().at(-1)).toMatch(/^Nothing offered that to g1/);
  await stage.click("g1", { kind: "extend" }, "test:bob", 1);
  await stage.settle();
  expect((await stage.goal()).budget.steps).toBe(60);
});

test("more money is no extension where money has no limit, and does not use one up", async () => {
  const stage = await given(["change web"], changing);
  await stage.ask("goal change web");
  await stage.ask("goal extend by $2");
  expect(stage.chat.whispers().at(-1)).toMatch(/^g1 has no limit in money/);
  expect((await stage.goal()).extendedBy).toEqual([]);
});

test("at once a goal is given no more than it began with", async () => {
  const stage = await given(["change web"], changing);
  await stage.ask("goal change web");
  await stage.ask("goal extend by 41 steps");
  expect(stage.chat.whispers().at(-1)).toMatch(/^That is more than g1 began with/);
  expect((await stage.goal()).budget.steps).toBe(40);
  await stage.ask("goal extend by 40 steps");
  expect((await stage.goal()).budget.steps).toBe(80);
});

test("helpers of a goal that a schedule began read as its own runs do, and change nothing either", async () => {
  const look = fakeTool({ name: "look" });
  const act = fakeTool({ name: "act", effect: "write" });
  const tools = [look, act, delegate];
  const stage = await pursuing(
    {
      plan: (_told, asked) =>
        asked === 1 ? { tasks: ["have web seen"] } : { done: true, answer: "CONFIRMED [T2]." },
      task: (_told, calls) =>
        calls === 0 ? { calls: [helper("see web")] } : { text: "CONFIRMED: it is well [T1]." },
      helper: (_told, calls) =>
        calls === 0
          ? {
              calls: [
                ["look", { name: "web" }],
                ["act", { name: "web" }],
              ],
            }
          : { text: "Seen [T2]." },
    },
    {
      tools,
      talk: {
        tools: tools.map(toolSpec),
        modes: { ...HELPERS, goal: { system: GOAL_PROMPT, tools: [] } },
      },
    },
  );
  await stage.pursue("see to web", { principals: [], schedule: "nightly" });
  expect(look.runs).toEqual(["web"]);
  expect(act.runs).toEqual([]);
  expect(ofKind(await stage.entries(), "action_proposed")).toEqual([]);
});

test("a planner is told of the newest tasks, however many there were", async () => {
  const stage = await given(["change web"], changing);
  await stage.ask("goal change web");
  const goal = await stage.goal();
  const [[, first] = []] = goal.tasks;
  if (first === undefined) throw new Error("nothing was planned");
  for (let i = 2; i <= 500; i += 1)
    goal.tasks.set(`g1.k${i}`, {
      ...first,
      task: `g1.k${i}`,
      text: `look at w${i}`,
      status: "done",
    });
  const { content } = planQuestion(goal, { left: goal.budget, tools: [] });
  const told = content.find(({ text }) => text.startsWith("[watchkeeper] Done"))?.text ?? "";
  expect(told).toMatch(/^\[watchkeeper\] Done \(439 before these\):/);
  expect(told.split("\n")).toHaveLength(61);
  expect(told).toContain("g1.k500: look at w500");
});

test("a report is never written through a link that lies in its folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "reports-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const kept = join(folder, "kept");
  await writeFile(kept, "mine");
  await symlink(kept, join(folder, `.a.md.${process.pid}`));
  await createGoalReports(folder).write("a.md", "report");
  expect(await readFile(kept, "utf8")).toBe("mine");
  expect(await readFile(join(folder, "a.md"), "utf8")).toBe("report");
  expect((await readdir(folder)).toSorted()).toEqual(["a.md", "kept"]);
});

test("who began a goal extends it as long as they are a full member, and something is left of the day", async () => {
  const standings: Record<string, "member" | "guest"> = {
    "test:ana": "member",
    "test:bob": "member",
  };
  const stage = await given(["change web"], changing, {
    chat: createChat({ finds: true, standings }),
  });
  await stage.ask("goal change web");
  standings["test:ana"] = "guest";
  await stage.ask("goal extend by 5 steps");
  expect(stage.chat.whispers().at(-1)).toMatch(/^Guests can't extend\./);
  const { terms } = stage.parts.run;
  if (terms !== undefined)
    stage.parts.run = { ...stage.parts.run, terms: { ...terms, tokensPerDay: 1 } };
  await stage.ask("goal extend by 5 steps", "test:bob");
  expect(stage.chat.whispers().at(-1)).toContain("tokensPerDay");
  expect((await stage.goal()).budget.steps).toBe(40);
});
