import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  answerOf,
  HERE,
  killCard,
  noticeOf,
  NIGHT,
  sitDown,
  summary,
  talkOf,
  until,
} from "./harness.ts";

const LEAVE = "\u0004";
const CTRL_C = "\u0003";
const ASKS = { call: "r1.t2", choices: ["web-1", "web-2"] };

/** The last lines on the screen. */
function last(person: { see: () => string }, count: number): string[] {
  return person.see().split("\n").slice(-count);
}

describe("what a model writes, while it writes", () => {
  test("is shown as it streams, its end only, and replaced by the answer", async () => {
    const person = sitDown({ columns: 40 });
    const left = person.open();
    await person.settled();
    const start = person.see().split("\n").length;
    const view = person.view();
    view.progress({ kind: "thinking", run: "r1", step: 3 });
    person.clock.now += 12_000;
    await until(() => person.see().includes("thinking · step 3 12 s\n›"));
    const draft = Array.from({ length: 30 }, (_, at) => `line ${at}\tof it`).join("\n");
    view.progress({ kind: "draft", run: "r1", text: `${draft} and a last line that is too long` });
    await until(() => person.see().includes("too long"));
    expect(last(person, 10)).toEqual([
      expect.stringContaining(" writing · step 3 12 s"),
      ...[23, 24, 25, 26, 27, 28].map((at) => `  line ${at}  of it`),
      "  line 29  of it and a last line that",
      "  is too long",
      "›",
    ]);
    person.type("meanwhile");
    await until(() => person.see().endsWith("› meanwhile"));
    await view.post(talkOf("r1", "All is **well**.", 0));
    expect(
      person
        .see()
        .split("\n")
        .slice(start - 1),
    ).toEqual(["All is **well**.", "› meanwhile"]);
    person.type(`\u0015${LEAVE}`);
    await left;
  });

  test("stands above what the run has used, and near a limit how it may use more", async () => {
    const person = sitDown({ columns: 80 });
    const left = person.open();
    await person.settled();
    const meter = {
      budget: { steps: 30, tokens: 400_000, minutes: 15 },
      steps: 25,
      tokens: 140_000,
      money: { microdollars: 420_000, unpriced: 0 },
      workMs: 180_000,
      extendedBy: [],
      extension: { number: 1, more: { steps: 15, tokens: 200_000, minutes: 7.5 } },
    };
    person.view().progress({ kind: "thinking", run: "r1", step: 26, meter });
    await until(() => person.see().includes("thinking"));
    expect(last(person, 4)).toEqual([
      expect.stringContaining(" thinking 0 s"),
      "  25 of 30 steps · 140k of 400k tokens · $0.42 · 3 of 15 min",
      "  Type `extend` to let it use more: up to 15 steps, 200k tokens",
      "›",
    ]);
    person.type(LEAVE);
    await left;
  });

  test("is taken away when nothing of it stands, and does not come back once the run is answered", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    const before = person.see();
    const view = person.view();
    view.progress({ kind: "thinking", run: "r1", step: 1 });
    view.progress({ kind: "draft", run: "r1", text: "All is lost" });
    await until(() => person.see().includes("All is lost"));
    view.progress({ kind: "draft", run: "r1", text: "" });
    await until(() => !person.see().includes("All is lost"));
    expect(person.see()).toContain("thinking");
    await view.post(talkOf("r1", "All is well", 0));
    view.progress({ kind: "draft", run: "r1", text: "All is lo" });
    view.progress({ kind: "thinking", run: "r1", step: 2 });
    await view.post(noticeOf("Good night."));
    expect(person.see()).toBe(`${before.slice(0, -1)}All is well\n• Good night.\n›`);
    person.type(LEAVE);
    await left;
  });

  test("is drawn no oftener than ten times a second, however fast and long it is", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    const view = person.view();
    view.progress({ kind: "thinking", run: "r1", step: 1 });
    const before = person.raw().length;
    const started = performance.now();
    let text = "";
    for (let at = 0; at < 2_000; at += 1) {
      text += "word ".repeat(20);
      view.progress({ kind: "draft", run: "r1", text: `${text} ${at}` });
      if (at % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await until(() => person.see().includes(" 1999"));
    const draws = (performance.now() - started) / 100 + 1;
    expect(person.raw().length - before).toBeLessThan(draws * 1_500);
    person.type(LEAVE);
    await left;
  });

  test("is nothing to be stopped when it was void before it was heard of", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    person.view().progress({ kind: "draft", run: "r1", text: "" });
    person.type(CTRL_C);
    await until(() => person.see().includes("Ctrl-D or /exit to leave"));
    expect(person.posts).toEqual([]);
    person.type(LEAVE);
    await left;
  });

  test("ends with a card, for the model waits then, and Ctrl-C stops it before", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    person.view().progress({ kind: "thinking", run: "r1", step: 1 });
    person.type(CTRL_C);
    await until(() => person.posts.length === 1);
    expect(person.posts[0]?.inbound.kind).toBe("stop");
    await person.view().postCard(killCard());
    expect(person.see()).not.toContain("thinking");
    person.type(CTRL_C);
    await until(() => person.see().includes("Ctrl-D or /exit to leave"));
    person.type(LEAVE);
    await left;
  });

  test("is not printed at all where nothing can be redrawn", async () => {
    const person = sitDown({ interactive: false });
    const left = person.open();
    await person.view().postPrivately("terminal:root", "ready");
    const before = person.see();
    person.view().progress({ kind: "thinking", run: "r1", step: 1 });
    person.view().progress({ kind: "draft", run: "r1", text: "All is" });
    await person.view().post(talkOf("r1", "# All\n\n*is* [well](http://x)", 0));
    expect(person.see()).toBe(`${before}# All\n\n*is* [well](http://x)\n`);
    person.clock.now += 10_000;
    person.input.end();
    await left;
  });
});

describe("a model's answer", () => {
  test("has a line for each result that it cites, and counts the others", async () => {
    const person = sitDown();
    const left = person.open();
    const answer = talkOf("r1", "It is up [T4], and was [T2][T4]. [T9]", 5);
    const [first, ...others] = answer.results;
    if (first === undefined) throw new Error("No results");
    const artifacts = [{ id: "9f3a", bytes: 70_000 }];
    const results = [{ ...first, outcome: "error" as const, artifacts }, ...others];
    await person.view().post({ ...answer, results });
    expect(last(person, 6)).toEqual([
      "It is up [T4], and was [T2][T4]. [T9]",
      "",
      "[T2] ✓ http_check url=http://a/2 · 34 ms",
      "[T4] ✓ http_check url=http://a/4 · 34 ms",
      "+ 3 more checks (1 failed or didn't run)",
      "›",
    ]);
    await person.view().post(talkOf("r2", "It is up.", 1));
    expect(last(person, 4)).toEqual(["It is up.", "", "1 check, not cited", "›"]);
    person.type(LEAVE);
    await left;
  });

  test("is rendered with colours, and as it was written without", async () => {
    for (const color of [true, false]) {
      const person = sitDown({ color });
      const left = person.open();
      await person.view().post(talkOf("r1", "## Up\n\n- **all** [T1]"));
      const shown = color ? "Up\n• all [T1]\n" : "## Up\n\n- **all** [T1]\n";
      expect(person.see()).toContain(`${shown}\n[T1] ✓ http_check`);
      person.type(LEAVE);
      await left;
    }
  });

  test("is rendered, briefly, when the thread is opened again", async () => {
    const message = talkOf("r1", `**Full** [T2]\n${"- more\n".repeat(20)}`, 3);
    const history = new Map([[HERE, [{ kind: "out" as const, message, at: NIGHT }]]]);
    const person = sitDown({ color: true, world: { history } });
    const left = person.open();
    await person.settled();
    expect(person.see()).toContain("02:30  Full [T2]\n       • more\n");
    expect(person.see()).toContain("… 15 more lines\n\n       [T2] ✓ http_check");
    await person.view().post(message);
    expect(person.see().match(/Full/g)).toHaveLength(1);
    person.type(LEAVE);
    await left;
  });

  test("that was wrapped up at a limit, or failed, begins with a sign", async () => {
    const person = sitDown({ color: true });
    const left = person.open();
    const text = "It looks full.\n\n- `du` is next";
    await person.view().post(talkOf("r1", text, 0, "wrapped_up"));
    expect(person.see()).toContain("⚠ It looks full.\n• du is next\n");
    expect(person.raw()).toContain("⚠ It looks");
    await person.view().post(talkOf("r2", "The model is away.", 0, "failed"));
    expect(person.see()).toContain("✗ The model is away.\n");
    person.type(LEAVE);
    await left;
  });

  test("without words tells what was called, not all that it put out", async () => {
    const person = sitDown();
    const left = person.open();
    const stopped = talkOf("r1", "", 2, "cancelled");
    await person.view().post({ ...stopped, text: undefined });
    expect(last(person, 4)).toEqual([
      "⏹ cancelled",
      "✓ http_check url=http://a/1 · 34 ms",
      "✓ http_check url=http://a/2 · 34 ms",
      "›",
    ]);
    person.type(LEAVE);
    await left;
  });
});

describe("a question of the model's", () => {
  const waiting = summary({ questions: ["r1.t2"] });

  test("is shown with its choices, and a number answers it", async () => {
    const person = sitDown({ columns: 40, world: { threads: [waiting] } });
    const left = person.open();
    await person.settled();
    const choices = ["web-1, which takes all of the traffic at the moment", "web-2"];
    await person.view().post(noticeOf("Which host?", { asks: { call: "r1.t2", choices } }));
    expect(last(person, 6)).toEqual([
      "? Which host?",
      "  1) web-1, which takes all of the",
      "     traffic at the moment",
      "  2) web-2",
      "  Type 1–2, or answer in your own words.",
      "›",
    ]);
    person.type("2\r");
    await until(() => person.posts.length === 1);
    expect(person.posts[0]?.inbound).toEqual({
      kind: "click",
      actor: { account: "terminal:root", name: "root" },
      action: "r1.t2",
      revision: 1,
      choice: { kind: "answer", text: "web-2" },
      via: "typed",
    });
    // It was answered here: a number is a number again.
    person.type("2\r");
    await until(() => person.texts().length === 1);
    person.type(LEAVE);
    await left;
  });

  test("is answered by words as well; a number after that is no answer any more", async () => {
    const person = sitDown({ world: { threads: [waiting] } });
    const left = person.open();
    await person.view().post(noticeOf("Which host?", { asks: ASKS }));
    person.type("the one in Madrid\r3\r");
    await until(() => person.texts().length === 2);
    person.world.threads = [summary()];
    person.type("1\r");
    await until(() => person.texts().length === 3);
    expect(person.texts()).toEqual(["the one in Madrid", "3", "1"]);
    expect(person.clicks()).toEqual([]);
    person.type(LEAVE);
    await left;
  });

  test("that comes up while a number is typed is not answered by it", async () => {
    const person = sitDown({ world: { threads: [waiting] } });
    const left = person.open();
    await person.settled();
    person.type("1");
    await until(() => person.see().endsWith("› 1"));
    await person.view().post(noticeOf("Which host?", { asks: ASKS }));
    person.type("\r");
    await until(() => person.see().includes("There is another question now, so nothing was sent"));
    expect(person.posts).toEqual([]);
    person.type("1\r");
    await until(() => person.clicks().length === 1);
    person.type(LEAVE);
    await left;
  });

  test("is there again when the thread is opened again", async () => {
    const message = noticeOf("Which host?", { asks: ASKS });
    const history = new Map([[HERE, [{ kind: "out" as const, message, at: NIGHT }]]]);
    const person = sitDown({ world: { threads: [waiting], history } });
    const left = person.open();
    await person.settled();
    expect(person.see()).toContain("02:30  ? Which host?\n         1) web-1\n");
    person.type("/threads\r");
    await until(() => person.see().includes("waits: a question · this one"));
    person.type("1\r");
    await until(() => person.clicks().length === 1);
    person.type(LEAVE);
    await left;
  });

  test("ends a pipe, for only a person can go on, once it is shown and not before", async () => {
    const person = sitDown({ interactive: false, world: { threads: [waiting] } });
    const left = person.open();
    let ended = false;
    void left.then(() => (ended = true));
    person.input.end("which host is it?\n");
    await until(() => person.posts.length === 1);
    person.clock.now += 60_000;
    await until(() => (person.world.looks ?? 0) > 1);
    expect(ended).toBe(false);
    await person.view().post(noticeOf("Which host?", { asks: ASKS }));
    person.clock.now += 1_000;
    expect(await left).toBeUndefined();
  });
});

describe("words that wait for an action", () => {
  test("say which, and c cancels it and lets them be answered", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().postCard(killCard({ revision: 2 }));
    await person.view().post(noticeOf("What you wrote waits for a1.", { holds: ["a1"] }));
    expect(last(person, 3)).toEqual(["• What you wrote waits for a1.", "  c a1 withdraws it", "›"]);
    person.type("c\rc a1\r");
    await until(() => person.clicks().length === 2);
    expect(person.clicks()).toMatchObject([
      { action: "a1", revision: 2, choice: { kind: "cancel" }, via: "typed" },
      { action: "a1", revision: 2, choice: { kind: "cancel" }, via: "typed" },
    ]);
    person.type(LEAVE);
    await left;
  });
});

describe("files in what is typed", () => {
  test("travel with the text, which names them still; without one of them nothing is sent", async () => {
    const folder = await mkdtemp(join(tmpdir(), "watchkeeper-talk-"));
    const path = join(folder, "app.log");
    await writeFile(path, "out of memory");
    const person = sitDown({ columns: 200 });
    const left = person.open();
    person.type(`see @${path}\r`);
    await until(() => person.posts.length === 1);
    expect(person.posts[0]?.inbound).toEqual({
      kind: "text",
      actor: { account: "terminal:root", name: "root" },
      text: `see @${path}`,
      address: { direct: true },
      files: [{ name: "app.log", mediaType: "text/plain", bytes: Buffer.from("out of memory") }],
    });
    person.type(`see @${path} and @${folder}/gone.png\r`);
    await until(() => person.see().endsWith(`› see @${path} and @${folder}/gone.png`));
    expect(person.see()).toContain("gone.png). Nothing was sent.");
    expect(person.posts).toHaveLength(1);
    person.type(`\u0015${LEAVE}`);
    await left;
    await rm(folder, { recursive: true });
  });
});

test("/model is the thread's own: sent as typed, told of by /help, completed by Tab", async () => {
  const person = sitDown();
  const left = person.open();
  person.type("/help\r");
  await until(() => person.see().includes("/model"));
  person.type("/m\t");
  await until(() => person.see().endsWith("› /model"));
  person.type("anthropic/claude\r/model\r");
  await until(() => person.texts().length === 3);
  // What else can be asked the thread says itself.
  expect(person.texts()).toEqual(["help", "/model anthropic/claude", "/model"]);
  person.type(LEAVE);
  await left;
});

test("a direct command's answer is shown with its output, as it is", async () => {
  const person = sitDown({ color: true });
  const left = person.open();
  await person.view().post(answerOf("r1", "# no heading\n**no bold** [T1]"));
  expect(person.see()).toContain("34 ms\n  # no heading\n  **no bold** [T1]\n");
  person.type(LEAVE);
  await left;
});
