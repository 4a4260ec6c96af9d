import { describe, expect, test } from "vitest";
import { BotError } from "../../../src/core/errors.ts";
import { answerOf, HERE, killCard, noticeOf, sitDown, summary, until } from "./harness.ts";

const LEAVE = "\u0004";
const CTRL_C = "\u0003";
const NOTICE = noticeOf("Held until a1 is decided.");

describe("a conversation in the terminal", () => {
  test("begins a new thread with what this is and where help is", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    expect(person.see()).toMatchInlineSnapshot(`
      "Watchkeeper · new thread 3f2a91c4
      I check your servers and services with real tools and ask before any change.
      help shows what you can type, exit leaves.
      ›"
    `);
    person.type(LEAVE);
    expect(await left).toBeUndefined();
  });

  test("posts each line under an id of its own, as text", async () => {
    const person = sitDown();
    const left = person.open();
    person.type("run http_check url=http://a/\rrun http_check url=http://a/\r  /tools\r");
    await until(() => person.posts.length === 3);
    expect(person.texts()).toEqual([
      "run http_check url=http://a/",
      "run http_check url=http://a/",
      "/tools",
    ]);
    expect(new Set(person.posts.map((post) => post.id)).size).toBe(3);
    expect(person.posts[0]).toMatchObject({
      key: HERE,
      inbound: { actor: { account: "terminal:root", name: "root" } },
    });
    person.type(LEAVE);
    await left;
  });

  test("prints answers above what is being typed, which stays", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    person.type("run http_check url=http://a/\rnext ques");
    await until(() => person.posts.length === 1);
    await person.view().post(answerOf("r1", "200 OK\nserver: nginx"));
    person.type("tion");
    await until(() => person.see().endsWith("question"));
    expect(person.see().split("\n").slice(-5)).toEqual([
      "› run http_check url=http://a/",
      "✓ http_check url=http://a/ · 34 ms",
      "  200 OK",
      "  server: nginx",
      "› next question",
    ]);
    person.type(`\u0015${LEAVE}`);
    await left;
  });

  test("shows running tools as live lines, and leaves none behind, whatever is typed", async () => {
    const person = sitDown({ columns: 40 });
    const left = person.open();
    await person.settled();
    const start = person.see().split("\n").length;
    const view = person.view();
    const args = { url: "http://example.internal/health" };
    view.progress({ kind: "tool_started", call: "c1", tool: "http_check", args });
    view.progress({ kind: "tool_started", call: "c2", tool: "tcp_check", args: {} });
    await until(() => person.see().includes("tcp_check 0 s"));
    person.type("a text of several rows, pasted at once while two tools are running, not yet sent");
    await until(() => person.see().endsWith("not yet se\nnt"));
    expect(person.see()).toContain("http_check url=http://example.in… 0 s");
    view.progress({ kind: "tool_finished", call: "c1", tool: "http_check", outcome: "ok", ms: 5 });
    await view.post(answerOf("r1", "200 OK"));
    person.type("\r\n");
    await until(() => person.posts.length === 1);
    view.progress({ kind: "tool_finished", call: "c2", tool: "tcp_check", outcome: "ok", ms: 5 });
    await view.post(NOTICE);
    expect(
      person
        .see()
        .split("\n")
        .slice(start - 1),
    ).toEqual([
      "✓ http_check url=http://a/ · 34 ms",
      "  200 OK",
      "› a text of several rows, pasted at once",
      " while two tools are running, not yet se",
      "nt",
      "• Held until a1 is decided.",
      "›",
    ]);
    person.type(LEAVE);
    await left;
  });

  test("says how a call ended, how long it took, and where the rest of its output is", async () => {
    const person = sitDown();
    const left = person.open();
    const call = { call: "r1.t1", tool: "read_log", args: { unit: "nginx" }, ms: 1234 };
    const artifacts = [{ id: "9f3a", bytes: 70_000 }];
    const results = [
      { ...call, outcome: "error" as const, text: "cut\n", artifacts, findings: [], gaps: [] },
    ];
    const view = person.view();
    const failed = { ...answerOf("r1", ""), status: "failed" as const };
    await view.post({ ...failed, results });
    await view.post({ ...failed, run: "r2", text: "No such tool.", results: [] });
    await view.post({ ...answerOf("r3", ""), text: "All well.", results });
    expect(person.see()).toContain(
      "✗ read_log unit=nginx · error · 1.2 s\n  cut\n  All of it (68.4 KiB): output r1.t1\n✗ No such tool.\nAll well.\n✗ read_log unit=nginx · error · 1.2 s\n  All of it",
    );
    person.type(LEAVE);
    await left;
  });

  test("shows that it is worked on until something is heard", async () => {
    const person = sitDown();
    const left = person.open();
    person.type("why is it slow\r");
    await until(() => person.posts.length === 1);
    person.clock.now += 3_000;
    await until(() => person.see().includes("working 3 s\n›"));
    await person.view().postPrivately("terminal:root", "Nobody knows.");
    expect(person.see()).not.toContain("working");
    expect(person.see()).toContain("• Nobody knows.");
    person.type(LEAVE);
    await left;
  });

  test("puts back into the line what could not be sent, and says why", async () => {
    let broken = true;
    const full = new BotError("STORE_FULL", "The disk is full.");
    const person = sitDown({ refuse: () => (broken ? full : undefined) });
    const left = person.open();
    person.type("run http_check url=http://a/\r");
    await until(() => person.see().endsWith("› run http_check url=http://a/"));
    expect(person.see()).toContain("✗ not sent: The disk is full.");
    broken = false;
    person.type("\r");
    await until(() => person.texts().length === 1);
    person.type(LEAVE);
    await left;
  });

  test("colours only when asked to", async () => {
    for (const color of [true, false]) {
      const person = sitDown({ color });
      const left = person.open();
      await person.view().postCard(killCard());
      expect(person.raw().includes("\u001b[31m")).toBe(color);
      expect(person.see()).toContain("DESTRUCTIVE");
      person.type(LEAVE);
      await left;
    }
  });

  test("says that a message was delivered twice, for print cannot be taken back", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().delete(await person.view().post(answerOf("r1", "200 OK")));
    expect(person.see()).toContain("delivered twice");
    person.type(LEAVE);
    await left;
  });
});

describe("stopping and leaving", () => {
  test("Ctrl-C stops what is running, once; /stop does too", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    person.view().progress({ kind: "tool_started", call: "c1", tool: "http_check", args: {} });
    person.type(CTRL_C);
    await until(() => person.posts.length === 1);
    person.type(CTRL_C);
    await until(() => person.see().includes("Still stopping"));
    person.type("/stop\r");
    await until(() => person.posts.length === 2);
    expect(person.posts.map((post) => post.inbound.kind)).toEqual(["stop", "stop"]);
    person.type(LEAVE);
    await left;
  });

  test("Ctrl-C empties the line; on an empty one it says how to leave; the next one leaves", async () => {
    const person = sitDown();
    const left = person.open();
    person.type("half a thought");
    await until(() => person.see().endsWith("thought"));
    person.type(CTRL_C);
    await until(() => person.see().endsWith("\n›"));
    person.type(CTRL_C);
    await until(() => person.see().includes("Ctrl-D or /exit to leave"));
    person.type(CTRL_C);
    expect(await left).toBeUndefined();
    expect(person.posts).toEqual([]);
  });

  test("/exit leaves; what is said afterwards is refused, so that nothing counts as shown", async () => {
    const person = sitDown();
    const left = person.open();
    const view = person.view();
    person.type("/exit\r");
    expect(await left).toBeUndefined();
    expect(person.terminal.view(HERE)).toBeUndefined();
    await expect(view.post(NOTICE)).rejects.toThrow(BotError);
  });

  test("a terminal that goes away ends the conversation quietly", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    const view = person.view();
    person.output.destroy(new Error("write EPIPE"));
    expect(await left).toBeUndefined();
    await expect(view.post(NOTICE)).rejects.toThrow(BotError);
  });
});

describe("without a terminal", () => {
  test("each line is one input, and it ends when all that was asked is answered", async () => {
    const person = sitDown({ interactive: false });
    const left = person.open();
    let ended = false;
    void left.then(() => (ended = true));
    person.world.threads = [summary({ open: true })];
    person.input.end("run http_check url=http://a/\ntools");
    await until(() => person.posts.length === 2);
    const view = person.view();
    view.progress({
      kind: "tool_started",
      call: "r1.t1",
      tool: "http_check",
      args: { url: "http://a/" },
    });
    person.clock.now += 60_000;
    expect(ended).toBe(false);
    view.progress({
      kind: "tool_finished",
      call: "r1.t1",
      tool: "http_check",
      outcome: "ok",
      ms: 34,
    });
    await view.post(answerOf("r1", "200 OK"));
    person.world.threads = [summary({ open: false })];
    person.clock.now += 1_000;
    expect(await left).toBeUndefined();
    expect(person.see().split("\n").slice(3)).toEqual([
      "⏳ http_check url=http://a/",
      "✓ http_check · 34 ms",
      "✓ http_check url=http://a/ · 34 ms",
      "  200 OK",
      "",
    ]);
    expect(person.raw()).not.toContain("\u001b");
  });

  test("it ends when only a person can go on, and not before the card is shown", async () => {
    const person = sitDown({ interactive: false });
    const left = person.open();
    let ended = false;
    void left.then(() => (ended = true));
    person.world.threads = [summary({ openActions: ["a1"] })];
    person.input.end("run kill_process pid=4242\n");
    await until(() => person.posts.length === 1);
    person.clock.now += 60_000;
    await until(() => (person.world.looks ?? 0) > 1);
    expect(ended).toBe(false);
    await person.view().postCard(killCard());
    person.clock.now += 1_000;
    expect(await left).toBeUndefined();
    expect(person.see()).toContain("DESTRUCTIVE");
  });

  test("it ends at once when nobody reads what it prints, though work is open", async () => {
    const person = sitDown({ interactive: false, world: { threads: [summary({ open: true })] } });
    const left = person.open();
    person.type("run http_check url=http://a/\n");
    await until(() => person.posts.length === 1);
    person.output.destroy(new Error("write EPIPE"));
    expect(await left).toBeUndefined();
  });

  test("loses no line of a long pipe, and keeps their order", async () => {
    const person = sitDown({ interactive: false });
    const left = person.open();
    const lines = Array.from({ length: 1_000 }, (_, at) => `run http_check url=http://a/${at}`);
    person.input.end(lines.join("\n"));
    await until(() => person.posts.length === lines.length);
    expect(person.texts()).toEqual(lines);
    person.clock.now += 2_500;
    expect(await left).toBeUndefined();
  });

  test("words that have no answer do not keep it for ever", async () => {
    const person = sitDown({ interactive: false, world: { threads: [summary()] } });
    const left = person.open();
    person.input.end("stop\n");
    await until(() => person.posts.length === 1);
    person.clock.now += 2_500;
    expect(await left).toBeUndefined();
  });

  test("answers to cards are read from it as well, arguments and all", async () => {
    const person = sitDown({ interactive: false, world: { threads: [summary()] } });
    const left = person.open();
    await person.view().postCard(killCard());
    person.type("e\n");
    await until(() => person.see().includes("type the arguments too"));
    person.input.end('e a1 {"pid":7}\nn a1 because no\n');
    await until(() => person.clicks().length === 2);
    expect(person.clicks().map((click) => click.choice.kind)).toEqual(["edit", "deny"]);
    person.clock.now += 2_500;
    await left;
  });
});

test("everyone at a terminal is a member, alone, and in no group", async () => {
  const { terminal } = sitDown();
  expect(terminal.transport).toBe("terminal");
  expect(terminal.singleOperator).toBe(true);
  expect(await terminal.people.membership("terminal:root", HERE)).toBe("member");
  expect(await terminal.people.members("slack:group:S0SRE")).toBeUndefined();
  expect(await terminal.people.everyone(HERE)).toEqual(["terminal:root"]);
});
