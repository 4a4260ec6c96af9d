import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ActionCard } from "../../../src/adapters/shown.ts";
import type { Answerable, Reply } from "../../../src/adapters/terminal/input.ts";
import { readLine } from "../../../src/adapters/terminal/input.ts";
import { HERE, killCard } from "./harness.ts";

type Questions = Record<string, string[]>;

function screen(
  cards: ActionCard[],
  unsettled: string[] = [],
  questions: Questions = {},
): Answerable {
  return {
    thread: HERE,
    open: new Map(cards.map((card) => [card.action, card])),
    unsettled: new Map(unsettled.map((ref) => [ref, 1])),
    questions: new Map(Object.entries(questions)),
  };
}

const nothing = screen([]);
const one = screen([killCard({ revision: 3 })]);
const two = screen([killCard(), killCard({ action: "a2" })]);
const lost = screen([], ["a1"]);
const asked = screen([], [], { q1: ["yes", "no"], q2: ["eu", "us", "2"] });

function choiceOf(reply: Reply): unknown {
  if (reply.kind === "edit" && reply.json !== undefined) {
    return { edit: reply.card.action, json: reply.json };
  }
  return reply.kind === "click" ? { ...reply.click.choice, to: reply.click.action } : reply.kind;
}

describe("a typed line", () => {
  test.each<[string, Answerable, unknown]>([
    ["y", one, { kind: "approve", to: "a1" }],
    ["  Y ", one, { kind: "approve", to: "a1" }],
    ["y a1", one, { kind: "approve", to: "a1" }],
    ["n", one, { kind: "deny", to: "a1" }],
    ["yes", one, { kind: "approve", to: "a1" }],
    ["Yes a1", one, { kind: "approve", to: "a1" }],
    ["no because wrong host", one, { kind: "deny", reason: "wrong host", to: "a1" }],
    ["yes", two, "refused"],
    ["yes please", one, "text"],
    ["no idea", one, "text"],
    ["yes", nothing, "text"],
    // Both wait: the words are for the question, the letters for the card.
    ["yes", screen([killCard()], [], { q1: [] }), "text"],
    ["threads", nothing, "command"],
    ["new", nothing, "command"],
    ["help", one, "command"],
    ["resume 2", nothing, "command"],
    ["details a1", one, "command"],
    ["new deploys since noon?", nothing, "text"],
    ["resume the deploy", nothing, "text"],
    ["help", asked, "text"],
    ["n because wrong host", one, { kind: "deny", reason: "wrong host", to: "a1" }],
    ["n a2 because not now", two, { kind: "deny", reason: "not now", to: "a2" }],
    ["y a2", two, { kind: "approve", to: "a2" }],
    ["e", one, "edit"],
    ['e {"pid":1}', one, { edit: "a1", json: '{"pid":1}' }],
    ['e a1{"pid":1}', one, { edit: "a1", json: '{"pid":1}' }],
    ["e {broken", one, { edit: "a1", json: "{broken" }],
    ["e {} x", one, { edit: "a1", json: "{} x" }],
    ["d", one, "details"],
    ["h", lost, { kind: "settle", happened: true, to: "a1" }],
    [
      "x a1 because I looked",
      lost,
      { kind: "settle", happened: false, reason: "I looked", to: "a1" },
    ],
    ["c", one, { kind: "cancel", to: "a1" }],
    ["C a2", two, { kind: "cancel", to: "a2" }],
    ["c", two, "refused"],
    ["1", asked, { kind: "answer", text: "eu", to: "q2" }],
    [" 3 ", asked, { kind: "answer", text: "2", to: "q2" }],
    // An answer, and the number of another one.
    ["2", asked, "refused"],
    ["2)", asked, { kind: "answer", text: "us", to: "q2" }],
    ["y", two, "refused"],
    ["n because wrong", two, "refused"],
    ["y a7", one, "refused"],
    // Words, not answers.
    ["y", asked, "text"],
    ["quit", asked, "text"],
    ["quit smoking", nothing, "text"],
    ["y please", one, "text"],
    ["y because I say so", one, "text"],
    ["n idea why", one, "text"],
    ["yes, approve a1", one, "text"],
    ["c because I say so", one, "text"],
    ["c++ is slow", one, "text"],
    // A lone letter that answers nothing is for nobody; a word to leave leaves.
    ["y", nothing, "refused"],
    ["c", nothing, "refused"],
    ["y", lost, "refused"],
    ["h", one, "refused"],
    ["quit", one, "command"],
    ["EXIT", nothing, "command"],
    ["1", one, "text"],
    ["4", asked, "text"],
    ["0", asked, "text"],
    ["eu", asked, "text"],
    ["1 of them", asked, "text"],
    ["/model", one, "text"],
    ["/tools", one, "text"],
    ["/threads", one, "command"],
    ["/resume 3", nothing, "command"],
    ["", one, "empty"],
  ])("%j", (line, shown, expected) => {
    expect(choiceOf(readLine(line, shown, shown))).toEqual(expected);
  });

  test("carries the revision that was on the screen when it was begun", () => {
    const newer = screen([killCard({ revision: 4 })]);
    const reply = readLine("y", one, newer);
    expect(reply).toMatchObject({ kind: "click", click: { action: "a1", revision: 3 } });
  });

  test("does not answer what came up while it was typed", () => {
    expect(readLine("y", nothing, one)).toMatchObject({ kind: "refused" });
    expect(readLine("y a2", one, two)).toMatchObject({ kind: "refused" });
    expect(readLine("h", nothing, lost)).toMatchObject({ kind: "refused" });
  });

  test("answers the question that was the newest when it was begun, if that still waits", () => {
    const first = screen([], [], { q1: ["yes", "no"] });
    const second = screen([], [], { q2: ["eu", "us"] });
    expect(readLine("1", first, asked)).toMatchObject({ kind: "click", click: { action: "q1" } });
    expect(readLine("1", nothing, first)).toMatchObject({ kind: "refused" });
    expect(readLine("1", asked, first)).toMatchObject({ kind: "refused" });
    expect(readLine("1", first, second)).toMatchObject({ kind: "refused" });
    expect(readLine("1", first, nothing)).toEqual({ kind: "text", text: "1" });
  });

  test("names the choices when several cards wait", () => {
    expect(readLine("y", two, two)).toMatchObject({
      kind: "refused",
      why: expect.stringContaining("y a1 · y a2"),
    });
  });

  test("approves only when it is y or yes, or that and an action that was on the screen", () => {
    const piece = fc.constantFrom(
      "y",
      "Y",
      "yes",
      "a1",
      "a2",
      "a9",
      "because",
      "ok",
      "{",
      "/",
      " ",
      "\t",
      "n",
      "approve",
    );
    const line = fc.oneof(
      fc.array(piece).map((parts) => parts.join(" ")),
      fc.string(),
    );
    const property = fc.property(
      line,
      fc.constantFrom(nothing, one, two, lost, asked),
      (text, shown) => {
        const reply = readLine(text, shown, shown);
        const approves = reply.kind === "click" && reply.click.choice.kind === "approve";
        const words = text.trim().toLowerCase().split(/\s+/);
        const exact = /^(?:y|yes)$/.test(words[0] ?? "") && words.length <= 2;
        const named = words[1] === undefined ? shown.open.size === 1 : shown.open.has(words[1]);
        expect(approves).toBe(exact && named);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });
});
