import { describe, expect, test } from "vitest";
import { characterEnd, characterStart } from "../../src/core/characters.ts";
import { capText } from "../../src/core/text.ts";

const FAMILY = "👨‍👩‍👧‍👦";

describe("a cut", () => {
  test.each(["ab", `a${FAMILY}b`, "e\u0301x", "👍🏽👍🏽", "🇪🇸🇫🇷", "数据"])(
    "never parts what is read as one character: %s",
    (text) => {
      const ends = [...new Intl.Segmenter("en").segment(text)].map(({ index }) => index);
      const whole = new Set([...ends, text.length]);
      for (let at = 0; at <= text.length; at += 1) {
        expect(whole).toContain(characterStart(text, at));
        expect(whole).toContain(characterEnd(text, at));
      }
    },
  );

  test("goes on where a character is built to be endless, and parts no pair of surrogates", () => {
    const endless = `😀${"\u0301".repeat(300)}`;
    expect(characterEnd(endless, 200)).toBe(200);
    expect(characterEnd("😀😀", 1)).toBe(0);
    expect(characterStart("😀😀", 1)).toBe(2);
  });

  test("in the middle of a long text leaves whole characters on both sides", () => {
    for (let room = 60; room < 160; room += 1) {
      const capped = capText(FAMILY.repeat(20), room);
      expect(Buffer.byteLength(capped)).toBeLessThanOrEqual(room);
      expect(capped.replaceAll(FAMILY, "")).toMatch(/^\n\[… \d+ bytes omitted …\]\n$/);
    }
  });
});
