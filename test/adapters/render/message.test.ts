import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Outgoing } from "../../../src/adapters/shown.ts";
import {
  type Block,
  type RenderedMessage,
  textOf,
} from "../../../src/adapters/render/rich-text.ts";
import { planOf } from "../../../src/adapters/render/plan.ts";
import { createRunProgress, renderProgress } from "../../../src/adapters/render/progress.ts";
import { renderOutgoing, renderText } from "../../../src/adapters/render/message.ts";
import { readButtonAction, type ButtonAction } from "../../../src/adapters/render/button-ids.ts";
import { anyText } from "../anything.ts";
import { answerOf, killCard, noticeOf, talkOf } from "../terminal/harness.ts";

const none = (): boolean => false;

function linesOf(parts: readonly Block[]): string[] {
  return parts.map((part) => `${part.kind}: ${textOf(part)}`);
}

function pressesOf({
  buttons,
}: Pick<RenderedMessage, "buttons">): [string, ButtonAction | undefined][] {
  return buttons.map(({ label, id }) => [label, readButtonAction(id)]);
}

const AI_MADE = "small: AI-generated · check before acting";
const usage = { input: 1_000, output: 234, cacheRead: 0, cacheWrite: 0 };

describe("a message in a chat", () => {
  test("what the program writes between backticks is code; one alone stays as it is", async () => {
    const shown = await renderOutgoing(
      noticeOf("Write `listen` or `http://a.test/` it`s on"),
      none,
    );
    const [block] = shown.blocks;
    expect(block?.kind === "text" && block.inlines).toEqual([
      { text: "Write " },
      { text: "listen", code: true },
      { text: " or " },
      { text: "http://a.test/", code: true },
      { text: " it`s on" },
    ]);
  });

  test("a model's answer is its words, then what it cites, then what it cost", async () => {
    const talk = talkOf("r1", "**Down** [T2].", 3);
    const [, second] = talk.results;
    if (second !== undefined) second.outcome = "error";
    const [first] = talk.results;
    const said = {
      ...talk,
      text: "Up [T1].",
      results: first ? [{ ...first, doing: "Checking a" }] : [],
    };
    const worded = await renderOutgoing(said, none);
    expect(linesOf(worded.blocks)[1]).toMatch(
      /^fold: Evidence · 1 check\nT1 ✓ Checking a · 34 ms$/,
    );
    const told = await renderOutgoing({ ...talk, spent: { steps: 2, usage, workMs: 3_450 } }, none);
    expect(linesOf(told.blocks)).toEqual([
      "text: Down T2.",
      [
        "fold: Evidence · 1 of 3 checks, 1 failed or didn't run",
        "T2 ✗ http_check url=http://a/2 · error · 34 ms",
        "T1 ✓ http_check url=http://a/1 · 34 ms",
        "T3 ✓ http_check url=http://a/3 · 34 ms",
      ].join("\n"),
      "small: 1.2k tokens · 3.4 s · AI-generated · check before acting",
    ]);
    const reading = (what: string, ref: string) => ({ kind: "read", what, ref, page: 1 });
    const [, fold] = told.blocks;
    if (fold?.kind !== "fold") throw new Error("the evidence is not folded");
    expect(readButtonAction(fold.open.id)).toEqual(reading("checks", "r1"));
    expect(fold.lines.map(({ button }) => readButtonAction(button?.id ?? ""))).toEqual(
      ["r1.t2", "r1.t1", "r1.t3"].map((call) => reading("output", call)),
    );
    expect(told.buttons).toEqual([]);
    expect(told.summary).toBe("Down.");
  });

  test.each<[Extract<Outgoing, { kind: "answer" }>["status"], string[]]>([
    ["completed", ["text: So far", AI_MADE]],
    ["failed", ["text: ✗ So far"]],
    ["cancelled", ["text: ⏹ So far"]],
    ["wrapped_up", ["text: ⚠ So far", AI_MADE]],
  ])("an answer that is %s begins %j", async (status, lines) => {
    const told = await renderOutgoing(talkOf("r1", "So far", 0, status), none);
    expect(linesOf(told.blocks)).toEqual(lines);
    const listed = await renderOutgoing(talkOf("r1", "- So far", 0, "wrapped_up"), none);
    expect(linesOf(listed.blocks)).toEqual(["text: ⚠ wrapped up", "item: • So far", AI_MADE]);
  });

  test("a direct command's result is code, in part where an artifact has the whole", async () => {
    const answer = answerOf("r1", "**not** [markup](http://x/)\n");
    expect(linesOf((await renderOutgoing(answer, none)).blocks)).toEqual([
      "line: ✓ http_check url=http://a/ · 34 ms",
      "code: **not** [markup](http://x/)",
    ]);
    const pressed = answer.results.map((each) => ({ ...each, isPressed: true as const }));
    const said = (doing: string) => pressed.map((each) => ({ ...each, doing }));
    const lineOf = async (results: typeof answer.results) =>
      linesOf((await renderOutgoing({ ...answer, results }, none)).blocks)[0];
    expect(await lineOf(pressed)).toBe("line: ✓ http_check · 34 ms");
    expect(await lineOf(said("Undo a1: End it"))).toBe("line: ✓ Undo a1: End it · 34 ms");
    const [result] = answer.results;
    const long = "0123456789\n".repeat(1_000);
    const artifact = { id: "f".repeat(64), bytes: 11_000 };
    const cut = { ...answer, results: [{ ...result, text: long, artifacts: [artifact] }] };
    const told = await renderOutgoing(cut as typeof answer, none);
    const { blocks } = told;
    const [, code] = linesOf(blocks);
    expect(code).toMatch(/^code: 0123456789\n[^]*\[… \d+ bytes omitted …\][^]*0123456789$/);
    expect(code?.length).toBeLessThan(2_600);
    expect(pressesOf(told)).toEqual([
      ["Show all output (10.7 KiB)", { kind: "read", what: "output", ref: result?.call, page: 1 }],
    ]);
    const whole = { ...answer, results: [{ ...result, text: long }] };
    const shown = await renderOutgoing(whole as typeof answer, none);
    expect(linesOf(shown.blocks)[1]).toBe(`code: ${long.trimEnd()}`);
  });

  test("a command's answer in words stands for its results, and a failure says so once", async () => {
    const words = { ...answerOf("r1", "output"), text: "All tools: …" };
    expect(linesOf((await renderOutgoing(words, none)).blocks)).toEqual(["text: All tools: …"]);
    const failed = { ...answerOf("r1", ""), results: [], status: "failed" as const };
    expect(linesOf((await renderOutgoing(failed, none)).blocks)).toEqual(["text: ✗ failed"]);
  });

  test("an unknown outcome can be settled, a held message let through", async () => {
    const notice = noticeOf("Is it done? See http://x/", { settles: "r1.t2", holds: ["a1", "a2"] });
    const told = await renderOutgoing(notice, none);
    expect(linesOf(told.blocks)).toEqual(["text: Is it done? See http://x/"]);
    const click = (action: string, choice: object) => ({
      kind: "click",
      action,
      revision: 1,
      choice,
    });
    expect(pressesOf(told)).toEqual([
      ["It happened", click("r1.t2", { kind: "settle", happened: true })],
      ["It did not happen", click("r1.t2", { kind: "settle", happened: false })],
      ["Withdraw a1", click("a1", { kind: "cancel" })],
      ["Withdraw a2", click("a2", { kind: "cancel" })],
    ]);
  });

  test("a private word can hold a card's Approve button, and one that withdraws for everyone", async () => {
    const offer = { approves: [killCard({ revision: 2 })], confirms: "a1" };
    const told = await renderOutgoing(noticeOf("Sure?", offer), none);
    expect(pressesOf(told)).toEqual([
      [
        "Approve a1",
        expect.objectContaining({ action: "a1", revision: 2, choice: { kind: "approve" } }),
      ],
      [
        "Withdraw a1 for everyone",
        expect.objectContaining({ action: "a1", choice: { kind: "cancel", sure: true } }),
      ],
    ]);
  });

  test("a private word can introduce an answer, which is read there as in its thread, without presses", async () => {
    const answer = talkOf("r1", "CONFIRMED: it is down [T2]. Restart it.", 3);
    const told = await renderText("I couldn't show this.", none, { answer });
    expect(linesOf(told.blocks)).toEqual([
      "text: I couldn't show this.",
      "text: Confirmed: it is down [T2]. Restart it.",
      "small: [T2] ✓ http_check url=http://a/2 · 34 ms",
      "small: + 2 more checks",
    ]);
    expect(told.buttons).toEqual([]);
  });

  test("has no more buttons than a message may", async () => {
    const holds = Array.from({ length: 30 }, (_, at) => `a${at + 1}`);
    expect((await renderOutgoing(noticeOf("Wait.", { holds }), none)).buttons).toHaveLength(25);
  });

  test("a question has a button for each choice, and reads out what a button cannot say", async () => {
    const long = `${"the long one ".repeat(6)}!`;
    const tooLong = "x".repeat(120);
    const choices = ["prod", "eu: west", long, tooLong, "prod", " spaced"];
    const told = await renderOutgoing(
      noticeOf("Which?", { asks: { call: "r1.t2", choices } }),
      none,
    );
    expect(linesOf(told.blocks)).toEqual([
      "text: Which?",
      `item: • ${long}`,
      `item: • ${tooLong}`,
      "item: •  spaced",
      "small: Pick one, or reply.",
    ]);
    expect(pressesOf(told).map(([, press]) => press?.kind === "click" && press.choice)).toEqual([
      { kind: "answer", text: "prod" },
      { kind: "answer", text: "eu: west" },
    ]);
    const open = noticeOf("Why?", { asks: { call: "r1.t2", choices: [] } });
    expect(linesOf((await renderOutgoing(open, none)).blocks)[1]).toBe(
      "small: Reply with the answer.",
    );
  });

  test("whatever is asked, ids and labels are of a length that platforms take, and no two alike", async () => {
    const property = fc.asyncProperty(fc.array(anyText, { maxLength: 30 }), async (choices) => {
      const asks = { call: "r12.t34", choices };
      const told = await renderOutgoing(
        noticeOf("Which?", { asks, holds: choices.slice(9) }),
        none,
      );
      const ids = told.buttons.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBeLessThanOrEqual(25);
      for (const { id, label } of told.buttons) {
        expect(id.length <= 100 && label.length <= 75 && label.length > 0).toBe(true);
        const press = readButtonAction(id);
        if (press?.kind !== "click" || press.choice.kind !== "answer") continue;
        expect(choices).toContain(press.choice.text);
      }
      expect(told.summary.length).toBeLessThanOrEqual(150);
    });
    await fc.assert(property, { numRuns: 500, seed: 4 });
  });
});

describe("progress in a chat", () => {
  test("is a line for each of the last calls, and what the model writes", async () => {
    const log = createRunProgress();
    const lines = async () => linesOf((await renderProgress(log, none)).blocks);
    expect(await lines()).toEqual(["small: ⏳ working"]);
    expect(log.note({ kind: "thinking", run: "r1", step: 1 })).toBe(true);
    expect(log.note({ kind: "thinking", run: "r1", step: 1 })).toBe(false);
    expect(await lines()).toEqual(["small: ⏳ thinking"]);
    const started = { kind: "tool_started", call: "r1.t1", tool: "uptime", args: {} } as const;
    const finished = { kind: "tool_finished", call: "r1.t1", tool: "uptime" } as const;
    expect(log.note(started)).toBe(true);
    expect(log.note(started)).toBe(false);
    expect(await lines()).toEqual(["small: ⏳ uptime"]);
    expect(log.note({ ...finished, outcome: "error", ms: 1_200 })).toBe(true);
    expect(log.note(started)).toBe(false);
    log.note({ kind: "thinking", run: "r1", step: 2 });
    expect(await lines()).toEqual([
      "small: ✗ uptime · error · 1.2 s",
      "small: ⏳ thinking · step 2",
    ]);
    const other = createRunProgress();
    other.note({ ...started, args: { name: "a" }, doing: "Looking at a" });
    other.note({ ...finished, outcome: "ok", ms: 20 });
    const worded = await renderProgress(other, none);
    expect(linesOf(worded.blocks)[0]).toBe("small: ✓ Looking at a · 20 ms");
    expect(log.note({ kind: "draft", run: "r1", text: "It *is*" })).toBe(true);
    expect(log.note({ kind: "draft", run: "r1", text: "It *is*" })).toBe(false);
    expect(await lines()).toEqual(["small: ✗ uptime · error · 1.2 s", "text: It is"]);
    expect(pressesOf(await renderProgress(log, none))).toMatchObject([["Stop", { run: "r1" }]]);
  });

  test("counts the calls that it has no lines for, and shows the end of a long draft", async () => {
    const log = createRunProgress();
    for (let at = 0; at < 20; at += 1) {
      log.note({ kind: "tool_finished", call: `r1.t${at}`, tool: "uptime", outcome: "ok", ms: at });
    }
    log.note({ kind: "draft", run: "r1", text: `${"first line\n\n".repeat(200)}the end` });
    const lines = linesOf((await renderProgress(log, none)).blocks);
    expect(lines[0]).toBe("small: … 12 earlier");
    expect(lines[1]).toBe("small: ✓ uptime · 12 ms");
    expect(lines.at(-1)).toBe("text: the end");
  });
});

describe("what a thread is doing", () => {
  const thinking = (run: string, step: number) => ({ kind: "thinking" as const, run, step });
  const started = { kind: "tool_started", call: "r1.t1", tool: "uptime", args: {} } as const;

  test("ends with the answer: what comes of it later is late, and another run begins from nothing", () => {
    const progress = createRunProgress(() => 7);
    for (const update of [thinking("r1", 3), started]) progress.note(update);
    progress.end("r1", ["r1.t1"]);
    expect([progress.calls.size, progress.step, progress.modelSince]).toEqual([0, 0, undefined]);
    for (const update of [thinking("r1", 4), started]) expect(progress.note(update)).toBe(false);
    expect(progress.note(thinking("r2", 1))).toBe(true);
    expect([progress.step, progress.modelSince]).toEqual([1, 7]);
  });

  test("waits for a person until anything else is heard", () => {
    const progress = createRunProgress();
    progress.note(thinking("r1", 1));
    expect(progress.note({ kind: "waiting", run: "r1" })).toBe(true);
    expect(progress.modelSince).toBeUndefined();
    expect(progress.isWaiting).toBe(true);
    expect(progress.note(thinking("r1", 2))).toBe(true);
    expect(progress.isWaiting).toBe(false);
  });
});

describe("what is pressed and sent", () => {
  test("an Approve of 0.3 is still read, without a digest: it will be told to look again", () => {
    expect(readButtonAction("wk:approve:a1:2")).toEqual({
      kind: "click",
      action: "a1",
      revision: 2,
      choice: { kind: "approve" },
    });
  });

  test.each([
    "",
    "approve",
    "wk:approve:a1",
    "wk:approve:a1:0",
    "wk:approve:a1:x",
    "wk:approve::1",
    "wk:approve:a1:1:",
    "wk:approve:a1:1:abab",
    "wk:undo:a1",
    "wk:repeat:a1",
    "wk:undo:a1:1:abab",
    "wk:approve:a1:1:ABABABABABAB",
    "wk:deny:a1:1:abababababab",
    "wk:details:a1:1",
    "wk:details",
    "wk:stop:a1",
    "wk:answer:r1.t1",
    "wk:answer:r1.t1:",
    "wk:constructor:a1",
    "wk:constructor:a1:1",
    "other:approve:a1:1",
  ])("%j is no button of ours", (id) => {
    expect(readButtonAction(id)).toBeUndefined();
  });

  test("is a plan of tasks too: how each ended, and what there is no room for counted", () => {
    const log = createRunProgress();
    for (let at = 0; at < 30; at += 1) {
      const call = `r1.t${at}`;
      log.note({ kind: "tool_started", call, tool: "uptime", args: { name: "a" } });
      const outcome = at === 1 ? "unknown" : at === 2 ? "cancelled" : "ok";
      if (at < 29) log.note({ kind: "tool_finished", call, tool: "uptime", outcome, ms: 5 });
    }
    const { title, tasks } = planOf(log);
    expect(title).toBe("Still looking into it: 30 checks so far");
    expect(tasks).toHaveLength(26);
    expect(tasks.slice(0, 3)).toEqual([
      { id: "r1.t0", title: "uptime name=a · 5 ms", status: "complete" },
      { id: "r1.t1", title: "uptime name=a · unknown · 5 ms", status: "error" },
      { id: "r1.t2", title: "uptime name=a · cancelled · 5 ms", status: "error" },
    ]);
    expect(tasks.at(-1)).toEqual({ id: "more", title: "… 5 more", status: "in_progress" });
  });
});
