import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../src/core/block.ts";
import { type Chunk, chunksOf, sectionsIn } from "../../src/core/text-chunks.ts";
import { sectionsOf } from "../../src/memory/texts.ts";

const words = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 300, maxLength: 400 }) },
    { weight: 3, arbitrary: fc.constantFrom(". ", "! ", "?\n", "\n\n", "\r\n", " ", "。", "👨‍👩‍👧‍👦") },
  ),
  { maxLength: 30, size: "max" },
);
const texts = words.map((parts) => parts.join(" "));
const sizes = fc.integer({ min: 64, max: 200 }).chain((tokens) =>
  fc.record({
    tokens: fc.constant(tokens),
    overlap: fc.integer({ min: 0, max: Math.floor(tokens / 2) }),
  }),
);

/** The text without what each chunk repeats. */
function joined(chunks: readonly Chunk[]): string {
  let end = 0;
  let text = "";
  for (const chunk of chunks) {
    text += chunk.text.slice(end - chunk.start);
    end = chunk.end;
  }
  return text;
}

describe("chunks of any text", () => {
  test("lose nothing, repeat no more than they may, and hold no more tokens than allowed", () => {
    fc.assert(
      fc.property(texts, sizes, (text, size) => {
        const chunks = chunksOf(text, size);
        expect(joined(chunks)).toBe(text);
        for (const [i, chunk] of chunks.entries()) {
          const last = chunks[i - 1] ?? { start: -1, end: 0 };
          expect(chunk.text).toBe(text.slice(chunk.start, chunk.end));
          expect(estimateTokens(chunk.text)).toBeLessThanOrEqual(size.tokens);
          expect(chunk.start).toBeGreaterThan(last.start);
          expect(chunk.start).toBeLessThanOrEqual(last.end);
          expect(estimateTokens(text.slice(chunk.start, last.end))).toBeLessThanOrEqual(
            size.overlap,
          );
          expect(chunk.end).toBeGreaterThan(last.end);
        }
      }),
    );
  });

  test("part nothing that is read as one character", () => {
    fc.assert(
      fc.property(texts, sizes, (text, size) => {
        const whole = new Set([...new Intl.Segmenter("en").segment(text)].map((c) => c.index));
        for (const { start } of chunksOf(text, size)) expect(whole).toContain(start);
      }),
    );
  });

  test("part no pair of surrogates of a character that is built to be endless", () => {
    const zalgo = `😀${"\u0301".repeat(2_000)}`.repeat(3);
    const chunks = chunksOf(zalgo, { tokens: 64, overlap: 32 });
    expect(joined(chunks)).toBe(zalgo);
    for (const { text } of chunks) expect(text.isWellFormed()).toBe(true);
  });
});

describe("a chunk", () => {
  const sentence = (n: number) =>
    `Sentence ${n} says that node ${n} was drained before it failed. `;
  const prose = Array.from({ length: 40 }, (_, i) => sentence(i)).join("");

  test("ends behind a sentence, and the next begins with one that it repeats", () => {
    const chunks = chunksOf(prose, { tokens: 100, overlap: 20 });
    expect(chunks.length).toBeGreaterThan(5);
    for (const { text } of chunks) {
      expect(text).toMatch(/^Sentence /);
      expect(text).toMatch(/failed\. $/);
    }
    expect(chunks[1]?.start).toBeLessThan(chunks[0]?.end ?? 0);
  });

  test("ends behind sentences of writing without spaces too", () => {
    const japanese = "ノードが失敗しました。".repeat(60);
    for (const { text } of chunksOf(japanese, { tokens: 64 })) expect(text).toMatch(/。$/);
  });

  test("ends behind a word where no sentence ends", () => {
    const chunks = chunksOf("word ".repeat(300), { tokens: 64, overlap: 8 });
    for (const { text } of chunks) expect(text).toMatch(/^(?:word )+$/);
  });

  test("has a size that can be made", () => {
    for (const size of [{ tokens: 63 }, { tokens: NaN }, { tokens: 100, overlap: 51 }])
      expect(() => chunksOf("text", size)).toThrow(RangeError);
    expect(chunksOf("", { tokens: 64 })).toEqual([]);
  });
});

describe("sections of a Markdown text", () => {
  test("joined are the text, whatever it is", () => {
    const lines = fc.constantFrom(
      "# a",
      "### b #",
      "```",
      "~~~~",
      "```sh",
      "text",
      "",
      " ## c",
      "\r",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(lines, fc.string())), (parts) => {
        const text = parts.join("\n");
        const sections = sectionsIn(text);
        expect(sections.map((section) => section.text).join("")).toBe(text);
        for (const { start, end, text: own } of sections) expect(own).toBe(text.slice(start, end));
      }),
    );
  });

  test("begin with their headings, and no comment in a code block is one", () => {
    const runbook =
      "Intro\n# Pods ##\n```sh\n# list them\nkubectl get pods\n```\n## Nodes\n#hash\n#### Deep\n";
    expect(sectionsIn(runbook, 3).map(({ heading }) => heading)).toEqual([
      undefined,
      "Pods",
      "Nodes",
    ]);
    expect(sectionsOf("k8s", runbook).map(({ at }) => at)).toEqual([
      "k8s",
      "k8s: Pods",
      "k8s: Nodes",
    ]);
  });

  test("that are long are found in parts, none of which begins within a character", () => {
    const parts = sectionsOf("cities", `# Cities\n${"👍🏽".repeat(1_500)}`);
    expect(parts.length).toBeGreaterThan(2);
    for (const { at, text } of parts) {
      expect(at).toBe("cities: Cities");
      expect(text).toMatch(/^(?:# Cities\n)?(?:👍🏽)*$/u);
    }
  });
});
