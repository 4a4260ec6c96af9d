import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { ThreadSummary, View } from "../../../src/adapters/adapter.ts";
import { createAsk } from "../../../src/adapters/terminal/ask.ts";
import { answerOf, HERE, killCard, NIGHT, queriesOf, summary, THERE } from "./harness.ts";

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
  const view = (): View => {
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
    await view().say(answerOf("r1", "200 OK"));
    expect(await asked.finished).toBe(0);
    expect(said.out).toBe("✓ http_check url=http://a/ · 34 ms\n  200 OK\n");
    expect(said.err).toBe("… http_check url=http://a/\n✓ http_check 34 ms\n");
    expect(asked.view(THERE)).toBeUndefined();
  });

  test("it exits with 1 when it failed", async () => {
    const { asked, said, view } = ask();
    const failed = { kind: "answer" as const, run: "r1", status: "failed" as const, results: [] };
    await view().say({ ...failed, text: "There is no tool htp_check." });
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
    await view().card(killCard());
    await waits();
    const call = { call: "r1.t1", tool: "http_check" };
    view().progress({ kind: "tool_started", ...call, args: {} });
    await view().card(killCard({ action: "a2" }));
    await waits();
    view().progress({ kind: "tool_finished", ...call, outcome: "ok", ms: 1 });
    clock.now += 1_000;
    expect(await asked.finished).toBe(3);
    expect(said.out).toBe("");
    expect(said.err).toContain('│ Arguments     {"pid":4242,"signal":"SIGTERM"}');
    expect(said.err).toContain("╭─ a2");
    expect(said.err).toContain(`npm start -- --thread ${HERE}\n`);
  });

  test("a notice is no answer: when nothing more comes it exits with 1", async () => {
    const { asked, said, clock, threads, view } = ask();
    threads.push(summary());
    await view().say({ kind: "notice", text: "Nobody knows about a1.", settles: "a1" });
    clock.now += 1_000;
    expect(await asked.finished).toBe(1);
    expect(said.err).toContain("Nobody knows about a1.");
    expect(said.err).toContain(`npm start -- --thread ${HERE}\n`);
  });

  test("--json is one object with status, text, results, open approvals and notices", async () => {
    const answered = ask(true);
    await answered.view().whisper("terminal:root", "Look again.");
    await answered.view().say(answerOf("r1", "200 OK"));
    expect(await answered.asked.finished).toBe(0);
    expect(JSON.parse(answered.said.out)).toEqual({
      thread: HERE,
      status: "completed",
      text: null,
      results: [
        {
          call: "r1.t1",
          tool: "http_check",
          args: { url: "http://a/" },
          outcome: "ok",
          text: "200 OK",
          artifacts: [],
          ms: 34,
        },
      ],
      approvals: [],
      notices: ["Look again."],
    });

    const waiting = ask(true);
    waiting.threads.push(summary({ openActions: ["a1"] }));
    await waiting.view().card(killCard());
    waiting.clock.now += 1_000;
    expect(await waiting.asked.finished).toBe(3);
    expect(JSON.parse(waiting.said.out)).toMatchObject({
      status: "needs_approval",
      approvals: [{ action: "a1", args: { pid: 4242, signal: "SIGTERM" } }],
    });
  });

  test("a reader that goes away ends it quietly", async () => {
    const { asked, out } = ask();
    out.destroy(new Error("write EPIPE"));
    expect(await asked.finished).toBe(1);
  });
});
