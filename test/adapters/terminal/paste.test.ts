import { PassThrough } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_PASTE_CHARACTERS, readKeys } from "../../../src/adapters/terminal/paste.ts";
import { killCard, noticeOf, sitDown, until } from "./harness.ts";

const BEGIN = "\u001b[200~";
const END = "\u001b[201~";
const LEAVE = "\u0004";
const pasted = (text: string) => `${BEGIN}${text}${END}`;

async function withCard() {
  const person = sitDown();
  const left = person.open();
  await person.settled();
  await person.view().postCard(killCard());
  return {
    ...person,
    async leave() {
      person.type(`\u0015${LEAVE}`);
      await left;
    },
  };
}

describe("a paste in the terminal", () => {
  test("is asked for while a thread is open, and no longer after", async () => {
    const person = sitDown();
    const left = person.open();
    await person.settled();
    expect(person.raw()).toContain("\u001b[?2004h");
    person.type(LEAVE);
    await left;
    expect(person.raw().lastIndexOf("\u001b[?2004l")).toBeGreaterThan(
      person.raw().lastIndexOf("\u001b[?2004h"),
    );
  });

  test("of several lines is one message, which Enter sends, and approves no card", async () => {
    const person = await withCard();
    person.type(pasted("Are you sure?\r\ny\r\nthanks\r\n"));
    await until(() => person.see().endsWith("› [pasted 1: 3 lines]"));
    expect(person.posts).toEqual([]);
    person.type("\r");
    await until(() => person.posts.length > 0);
    expect(person.posts.map(({ inbound }) => inbound)).toMatchObject([
      { kind: "text", text: "Are you sure?\ny\nthanks", pasted: true },
    ]);
    expect(person.clicks()).toEqual([]);
    await person.leave();
  });

  test("stands among what is typed, and several are told apart", async () => {
    const person = await withCard();
    person.type(`why? ${pasted("a\nb")} and ${pasted("c\n\td")} or ${pasted("plain")}\r`);
    await until(() => person.posts.length > 0);
    expect(person.texts()).toEqual(["why? a\nb and c\n\td or plain"]);
    expect(person.see()).toContain("why? [pasted 1: 2 lines] and [pasted 2: 2 lines] or plain");
    await person.leave();
  });

  test.each(["y", "n", "n because no", "e", 'e {"pid":1}', "c a1", " y "])(
    "of %j decides no card, also with Enter",
    async (text) => {
      const person = await withCard();
      person.type(`${pasted(text)}\r`);
      await until(() => person.see().includes("Pasted text can't approve"));
      expect(person.posts).toEqual([]);
      await person.leave();
    },
  );

  test("of a choice's number or a settlement's letter answers nothing", async () => {
    const person = await withCard();
    const asks = { call: "r1.t2", choices: ["web-1", "web-2"] };
    await person.view().post(noticeOf("Which one?", { asks }));
    await person.view().post(noticeOf("Did it happen?", { settles: "a7" }));
    for (const text of ["2", "h", "x"]) person.type(`${pasted(text)}\r`);
    await until(() => person.see().split("Pasted text can't approve").length === 4);
    expect(person.posts).toEqual([]);
    await person.leave();
  });

  test("that was deleted again leaves what is typed then", async () => {
    const person = await withCard();
    person.type(`${pasted("y")}\u0015`);
    person.type("y\r");
    await until(() => person.clicks().length > 0);
    expect(person.clicks()).toMatchObject([{ action: "a1", choice: { kind: "approve" } }]);
    await person.leave();
  });

  test("may be a command, such as a thread's address or a check", async () => {
    const person = await withCard();
    person.type(`${pasted("run disk_usage")}\r`);
    await until(() => person.posts.length > 0);
    expect(person.texts()).toEqual(["run disk_usage"]);
    await person.leave();
  });
});

describe("keys and pastes", () => {
  async function read(chunks: readonly string[]) {
    const input = new PassThrough();
    const pastes: string[] = [];
    const keys = readKeys(input, (paste) => pastes.push(paste.text));
    let typed = "";
    keys.on("data", (bytes: Buffer) => (typed += bytes.toString()));
    const { promise, resolve } = Promise.withResolvers<void>();
    keys.on("end", () => resolve());
    for (const chunk of chunks) input.write(chunk);
    input.end();
    await promise;
    return { typed, pastes };
  }

  test("are told apart wherever the terminal's bytes are cut", async () => {
    const text = fc.string({
      unit: fc.constantFrom("y", "é", "✓", "\r", "\n", "\u001b", "["),
      maxLength: 8,
    });
    const part = fc.oneof(fc.record({ typed: text }), fc.record({ pasted: text }));
    const whole = (parts: readonly ({ typed: string } | { pasted: string })[]) =>
      parts.map((each) => ("typed" in each ? each.typed : pasted(each.pasted))).join("");
    await fc.assert(
      fc.asyncProperty(fc.array(part), fc.array(fc.nat(60)), async (parts, cuts) => {
        // Whatever the parts say in sum: the same as in one piece.
        const sent = whole(parts);
        const places = [0, ...cuts.map((cut) => Math.min(cut, sent.length)), sent.length];
        const sorted = places.toSorted((a, b) => a - b);
        const chunks = sorted.slice(1).map((to, at) => sent.slice(sorted[at], to));
        // An escape that comes alone is the key, not a mark's beginning.
        fc.pre(!chunks.includes("\u001b"));
        expect(await read(chunks)).toEqual(await read([sent]));
      }),
      { numRuns: 200 },
    );
    expect(await read([`a${pasted("b\r")}c`])).toEqual({ typed: "ac", pastes: ["b\r"] });
  });

  test("of a paste without end nothing is typed, and what is too long is cut and said to be", async () => {
    expect(await read([`a${BEGIN}y\r`, "y\r"])).toEqual({ typed: "a", pastes: [] });
    const { pastes } = await read([pasted("x".repeat(MAX_PASTE_CHARACTERS + 5))]);
    expect(pastes.map(({ length }) => length)).toEqual([MAX_PASTE_CHARACTERS]);
  });

  test("hold no lone Escape back", async () => {
    const input = new PassThrough();
    const keys = readKeys(input, () => {});
    let typed = "";
    keys.on("data", (bytes: Buffer) => (typed += bytes.toString()));
    for (const key of ["a", "\u001b", "b"]) input.write(key);
    await until(() => typed.endsWith("b"));
    expect(typed).toBe("a\u001bb");
    keys.destroy();
  });
});
