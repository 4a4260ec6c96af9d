import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BotError } from "../../../src/core/errors.ts";
import { readArtifact } from "../../../src/tools/thread/read-artifact.ts";
import type { ToolContext } from "../../../src/tools/tool.ts";
import { idleContext } from "../../fakes/tool-context.ts";

function contextOf(artifacts: Record<string, string | Uint8Array>): ToolContext {
  return idleContext({
    async readArtifact(id) {
      const found = artifacts[id];
      if (found === undefined) throw new BotError("ARTIFACT_UNKNOWN", `no ${id}`);
      return Buffer.from(found);
    },
  });
}

async function read(text: string | Uint8Array, args: Record<string, unknown> = {}) {
  const input = readArtifact.input.parse({ id: "a", ...args });
  const output = await readArtifact.run(input, contextOf({ a: text }));
  const [conclusion = "", ...lines] = output.text.split("\n");
  return { conclusion, lines, bytes: Buffer.byteLength(output.text), failed: output.failed };
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`);

describe("reading an artifact", () => {
  test("gives a range of its lines, and says how to go on", async () => {
    const text = `${numbers(250).join("\n")}\n`;
    const first = await read(text);
    expect(first.conclusion).toBe("Lines 1 to 100 of the 250 of a; fromLine=101 goes on.");
    expect(first.lines).toEqual(numbers(100));
    const last = await read(text, { fromLine: 249 });
    expect(last).toMatchObject({
      conclusion: "Lines 249 to 250 of the 250 of a.",
      lines: ["line 249", "line 250"],
    });
    expect(await read(text, { fromLine: 251 })).toMatchObject({
      conclusion: "a has 250 lines only.",
      failed: true,
    });
  });

  test("keeps a page to what a small window keeps of a result", async () => {
    const input = readArtifact.input.parse({ id: "a", lines: 2_000 });
    const context = { ...contextOf({ a: numbers(1_000).join("\n") }), maxBytes: 4_096 };
    const { text } = await readArtifact.run(input, context);
    expect(Buffer.byteLength(text)).toBeLessThan(4_096);
    expect(text).toMatch(/^Lines 1 to \d+ of the 1000 of a; fromLine=\d+ goes on\./);
  });

  test("page by page gives all of it, whatever it is, and no page is cut again", async () => {
    const line = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.nat(30_000).map((length) => "é".repeat(length)),
    );
    const lines = fc.array(
      line.map((one) => one.replaceAll(/[\n\0]/g, " ")),
      { minLength: 1 },
    );
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 2_000 }), async (all, most) => {
        const text = all.join("\n").toWellFormed();
        let whole = "";
        let fromLine: number | undefined = 1;
        while (fromLine !== undefined) {
          const page = await read(text, { fromLine, lines: most });
          expect(page.bytes).toBeLessThan(16_000);
          whole += page.lines.join("");
          const next = /fromLine=(\d+)/.exec(page.conclusion)?.[1];
          fromLine = next === undefined ? undefined : Number(next);
        }
        expect(whole).toBe(text.replaceAll("\n", ""));
      }),
      { numRuns: 50 },
    );
  });

  test("finds the lines that match, with their numbers, and goes on where it stopped", async () => {
    const text = numbers(3_000).join("\n");
    const found = await read(text, { grep: "LINE 1\\d?0$", ignoreCase: true });
    expect(found.lines).toEqual(
      ["10", "100", "110", "120", "130", "140", "150", "160", "170", "180", "190"].map(
        (n) => `${n}: line ${n}`,
      ),
    );
    expect(found.conclusion).toBe(
      '11 lines of a match "LINE 1\\\\d?0$"; lines 1 to 3000 of its 3000 were searched.',
    );
    const seen: string[] = [];
    let fromLine: number | undefined = 1;
    while (fromLine !== undefined) {
      const page = await read(text, { grep: "\\d$", lines: 2_000, fromLine });
      expect(page.bytes).toBeLessThan(16_000);
      seen.push(...page.lines);
      const next = /fromLine=(\d+)/.exec(page.conclusion)?.[1];
      fromLine = next === undefined ? undefined : Number(next);
    }
    expect(seen).toEqual(numbers(3_000).map((line, i) => `${i + 1}: ${line}`));
    const two = await read(text, { grep: "7", lines: 2, fromLine: 8 });
    expect(two.lines).toEqual(["17: line 17", "27: line 27"]);
    expect(two.conclusion).toContain(
      "lines 8 to 27 of its 3000 were searched; fromLine=28 goes on",
    );
  });

  test("says what is wrong with a pattern", async () => {
    await expect(read("x", { grep: "(" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test("says of what is no text that it is none, and of what is not there that it is not", async () => {
    const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
    for (const [bytes, is] of [
      [Uint8Array.from(png), "image/png"],
      [Uint8Array.from([1, 0, 2]), "binary data"],
    ] as const) {
      expect(await read(bytes)).toMatchObject({
        conclusion: `a is ${is}, which cannot be read as text.`,
        failed: true,
      });
    }
    const input = readArtifact.input.parse({ id: "b" });
    await expect(readArtifact.run(input, contextOf({ a: "x" }))).rejects.toMatchObject({
      code: "ARTIFACT_UNKNOWN",
    });
  });
});
