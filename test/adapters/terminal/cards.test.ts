import { describe, expect, test } from "vitest";
import { answerOf, HERE, killCard, NIGHT, noticeOf, sitDown, until } from "./harness.ts";

const LEAVE = "\u0004";
const CTRL_C = "\u0003";

describe("cards", () => {
  test("y approves the revision on the screen, by the person who typed it", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().postCard(killCard({ revision: 2 }));
    person.type("y\r");
    await until(() => person.posts.length === 1);
    expect(person.posts[0]?.inbound).toEqual({
      kind: "click",
      actor: { account: "terminal:root", name: "root" },
      action: "a1",
      revision: 2,
      choice: { kind: "approve" },
      via: "typed",
      digest: "0f0f0f0f0f0f",
    });
    person.type(LEAVE);
    await left;
  });

  test("a card that comes up while y is typed is not approved by it", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    person.type("y");
    await until(() => person.see().endsWith("› y"));
    await person.view().postCard(killCard());
    person.type("\r");
    await until(() => person.see().includes("came up while you were typing"));
    expect(person.posts).toEqual([]);
    person.type("y\r");
    await until(() => person.clicks().length === 1);
    person.type(LEAVE);
    await left;
  });

  test("a revision that comes up while y is typed is not approved by it", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().postCard(killCard());
    person.type("y");
    await until(() => person.see().endsWith("› y"));
    await person.view().updateCard("", killCard({ revision: 2, args: { pid: 1 } }));
    person.type("\r");
    await until(() => person.clicks().length === 1);
    expect(person.clicks()[0]?.revision).toBe(1);
    person.type("y\r");
    await until(() => person.clicks().length === 2);
    expect(person.clicks()[1]?.revision).toBe(2);
    person.type(LEAVE);
    await left;
  });

  test("with several open, y alone is refused and y a2 is not", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().postCard(killCard());
    await person.view().postCard(killCard({ action: "a2" }));
    expect(person.see()).toContain("╰─ y a2 approve · n a2 deny");
    person.type("y\r");
    await until(() => person.see().includes("say which: y a1 · y a2"));
    expect(person.posts).toEqual([]);
    person.type("n a2 because wrong process\r");
    await until(() => person.clicks().length === 1);
    expect(person.clicks()[0]).toMatchObject({
      action: "a2",
      choice: { kind: "deny", reason: "wrong process" },
    });
    person.type(LEAVE);
    await left;
  });

  test("e asks for each argument as it is; what does not fit stays there to be mended", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().postCard(killCard());
    person.type("e\r");
    await until(() => person.see().endsWith("edit a1 pid › 4242"));
    person.type("x\r");
    await until(() => person.see().endsWith("edit a1 signal (SIGTERM|SIGKILL) › SIGTERM"));
    person.type("\r");
    await until(() => person.see().endsWith("edit a1 force (true|false) ›"));
    person.type("true\r");
    await until(() => person.see().endsWith("edit a1 tags 1 ›"));
    person.type("\r");
    await until(() => person.see().includes("pid: write a number such as 30."));
    await until(() => person.see().endsWith("edit a1 pid › 4242x"));
    expect(person.posts).toEqual([]);
    person.type("\u007f\r");
    await until(() => person.see().endsWith("signal (SIGTERM|SIGKILL) › SIGTERM"));
    person.type("\r");
    await until(() => person.see().endsWith("edit a1 force (true|false) › true"));
    person.type("\r");
    await until(() => person.see().endsWith("edit a1 tags 1 ›"));
    person.type("slow one\r");
    await until(() => person.see().endsWith("edit a1 tags 2 ›"));
    person.type("\r");
    await until(() => person.clicks().length === 1);
    expect(person.clicks()[0]).toMatchObject({
      action: "a1",
      revision: 1,
      choice: {
        kind: "edit",
        args: { pid: 4242, signal: "SIGTERM", force: true, tags: ["slow one"] },
      },
    });
    await until(() => person.see().endsWith("\n›"));
    person.type(LEAVE);
    await left;
  });

  test("e with arguments that are no JSON says so and sends nothing", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().postCard(killCard());
    person.type("e {pid: 1}\r");
    await until(() => person.see().includes("not one JSON object"));
    expect(person.see()).toContain("Nothing was sent.");
    expect(person.posts).toEqual([]);
    person.type(LEAVE);
    await left;
  });

  test("an edit that changes nothing, or is given up, sends nothing", async () => {
    const person = sitDown();
    const left = person.open();
    const card = killCard({ args: { pid: 4242 } });
    person.world.open = [card];
    await person.view().postCard(card);
    person.type("e\r");
    for (const field of ["pid", "signal", "force", "tags"]) {
      await until(() => (person.see().split("\n").at(-1) ?? "").startsWith(`edit a1 ${field}`));
      person.type("\r");
    }
    await until(() => person.see().includes("Nothing was changed"));
    person.type("e\r");
    await until(() => person.see().endsWith("edit a1 pid › 4242"));
    person.type(CTRL_C);
    await until(() => person.see().endsWith("\n›"));
    person.type("hello\r");
    await until(() => person.texts().length === 1);
    expect(person.clicks()).toEqual([]);
    person.type(LEAVE);
    await left;
  });

  test("after an edit the new revision is shown whole", async () => {
    const person = sitDown();
    const left = person.open();
    const ref = await person.view().postCard(killCard());
    await person.view().updateCard(ref, killCard({ revision: 2, args: { pid: 7 } }));
    expect(person.see()).toContain("╭─ a1 · DESTRUCTIVE · Run kill_process? · revision 2 ─");
    expect(person.see()).toContain('│ {"pid":7}');
    person.type(LEAVE);
    await left;
  });

  test("what becomes of an action is one line each, and none is repeated", async () => {
    const person = sitDown();
    const left = person.open();
    const view = person.view();
    const votes = [{ name: "root", approve: true, reason: undefined }];
    await view.postCard(killCard());
    await until(() => person.see().endsWith("›"));
    const start = person.see().split("\n").length;
    await view.updateCard("", killCard());
    await view.updateCard("", killCard({ phase: "approved", votes }));
    await view.updateCard("", killCard({ phase: "running", votes }));
    await view.updateCard("", killCard({ phase: "running", votes }));
    const done = { phase: "done", votes, ending: "done in 1.2 s" } as const;
    await view.updateCard("", killCard({ ...done, undo: { state: "offered" } }));
    // Its own card says that it is asked for.
    await view.updateCard("", killCard({ ...done, undo: { state: "asked", by: "root" } }));
    await view.updateCard("", killCard({ ...done, undo: { state: "undone", by: "a2" } }));
    expect(
      person
        .see()
        .split("\n")
        .slice(start - 1),
    ).toEqual([
      "a1 approved by root",
      "a1 running",
      "a1 done in 1.2 s · undo a1 takes it back",
      "a1 done in 1.2 s · undone by a2",
      "›",
    ]);
    person.type("y\r");
    await until(() => person.see().includes("Nothing here waits for that"));
    expect(person.texts()).toEqual([]);
    person.type(LEAVE);
    await left;
  });

  test("an action that was over before it could be shown is told with its tool", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().postCard(killCard({ phase: "expired", ending: "expired" }));
    expect(person.see()).toContain("a1 kill_process expired");
    person.type(LEAVE);
    await left;
  });

  test("h and x settle an outcome that nobody knows, told by the card or by a notice", async () => {
    const person = sitDown();
    const left = person.open();
    await person.view().postCard(killCard({ revision: 2 }));
    await person.view().updateCard("", killCard({ revision: 2, phase: "unknown" }));
    expect(person.see()).toContain("a1 UNKNOWN outcome");
    person.type("h\r");
    await until(() => person.clicks().length === 1);
    await person.view().post(noticeOf("Nobody knows about a1.", { settles: "a1" }));
    expect(person.see()).toContain("h a1 it happened · x a1 it did not");
    person.type("x because the process is there\r");
    await until(() => person.clicks().length === 2);
    expect(person.clicks()).toMatchObject([
      { action: "a1", revision: 2, choice: { kind: "settle", happened: true } },
      {
        action: "a1",
        revision: 2,
        choice: { kind: "settle", happened: false, reason: "the process is there" },
      },
    ]);
    person.type("h\r");
    await until(() => person.see().includes("Nothing here waits for that"));
    expect(person.texts()).toEqual([]);
    person.type(LEAVE);
    await left;
  });
});

describe("a thread that is opened again", () => {
  const said = { kind: "said" as const, name: "root", text: "kill it", at: NIGHT - 60_000 };
  const long = Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n");
  const out = { kind: "out" as const, message: answerOf("r1", long), at: NIGHT - 50_000 };
  const card = { kind: "card" as const, card: killCard(), at: NIGHT - 40_000 };

  test("shows what was said and done, briefly, and its open card whole, ready to be answered", async () => {
    const person = sitDown({ world: { history: new Map([[HERE, [said, out, card]]]) } });
    const left = person.open();
    await person.settled();
    expect(person.see()).toContain(
      "02:29  root › kill it\n02:29  ✓ http_check url=http://a/ · 34 ms",
    );
    expect(person.see()).toContain("line 5\n         … 24 more lines");
    expect(person.see()).toContain('│ {"pid":4242,"signal":"SIGTERM"}');
    person.type("y\r");
    await until(() => person.clicks().length === 1);
    person.type(LEAVE);
    await left;
  });

  test("tells of an action that is approved and about to run in one line", async () => {
    const votes = [{ name: "root", approve: true, reason: undefined }];
    const approved = { ...card, card: killCard({ phase: "approved", votes }) };
    const person = sitDown({ world: { history: new Map([[HERE, [said, approved]]]) } });
    const left = person.open();
    await person.settled();
    expect(person.see()).toContain("02:29  a1 approved by root\n›");
    person.type(LEAVE);
    await left;
  });

  test("does not repeat what the history has shown when it is delivered again", async () => {
    const person = sitDown({ world: { history: new Map([[HERE, [said, out, card]]]) } });
    const left = person.open();
    await person.view().postCard(killCard());
    await person.view().post(answerOf("r1", long));
    await until(() => person.see().endsWith("›"));
    expect(person.see().match(/DESTRUCTIVE/g)).toHaveLength(1);
    expect(person.see().match(/http_check/g)).toHaveLength(1);
    person.type(LEAVE);
    await left;
  });
});
