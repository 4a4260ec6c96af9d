import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  joinInlines,
  type Block,
  plainInlines,
  type ShownBlock,
  textOf,
} from "../../../src/adapters/render/rich-text.ts";
import { basicBlocks } from "../../../src/adapters/render/basic.ts";
import { splitBlocks } from "../../../src/adapters/render/split.ts";
import { anyParts } from "../anything.ts";

/** As a platform that takes `max` characters in a message, five more for each part. */
function within(max: number): (parts: readonly ShownBlock[]) => boolean {
  return (parts) => parts.reduce((sum, part) => sum + textOf(part).length + 5, 0) <= max;
}

const text = (words: string): ShownBlock => ({ kind: "text", inlines: [{ text: words }] });
const code = (lines: string): ShownBlock => ({ kind: "code", text: lines });

describe("parts that are too long for one message", () => {
  test("stay together while they fit, and are one message even when there are none", () => {
    expect(splitBlocks([text("a"), code("b")], within(12))).toEqual([[text("a"), code("b")]]);
    expect(splitBlocks([], within(12))).toEqual([[]]);
  });

  test("are cut between parts, else at line ends, else between words, else anywhere", () => {
    expect(splitBlocks([text("abcd"), text("efgh")], within(15))).toEqual([
      [text("abcd")],
      [text("efgh")],
    ]);
    expect(splitBlocks([text("ab cd\nef gh\nij")], within(17))).toEqual([
      [text("ab cd\nef gh\n")],
      [text("ij")],
    ]);
    expect(splitBlocks([text("ab cd ef")], within(12))).toEqual([[text("ab cd ")], [text("ef")]]);
    expect(splitBlocks([text("abcdefgh")], within(10))).toEqual([[text("abcde")], [text("fgh")]]);
    expect(splitBlocks([text("abc😀")], within(9))).toEqual([[text("abc")], [text("😀")]]);
  });

  test("begin in a message that has room, but never with a broken line", () => {
    expect(splitBlocks([text("a"), code("bcd\nefghijklm")], within(16))).toEqual([
      [text("a"), code("bcd\n")],
      [code("efghijklm")],
    ]);
    expect(splitBlocks([text("a"), code("bcdefghijklmnopqrs")], within(20))).toEqual([
      [text("a")],
      [code("bcdefghijklmnop")],
      [code("qrs")],
    ]);
  });

  test("are cut within no emoji, however many parts it has, and within no letter with marks", () => {
    const family = "👨‍👩‍👧‍👦";
    expect(splitBlocks([text(`ab${family}`)], within(16))).toEqual([[text("ab")], [text(family)]]);
    expect(splitBlocks([text("abcde\u0301")], within(10))).toEqual([
      [text("abcd")],
      [text("e\u0301")],
    ]);
  });

  test("keep a heading with what follows it", () => {
    const heading: ShownBlock = { kind: "heading", inlines: [{ text: "hh" }] };
    expect(splitBlocks([text("abcd"), heading, text("efgh")], within(21))).toEqual([
      [text("abcd")],
      [heading, text("efgh")],
    ]);
  });

  test("go on as what they are, a list's line as text", () => {
    const item: ShownBlock = {
      kind: "item",
      depth: 1,
      marker: "3.",
      inlines: [{ text: "abcdefghij" }],
    };
    expect(splitBlocks([item], within(14))).toEqual([
      [{ ...item, inlines: [{ text: "abcdef" }] }],
      [text("ghij")],
    ]);
    const [, second] = splitBlocks([code("ab\ncd")], within(9));
    expect(second).toEqual([code("cd")]);
  });

  test("an action, an address and a time are shown whole or not at all", () => {
    const exact: ShownBlock = { kind: "exact", text: "x".repeat(20) };
    expect(() => splitBlocks([exact], within(24))).toThrow(/20 characters cannot be shown whole/);
    expect(splitBlocks([text("a\nb"), exact], within(25))).toEqual([[text("a\nb")], [exact]]);
    const url = "https://ours/123";
    const parts: ShownBlock[] = [{ kind: "text", inlines: [{ text: "see" }, { text: url, url }] }];
    expect(splitBlocks(parts, within(22))).toEqual([
      [text("see")],
      [{ kind: "text", inlines: [{ text: url, url }] }],
    ]);
  });

  test("whatever they are, every message fits and joined they are the same", () => {
    const property = fc.property(anyParts, fc.integer({ min: 60, max: 200 }), (parts, max) => {
      fc.pre(parts.every((part) => part.kind !== "exact" || part.text.length < max - 5));
      const messages = splitBlocks(basicBlocks(parts, 100), within(max));
      const isFitting = messages.every(within(max));
      const styles = (all: readonly Block[]) =>
        joinInlines(
          all.flatMap((part) =>
            "inlines" in part ? part.inlines : [{ text: textOf(part), code: true }],
          ),
        );
      const kinds = messages.flat().map(({ kind }) => kind);
      const isKind = kinds.every(
        (kind) => kind === "text" || parts.some((part) => part.kind === kind),
      );
      expect([isFitting, isKind]).toEqual([true, true]);
      expect(styles(messages.flat())).toEqual(styles(basicBlocks(parts, 100)));
    });
    fc.assert(property, { numRuns: 5_000, seed: 4 });
  });
});

describe("plain text", () => {
  test("has its addresses apart, without what ends a sentence", () => {
    expect(
      plainInlines("see http://a/b_c, (https://ours/d).", (url) => url.includes("ours")),
    ).toEqual([
      { text: "see " },
      { text: "http://a/b_c", code: true },
      { text: ", (" },
      { text: "https://ours/d", url: "https://ours/d" },
      { text: ")." },
    ]);
    expect(plainInlines("", () => true)).toEqual([]);
  });
});
