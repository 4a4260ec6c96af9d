import { describe, expect, test } from "vitest";
import { HERE, killCard, NIGHT, sitDown, summary, THERE, until } from "./harness.ts";

const LEAVE = "\u0004";

describe("this screen's own commands", () => {
  const threads = [
    summary({ title: "run kill_process", openActions: ["a1"], open: true }),
    summary({ key: THERE, title: "why is it slow", lastAt: NIGHT - 3 * 3_600_000, leased: true }),
  ];

  test("/threads lists them, and /resume goes to one by number or the beginning of its key", async () => {
    const person = sitDown({ world: { threads } });
    for (const wanted of ["2", "77aa", THERE]) {
      const next = person.open();
      person.type("/threads\r");
      await until(() =>
        person.see().includes("3f2a91c4   1 min  run kill_process  waits: a1 · this one"),
      );
      expect(person.see()).toContain("2  77aa00bb     3 h  why is it slow  in use");
      person.type(`/resume ${wanted}\r`);
      expect(await next).toBe(THERE);
    }
    const left = person.open(THERE);
    person.type("/resume 9\r/resume 77aa\r");
    await until(() => person.see().includes("No thread 9"));
    await until(() => person.see().includes("You are in that thread already."));
    expect(person.posts).toEqual([]);
    person.type(LEAVE);
    await left;
  });

  test("what was typed for one thread's card does not answer another's", async () => {
    const card = killCard({ key: THERE, args: { pid: 1 } });
    const history = new Map([[THERE, [{ kind: "card" as const, card, at: NIGHT }]]]);
    const person = sitDown({ world: { threads, history } });
    const next = person.open();
    await person.view().postCard(killCard());
    person.type("/resume 77aa\ry\r");
    expect(await next).toBe(THERE);
    const left = person.open(THERE);
    await until(() => person.see().includes("came up while you were typing"));
    expect(person.posts).toEqual([]);
    person.type(LEAVE);
    await left;
  });

  test("/new begins another thread", async () => {
    const person = sitDown();
    const next = person.open();
    person.type("/new\r");
    expect(await next).toMatch(/^terminal:[0-9a-f-]{36}$/);
    expect(person.terminal.view(HERE)).toBeUndefined();
    person.type(LEAVE);
    expect(await person.open(THERE)).toBeUndefined();
  });

  test("/approvals, /details and /help tell, and the thread's own help follows; a card in another thread is not approved from here", async () => {
    const elsewhere = killCard({ key: THERE, action: "a3" });
    const person = sitDown({ world: { open: [killCard(), elsewhere] } });
    const left = person.open();
    person.type("/approvals\r");
    await until(() => person.see().includes("/resume 77aa00bb"));
    expect(person.see()).toContain("in this thread");
    person.type("/details a1\r/details a3\r/help\r");
    await until(() => person.see().includes("run <tool> name=value"));
    expect(person.see()).toContain("0f".repeat(32));
    expect(person.see()).toContain("There is no action a3");
    expect(person.see()).toContain("Tools: http_check, kill_process");
    expect(person.texts()).toEqual(["help"]);
    person.type(LEAVE);
    await left;
  });

  test("quit leaves, and the AI never hears of it", async () => {
    const person = sitDown();
    const left = person.open();
    person.type("quit\r");
    expect(await left).toBeUndefined();
    expect(person.texts()).toEqual([]);
  });

  test("Tab completes commands and tools, and never draws over the screen", async () => {
    const person = sitDown();
    const left = person.open();
    person.type("run k\t");
    await until(() => person.see().endsWith("› run kill_process"));
    person.type("\u0015/");
    for (let presses = 0; presses < 3; presses += 1) {
      await until(() => person.see().endsWith("› /"));
      person.type("\t");
    }
    person.type("re\t");
    await until(() => person.see().endsWith("› /resume"));
    expect(person.see().split("\n")).toHaveLength(4);
    person.type(`\u0015${LEAVE}`);
    await left;
  });
});
