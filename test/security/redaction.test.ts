import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { cleanText, encodeText } from "../../src/security/sanitize.ts";
import { createRedactor } from "../../src/security/redaction.ts";
import { TRANSFORMS, ENCODINGS } from "./encodings.ts";
import { privateKey } from "./redaction-samples.ts";
import { seeded } from "../core/seeded.ts";
import { cpuMs } from "../cpu-time.ts";

const SLOW_MS = 120_000;
const nothingHeld = createRedactor([]);

/** Values as people and generators make them: at least six characters without the space around them. */
const heldValue = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 60, unit: "grapheme-ascii" }),
    fc.string({ minLength: 6, maxLength: 40, unit: "binary" }),
    fc
      .array(
        fc.constantFrom(
          ..."a b Z 0 9 - _ . / + = ~ ! @ # $ % ^ & * ( ) { } [ ] < > | ; : ' \" \\ ` é 日 \u{1f44d}".split(
            " ",
          ),
          ..."%41 \\n ''' \\\\\\ &amp; u0041 x41 nn".split(" "),
          " ",
          "\n",
          "\t",
        ),
        { minLength: 6, maxLength: 30 },
      )
      .map((parts) => parts.join("")),
  )
  .map((value) => cleanText(value).trim())
  .filter((value) => value.length >= 6 && !"[secret:DB_KEY]".includes(value));

describe("held secrets", () => {
  test(
    "a held value is found however programs write it down, and whatever they make of it",
    () => {
      const random = seeded(1);
      const ways = Object.entries({ ...ENCODINGS, ...TRANSFORMS });
      fc.assert(
        fc.property(heldValue, (value) => {
          const redactor = createRedactor([{ name: "DB_KEY", value }]);
          for (const [way, encode] of ways) {
            const text = `before ${encode(value, random)} after`;
            const shown = redactor.redact(text);
            expect(redactor.find(text), way).toContain("DB_KEY");
            expect(shown, way).toContain("[secret:DB_KEY]");
            expect(shown, way).not.toContain(value);
          }
        }),
        { numRuns: 80, seed: 1 },
      );
    },
    SLOW_MS,
  );

  test("a value is found where a terminal wrapped it, and in lines of a file", () => {
    const key = privateKey(seeded(2), "OPAQUE THING");
    const redactor = createRedactor([
      { name: "TOKEN", value: "a1b2c3d4e5f6g7h8" },
      { name: "KEY", value: key },
    ]);
    expect(redactor.redact("x a1b2c3\nd4e5f6g7h8 y\na1b2c3d4e5f6\\\n  g7h8 z")).toBe(
      "x [secret:TOKEN] y\n[secret:TOKEN] z",
    );
    expect(redactor.redact(`key: |\n${key.replaceAll(/^/gm, "    ")}\nnext: 1`)).toBe(
      "key: |\n    [secret:KEY]\nnext: 1",
    );
    expect(redactor.redact(`<${JSON.stringify(key)}>`)).toBe('<"[secret:KEY]">');
    expect(redactor.redact(encodeURIComponent(key.replaceAll("\n", "\r\n")))).toBe("[secret:KEY]");
    expect(redactor.redact(`<${Buffer.from(key).toString("base64")}>`)).toMatch(
      /^<\[secret:KEY\]\w?=*>$/,
    );
  });

  test("a value is found in another case, and letter by letter with space between", () => {
    const value = "Zt9-qLw27_xKfPz4RbNcTy83HmVd";
    const redactor = createRedactor([{ name: "KEY", value }]);
    for (const text of [
      value.toUpperCase(),
      value.toLowerCase(),
      Array.from(value).join(" "),
      Array.from(value).join("\n"),
    ]) {
      expect(redactor.redact(`a ${text} b`)).toBe("a [secret:KEY] b");
    }
    const short = createRedactor([{ name: "WORD", value: "Summer" }]);
    expect(short.redact("in summer, SUMMER, Sum mer")).toBe("in summer, SUMMER, Sum mer");
  });

  test("od's own dumps of a file show nothing of a value, in the columns of text neither", async () => {
    const value = "Zt9-qLw27_xKfPz4RbNcTy83HmVdSa6EjUoGi1Qls";
    const folder = await mkdtemp(join(tmpdir(), "dumps-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "env");
    await writeFile(file, `MODE=prod\nX=${value}\nNEXT=1\n`);
    const redactor = createRedactor([{ name: "KEY", value }]);
    for (const options of [["-c"], ["-x"], ["-tx1"], ["-tx1z"], ["-b"], [], ["-An", "-tu1"]]) {
      const { stdout } = await promisify(execFile)("od", [...options, file]);
      const shown = redactor.redact(stdout);
      const rest = shown.replaceAll(/\[secret:KEY\]/g, "");
      expect(rest.length, shown).toBeLessThan(stdout.length / 2 + 60);
      expect(shown.match(/\[secret:KEY\]/g)?.length ?? 0).toBeGreaterThan(0);
      expect(rest).not.toMatch(/qLw27|RbNcTy|q {3}L {3}w|71 4c|4c71|161 114/);
    }
  });

  test("a value too short to look for is named instead", () => {
    const redactor = createRedactor([
      { name: "PIN", value: " 12345 " },
      { name: "OK", value: "123456" },
    ]);
    expect(redactor.ignored).toEqual(["PIN"]);
    expect(redactor.redact("12345 1234567")).toBe("12345 [secret:OK]7");
  });

  test("values that overlap, contain or follow each other leave nothing behind", () => {
    const redactor = createRedactor([
      { name: "A", value: "abcdef123456" },
      { name: "B", value: "123456ghijkl" },
      { name: "C", value: "secret" },
    ]);
    expect(redactor.redact("abcdef123456ghijkl")).toBe("[secret:A]");
    expect(redactor.redact("abcdef123456abcdef123456")).toBe("[secret:A]");
    expect(redactor.redact(redactor.redact("secret 123456ghijkl"))).toBe("[secret:C] [secret:B]");
    expect(redactor.redact("[secret:hunter] [secret:abcdef123456]")).toBe(
      "[[secret:C]:hunter] [[secret:C]:[secret:A]]",
    );
  });

  test("a value with invisible characters in the text or in itself is found in encoded text", () => {
    const redactor = createRedactor([{ name: "KEY", value: "hunt\u200der-of\u00ad-2026" }]);
    for (const hidden of ["\u200b", "\u001b[7m", "\u009bm", "\u{e0061}", "\u0000", "\u202e"]) {
      expect(encodeText(`is hunter${hidden}-of-20${hidden}26.`, redactor)).toBe("is [secret:KEY].");
    }
  });
});

/** Words, marks and beginnings from which texts are put together that nearly have secrets in them. */
const FRAGMENTS = [
  'password secret token api_key = : " \\" \' , ; { } [ ] ( ) & ? | < > \\ / - -- . @ :// $ % abc123 x9!k hunter2 eyJhbGciOiJI',
  "[secret: [secret:named] [secret:KEY] ] sk-ant- ghp_ AKIA xoxb- glpat- hvs. SG. npm_ ya29. Bearer Basic dXNlcjpwYXNz Cookie: Authorization:",
  "-----BEGIN -----END PRIVATE KEY----- kind: Secret data: value name: login mysql curl -u -p redis-cli machine twilio value99 held-value",
  "ABCDEFGHIJ234567 0123456789abcdef0123456789abcdef aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]
  .flatMap((line) => line.split(" "))
  .concat(" ", "\n", "\t", "  ", "\\n", "=", ": ", "\u200b", "é", "\ud800");

const nearlySecret = fc
  .array(fc.constantFrom(...FRAGMENTS), { maxLength: 30 })
  .map((parts) => parts.join(""));

describe("a redactor", () => {
  const redactor = createRedactor([
    { name: "KEY", value: "held-value" },
    { name: "secret", value: "value99" },
  ]);

  test(
    "redacts once: what it has redacted it leaves as it is",
    () => {
      fc.assert(
        fc.property(fc.oneof(nearlySecret, fc.string({ unit: "binary" })), (text) => {
          const once = redactor.redact(text);
          expect(redactor.redact(once)).toBe(once);
          const encoded = encodeText(text, redactor);
          expect(encodeText(encoded, redactor)).toBe(encoded);
          expect(once).not.toContain("held-value");
        }),
        { numRuns: 4_000, seed: 4 },
      );
    },
    SLOW_MS,
  );

  test(
    "takes time in proportion to the text, however it is made",
    async () => {
      const awkward = createRedactor([
        { name: "KEY", value: "held-value" },
        { name: "QUOTES", value: `${'"$'.repeat(12)}x` },
        { name: "SPACES", value: `${"a \n".repeat(12)}x` },
      ]);
      for (const piece of [
        'a \n|a  \n\n|\\\\\\\\\\"\\\\\\$|a|\\|"|\'|-|/|:|=|[|password|password="|password=\\"|password |--password |"password",|-pass: ',
        "://a:|://a|eyJ|eyJaaaaaaaaaa.|-----BEGIN PRIVATE KEY-----|-----END PRIVATE KEY-----|aaaa\n|name: password\n",
        "AKIAAAAAAAAAAAAAAAAA,|a:a@tcp(|accesskey:|Set-Cookie: a=|curl a -u b|[secret:|token a|data:\n  a|held-valu",
      ].flatMap((line) => line.split("|"))) {
        const text = piece.repeat(Math.ceil(80_000 / piece.length));
        const spent = await cpuMs(() => awkward.redact(text));
        expect(spent, JSON.stringify(piece)).toBeLessThan(4_000);
      }
    },
    SLOW_MS,
  );
});

test("a text that cannot be checked is not shown", () => {
  expect(nothingHeld.redact(`log ghp_${"a".repeat(12_000_000)} x`)).toBe("[secret:unchecked]");
});
