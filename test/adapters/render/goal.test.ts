import { expect, test } from "vitest";
import type { GoalCard } from "../../../src/adapters/shown.ts";
import { readButtonAction } from "../../../src/adapters/render/button-ids.ts";
import { goalLine, goalMessage, goalTyped, renderGoal } from "../../../src/adapters/render/goal.ts";
import { textOf } from "../../../src/adapters/render/rich-text.ts";
import type { ShownGoalTask } from "../../../src/core/goal.ts";

const task = (
  text: string,
  status: ShownGoalTask["status"],
  more: Partial<ShownGoalTask> = {},
) => ({
  task: `g1.${text}`,
  text,
  status,
  depth: 0,
  tries: 1,
  reason: undefined,
  ...more,
});

const card = (more: Partial<GoalCard> = {}): GoalCard => ({
  id: "g1",
  goal: "g1",
  text: "Find out why checkout got slower",
  by: "Ana",
  schedule: undefined,
  startedAt: Date.parse("2026-11-28T09:00Z"),
  endedAt: undefined,
  status: "running",
  why: undefined,
  pause: undefined,
  waits: false,
  tasks: [
    task("Read the logs of web-1", "done"),
    task("Compare deploys", "running", { tries: 2, reason: "No call shows it." }),
    task("Look at the database", "abandoned", { reason: "No access." }),
  ],
  now: { doing: "working", task: "g1.Compare deploys", run: "r3" },
  plans: 1,
  budget: {
    steps: { used: 12, of: 200 },
    minutes: { used: 8.4, of: 240 },
    tokens: { used: 45_200, of: 2_000_000 },
    cents: { used: 42, of: 300 },
  },
  microdollars: 420_000,
  report: [],
  answer: undefined,
  extension: { number: 2, estimate: { steps: 100, minutes: 120, tokens: 1_000_000 } },
  ...more,
});

const buttons = (more?: Partial<GoalCard>) =>
  renderGoal(card(more)).buttons.map(({ id, label }) => `${label.replace(/:.*/, "")} ${id}`);

test("a goal's message says what is wanted, what is done, what runs and what is used", () => {
  const { title, standing, facts, timeline = [], tone } = renderGoal(card());
  expect({ title, standing, tone }).toEqual({
    title: "Find out why checkout got slower",
    standing: "at work · 1 of 3 tasks done",
    tone: "calm",
  });
  expect(facts.map(({ label, text }) => `${label}: ${text}`)).toEqual([
    "Now: Compare deploys",
    "Steps: 12 of 200",
    "Time: 8 min of 4 h",
    "Tokens: 45K of 2M",
    "Cost: $0.42 of $3.00",
  ]);
  expect(timeline.map(({ text }) => text).join("")).toBe(
    [
      "[x] Read the logs of web-1",
      "[>] Compare deploys (try 2) – No call shows it.",
      "[-] Look at the database – No access.",
    ].join("\n"),
  );
});

test("each standing has the buttons that make sense in it, and they come back as what they mean", () => {
  expect(buttons()).toEqual(["Pause wk:goal-pause:g1", "Stop wk:stop:g1"]);
  expect(buttons({ status: "paused", pause: "person" })).toEqual([
    "Resume wk:goal-resume:g1",
    "Stop wk:stop:g1",
  ]);
  expect(buttons({ status: "paused", pause: "budget" })).toEqual([
    "Extend wk:extend:g1:2",
    "Stop wk:stop:g1",
  ]);
  const near = { ...card().budget, steps: { used: 160, of: 200 } };
  expect(buttons({ budget: near })).toEqual([
    "Pause wk:goal-pause:g1",
    "Extend wk:extend:g1:2",
    "Stop wk:stop:g1",
  ]);
  for (const status of ["done", "partly", "failed", "stopped"] as const)
    expect(buttons({ status, endedAt: 0 })).toEqual([]);
  expect(readButtonAction("wk:stop:g1")).toEqual({ kind: "stop", goal: "g1" });
  const click = { kind: "click", action: "g1" };
  const pause = { kind: "goal", do: "pause" };
  expect(readButtonAction("wk:goal-pause:g1")).toEqual({ ...click, revision: 1, choice: pause });
  const extend = { kind: "extend" };
  expect(readButtonAction("wk:extend:g1:2")).toEqual({ ...click, revision: 2, choice: extend });
});

test("a long list shows the tasks around the one at work, and a card stays short whatever texts say", () => {
  const tasks = Array.from({ length: 60 }, (_, i) =>
    task(`${i} ${"x".repeat(3_000)}`, i < 30 ? "done" : i === 30 ? "running" : "pending"),
  );
  const text = `# *${"y".repeat(5_000)}*\n<!channel>`;
  const rendered = renderGoal(card({ tasks, text, why: "z".repeat(9_000) }));
  const lines = (rendered.timeline ?? [])
    .map((inline) => inline.text)
    .join("")
    .split("\n");
  expect(lines).toHaveLength(14);
  expect(lines[0]).toBe("… 24 more");
  expect(lines.some((line) => line.startsWith("[>] 30 "))).toBe(true);
  expect(lines.at(-1)).toBe("… 24 more");
  expect(JSON.stringify(rendered).length).toBeLessThan(6_000);
  expect(rendered.title.length).toBeLessThanOrEqual(150);
});

test("in a terminal a goal is a box, then a line whenever that says something else, and what can be typed", () => {
  const text = goalMessage(card()).blocks.map(textOf).join("\n");
  expect(text).toContain("g1 · at work · 1 of 3 tasks done");
  expect(goalLine(card())).toBe("g1 · at work · 1 of 3 tasks done · Compare deploys");
  expect(goalLine(card({ status: "paused", why: "Paused by Ana." }))).toBe(
    "g1 · paused · 1 of 3 tasks done · Paused by Ana.",
  );
  expect(goalTyped(card())).toBe("goal pause · goal stop · goal status");
  expect(goalTyped(card({ status: "paused", pause: "budget" }))).toBe(
    "goal extend lets it use more · goal stop · goal status",
  );
  expect(goalLine(card({ status: "done", endedAt: card().startedAt + 42 * 60_000 }))).toMatch(
    /^g1 · done after 42 min/,
  );
});
