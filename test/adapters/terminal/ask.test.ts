import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { ThreadSummary } from "../../../src/adapters/queries.ts";
import type { TerminalView } from "../../../src/adapters/terminal/view.ts";
import { createAsk, readQuestion } from "../../../src/adapters/terminal/ask.ts";
import {
  answerOf,
  HERE,
  killCard,
  NIGHT,
  noticeOf,
  queriesOf,
  summary,
  talkOf,
  THERE,
} from "./harness.ts";

function ask(json = false) {
  const said = { out: "", err: "" };
  const out = new PassThrough();
  const err = new PassThrough();
  out.on("data", (bytes: Buffer) => (said.out += bytes.toString()));
  err.on("data", (bytes: Buffer) => (said.err += bytes.toString()));
  const threads: ThreadSummary[] = [];
  const clock = { now: NIGHT };
  const asked = createAsk({
    key: HERE,
    queries: queriesOf({ threads, history: new Map(), open: [] }),
    account: "terminal:root",
    out,
    err,
    json,
    color: false,
    now: () => clock.now,
  });
  const view = (): TerminalView => {
    const found = asked.view(HERE);
    if (found === undefined) throw new Error("No view");
    return found;
  };
  return { asked, said, out, clock, threads, view };
}

describe("one question", () => {
  test("its answer is all there is on stdout, progress is on stderr, and it exits with 0", async () => {
    const { asked, said, view } = ask();
    const args = { url: "http://a/" };
    view().progress({ kind: "tool_started", call: "r1.t1", tool: "http_check", args });
    view().progress({
      kind: "tool_finished",
      call: "r1.t1",
      tool: "http_check",
      outcome: "ok",
      ms: 34,
    });
    await view().post(answerOf("r1", "200 OK"));
    expect(await asked.finished).toBe(0);
    expect(said.out).toBe("✓ http_check url=http://a/ · 34 ms\n  200 OK\n");
    expect(said.err).toBe("⏳ http_check url=http://a/\n✓ http_check · 34 ms\n");
    expect(asked.view(THERE)).toBeUndefined();
  });

  test("what a command recorded is printed where elsewhere a card shows it", async () => {
    const { asked, said, view } = ask();
    const text = "root opened inc-1. Its card shows it.";
    await view().post({ ...answerOf("r1", "Opened inc-1 Checkout fails.\nStatus: open"), text });
    expect(await asked.finished).toBe(0);
    expect(said.out).toContain("Opened inc-1 Checkout fails.\nStatus: open");
    expect(said.out).not.toContain("Its card");
  });

  test("it exits with 1 when it failed", async () => {
    const { asked, said, view } = ask();
    const failed = { ...answerOf("r1", ""), status: "failed" as const, results: [] };
    await view().post({ ...failed, text: "There is no tool htp_check." });
    expect(await asked.finished).toBe(1);
    expect(said.out).toBe("✗ There is no tool htp_check.\n");
  });

  test("it exits with 3 once every card is shown and no tool runs, and says how to go on", async () => {
    const { asked, said, clock, threads, view } = ask();
    let code: number | undefined;
    void asked.finished.then((exit) => (code = exit));
    const waits = async (): Promise<void> => {
      clock.now += 60_000;
      // More than it takes to look once.
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(code).toBeUndefined();
    };
    threads.push(summary({ openActions: ["a1", "a2"] }));
    await view().postCard(killCard());
    await waits();
    const call = { call: "r1.t1", tool: "http_check" };
    view().progress({ kind: "tool_started", ...call, args: {} });
    await view().postCard(killCard({ action: "a2" }));
    await waits();
    view().progress({ kind: "tool_finished", ...call, outcome: "ok", ms: 1 });
    clock.now += 1_000;
    expect(await asked.finished).toBe(3);
    expect(said.out).toBe("");
    expect(said.err).toContain('│ {"pid":4242,"signal":"SIGTERM"}');
    expect(said.err).toContain("╭─ a2");
    expect(said.err).toContain(`npm start -- --thread ${HERE}\n`);
  });

  test("a notice is no answer: when nothing more comes it exits with 1", async () => {
    const { asked, said, clock, threads, view } = ask();
    threads.push(summary());
    await view().post(noticeOf("Nobody knows about a1.", { settles: "a1" }));
    clock.now += 1_000;
    expect(await asked.finished).toBe(1);
    expect(said.err).toContain("Nobody knows about a1.");
    expect(said.err).toContain(`npm start -- --thread ${HERE}\n`);
  });

  test("--json is one object with status, text, results, open approvals and notices", async () => {
    const answered = ask(true);
    const gaps = { calls: 2, helps: [{ help: "Grant list on pods.", calls: 2 }] };
    answered.threads.push(summary({ gaps }));
    await answered.view().postPrivately("terminal:root", "Look again.");
    await answered.view().post(answerOf("r1", "200 OK"));
    expect(await answered.asked.finished).toBe(0);
    expect(JSON.parse(answered.said.out)).toEqual({
      thread: HERE,
      status: "completed",
      text: null,
      findings: [],
      gaps: [],
      threadGaps: gaps,
      results: [
        {
          call: "r1.t1",
          tool: "http_check",
          args: { url: "http://a/" },
          outcome: "ok",
          text: "200 OK",
          artifacts: [],
          findings: [],
          gaps: [],
          ms: 34,
        },
      ],
      approvals: [],
      questions: [],
      notices: ["Look again."],
    });

    const waiting = ask(true);
    waiting.threads.push(summary({ openActions: ["a1"] }));
    await waiting.view().postCard(killCard());
    waiting.clock.now += 1_000;
    expect(await waiting.asked.finished).toBe(3);
    expect(JSON.parse(waiting.said.out)).toMatchObject({
      status: "needs_approval",
      approvals: [{ action: "a1", args: { pid: 4242, signal: "SIGTERM" } }],
    });
  });

  test("of a model's answer the words are on stdout, the evidence on stderr, the draft nowhere", async () => {
    const { asked, said, view } = ask();
    view().progress({ kind: "thinking", run: "r1", step: 1 });
    view().progress({ kind: "draft", run: "r1", text: "It was" });
    await view().post(talkOf("r1", "It is **up** [T1].", 2));
    expect(await asked.finished).toBe(0);
    expect(said.out).toBe("It is **up** [T1].\n");
    expect(said.err).toBe("[T1] ✓ http_check url=http://a/1 · 34 ms\n+ 1 more check\n");
  });

  test("what was wrapped up at a limit is an answer; stderr says what it is and how to go on", async () => {
    const { asked, said, view } = ask();
    await view().post(talkOf("r1", "It looks full so far.", 0, "wrapped_up"));
    expect(await asked.finished).toBe(0);
    expect(said.out).toBe("It looks full so far.\n");
    expect(said.err).toContain("stopped at a limit");
    expect(said.err).toContain(`npm start -- --thread ${HERE}\n`);
    const json = ask(true);
    await json.view().post(talkOf("r1", "It looks full so far.", 1, "wrapped_up"));
    expect(await json.asked.finished).toBe(0);
    expect(JSON.parse(json.said.out)).toMatchObject({
      status: "wrapped_up",
      text: "It looks full so far.",
      results: [{ call: "r1.t1" }],
    });
  });

  test("it exits with 3 when it was asked back, once that is shown, and says how to go on", async () => {
    for (const json of [false, true]) {
      const { asked, said, clock, threads, view } = ask(json);
      threads.push(summary({ questions: ["r1.t2"] }));
      const asks = { call: "r1.t2", choices: ["web-1", "web-2"] };
      await view().post(noticeOf("Which host?", { asks }));
      clock.now += 1_000;
      expect(await asked.finished).toBe(3);
      expect(said.err).toContain("? Which host?\n  1) web-1\n  2) web-2\n");
      expect(said.err).toContain(`To answer, open the thread:  npm start -- --thread ${HERE}\n`);
      if (!json) continue;
      expect(JSON.parse(said.out)).toMatchObject({
        status: "needs_answer",
        questions: [{ ...asks, text: "Which host?" }],
        notices: [],
      });
    }
  });

  test("it brings the files that it names, and is not asked without one of them", async () => {
    const actor = { account: "terminal:root", name: "root" };
    const text = "what runs? @package.json";
    expect(await readQuestion(text, actor, process.cwd())).toMatchObject({
      kind: "text",
      actor,
      text,
      files: [{ name: "package.json", mediaType: "text/plain" }],
    });
    expect(await readQuestion("what runs?", actor, process.cwd())).toEqual({
      kind: "text",
      actor,
      text: "what runs?",
    });
    await expect(readQuestion("see @gone.png", actor, process.cwd())).rejects.toThrow(
      /gone\.png does not exist/,
    );
  });

  test("a reader that goes away ends it quietly", async () => {
    const { asked, out } = ask();
    out.destroy(new Error("write EPIPE"));
    expect(await asked.finished).toBe(1);
  });
});
