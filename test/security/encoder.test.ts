import fc from "fast-check";
import { expect, test } from "vitest";
import { createEncoder } from "../../src/security/encoder.ts";
import { cleanText } from "../../src/security/sanitize.ts";

/** Of a held value that no more than this may come out. */
const MOST_SHOWN = 4;

/** The longest run of the value's characters that stands in the text. */
function shownOf(value: string, text: string): number {
  let most = 0;
  for (let at = 0; at < value.length; at += 1) {
    while (text.includes(value.slice(at, at + most + 1)) && at + most < value.length) most += 1;
  }
  return most;
}

/** Values as issuers and people make them, over letters that the text around them has not. */
const held = fc.oneof(
  fc.string({
    unit: fc.constantFrom(...Array.from("abcdef0123456789")),
    minLength: 8,
    maxLength: 200,
  }),
  fc.string({
    unit: fc.constantFrom(...Array.from("AbCdEf/+-_= 12")),
    minLength: 8,
    maxLength: 80,
  }),
  fc
    .array(
      fc.string({
        unit: fc.constantFrom(...Array.from("ABCDEFabcdef12")),
        minLength: 64,
        maxLength: 64,
      }),
      {
        minLength: 2,
        maxLength: 8,
      },
    )
    .map((lines) => `BEGIN\n${lines.join("\n")}\nEND`),
);
const carried = held.map((value) => cleanText(value).trim()).filter((value) => value.length >= 8);
const around = fc
  .tuple(fc.constantFrom("z", "z ", "zz.zz\n", "ü", "\u{1f600}"), fc.nat({ max: 1_500 }))
  .map(([piece, count]) => piece.repeat(count));

const cuts = fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 6, maxLength: 6 });

test("wherever a text is cut, no more than four characters of a held value come out", () => {
  fc.assert(
    fc.property(carried, around, around, cuts, (value, left, right, places) => {
      const encoder = createEncoder([{ name: "HELD", value }]);
      const text = `${left}${value}${right}`;
      // Somewhere in the value, and anywhere.
      const within = places.map(([a, b]) => [left.length + (a % value.length), b]);
      for (const pair of [...places, ...within]) {
        const ends = pair.map((place) => place % (text.length + 1));
        const [from = 0, to = 0] = ends.toSorted((x, y) => x - y);
        const cut = { before: from !== 0, behind: to !== text.length };
        for (const piece of [
          encoder.encodeCut(text.slice(from, to), cut),
          encoder.encodeWithin(text, from, to),
        ]) {
          expect(shownOf(value, piece)).toBeLessThanOrEqual(MOST_SHOWN);
        }
      }
    }),
    { numRuns: 50, seed: 8 },
  );
}, 60_000);

test("pieces that meet give the whole text, whatever lies where they meet", () => {
  fc.assert(
    fc.property(carried, around, around, cuts, (value, left, right, places) => {
      const encoder = createEncoder([{ name: "HELD", value }]);
      const text = `${left}${value}${right}`;
      const whole = encoder.encode(text);
      for (const [place] of places) {
        const at = place % (text.length + 1);
        const pieces = [
          encoder.encodeWithin(text, 0, at),
          encoder.encodeWithin(text, at, text.length),
        ];
        // What lies across is told of on both sides.
        expect(pieces.join("").replace(/(\[secret:\w+\])\1/, "$1")).toBe(whole);
      }
    }),
    { numRuns: 20, seed: 9 },
  );
}, 60_000);

test("a cut never parts the two halves of a character", () => {
  const encoder = createEncoder([]);
  for (const length of [3_000, 3_001]) {
    const text = "\u{1f600}".repeat(length).slice(length % 2);
    for (const cut of [
      { before: true, behind: false },
      { before: false, behind: true },
    ]) {
      expect(encoder.encodeCut(text, cut).isWellFormed()).toBe(true);
    }
  }
});

test("a token too long to be looked for is not learned, so that nobody uses it", () => {
  const encoder = createEncoder([]);
  const learn = () => encoder.learn({ name: "TOKEN", value: "x".repeat(8_193) });
  expect(learn).toThrow("The value of TOKEN is longer than 8 KiB");
  expect(encoder.held).toEqual([]);
});

test("a token that is still used outlasts those that are not", () => {
  const encoder = createEncoder([]);
  const token = (number: number) => ({ name: "token", value: `token-number-${number}-of-many` });
  encoder.learn(token(0));
  for (let number = 1; number <= 30; number++) {
    encoder.learn(token(number));
    encoder.learn(token(0));
  }
  const shown = (number: number) => encoder.encode(`(${token(number).value})`);
  expect(shown(0)).not.toContain(token(0).value);
  expect(shown(1)).toContain(token(1).value);
});
