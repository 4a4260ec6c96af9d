import { describe, expect, it } from "vitest";
import { readText } from "../../src/commands/grammar.ts";
import { problemOf } from "./reading.ts";

describe("what people type about a goal", () => {
  it.each([
    ["goal find out why checkout is slow", "find out why checkout is slow"],
    ["/goal find out why checkout is slow", "find out why checkout is slow"],
    ["Goal: is checkout healthy after each of the last five deploys?", undefined],
    ["goal stop the disk of db-1 from filling up", "stop the disk of db-1 from filling up"],
    ["goal extend the retention of the audit log", "extend the retention of the audit log"],
    ["goal: resume the migration of orders\nand tell how far it is", undefined],
  ])("%s begins a goal", (text, goal = text.replace(/^goal: /i, "")) => {
    expect(readText(text)).toEqual({ kind: "command", command: { name: "goal", text: goal } });
  });

  it("the verbs of a goal, in a word; how much more it may use in several", () => {
    const click = (choice: object) => ({ kind: "click", action: "goal", revision: 1, choice });
    for (const text of ["goal", "goal?", "goal status", "/goal status", "goal status please"])
      expect(readText(text)).toEqual({ kind: "command", command: { name: "goal" } });
    for (const verb of ["pause", "resume"] as const) {
      expect(readText(`goal ${verb}`)).toEqual(click({ kind: "goal", do: verb }));
      for (const text of [
        `/Goal ${verb}!`,
        `goal ${verb} pls`,
        `${verb} the goal`,
        `${verb} goal!`,
      ])
        expect(readText(text), text).toEqual(click({ kind: "goal", do: verb }));
    }
    for (const text of ["goal stop", "/goal stop!", "goal: stop please", "Stop the goal now!"])
      expect(readText(text)).toEqual({ kind: "stop", goal: "goal" });
    const extended = {
      "": undefined,
      " by 30m": { minutes: 30 },
      " by 1.5 hours": { minutes: 90 },
      " 50 steps": { steps: 50 },
      " by 20 more requests and 1h": { steps: 20, minutes: 60 },
      " by $2": { cents: 200 },
      " by 2$ please": { cents: 200 },
      " by $0.50, 200k tokens": { cents: 50, tokens: 200_000 },
      " by 1,000,000 tokens + 2 days": { tokens: 1_000_000, minutes: 2_880 },
    };
    const said = readText("extend the goal by 30m");
    expect(said).toEqual(readText("goal extend by 30m"));
    for (const [text, by] of Object.entries(extended))
      expect(readText(`goal extend${text}`), text).toEqual({
        ...click({ kind: "extend", ...(by && { by }) }),
        revision: 0,
      });
  });

  it.each([
    ["goal pasue", "Did you mean `goal pause`? I did nothing."],
    ["goal stop g1", "Did you mean `goal stop`? I did nothing."],
    ["goal pause for 10 minutes", "Did you mean `goal pause`? I did nothing."],
    ["goal extend budget", "Did you mean `goal extend`? I did nothing."],
    ["goal cancel", "Did you mean `goal stop`? I did nothing."],
    ["goal continue!", "Did you mean `goal resume`? I did nothing."],
    ["goal help", "Usage: `goal <what is wanted>`"],
    ["extend the goal by much", /^Usage: `goal extend \[by 30m\]`/],
    ["should we stop the goal", "a message"],
    ["stop the goal?", "a message"],
    ["stop the goal keeper", "a message"],
    ["pause the goal by 30m", "a message"],
    ["gaol find the slow query", "Did you mean `goal find the slow query`? I did nothing."],
    ["goal extend by much", /^Usage: `goal extend \[by 30m\]` or /],
    ["goal extend by 30m and 20m", /^Usage: `goal extend/],
    ["goal extend by 0 steps", /^Usage: `goal extend/],
    ["goal extend by 1.5 steps", /^Usage: `goal extend/],
    [
      `goal find ${"x".repeat(4_000)}`,
      /^A goal takes at most 4,000 characters, and yours has 4,005/,
    ],
    ["/goal", "goal"],
    ["goal is to have no downtime", "a message"],
    ["goal of this deploy?", "a message"],
    ["goal reached", "a message"],
    ["goals", "a message"],
    ["what is the goal", "a message"],
  ])("%.40s is no goal", (text, problem) => {
    expect(problemOf(text)).toMatch(problem);
  });
});
