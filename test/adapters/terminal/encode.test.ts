import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMarkdown } from "../../../src/adapters/render/markdown.ts";
import { terminalLines } from "../../../src/adapters/terminal/encode.ts";
import { createPaint } from "../../../src/adapters/terminal/style.ts";
import { widthOf } from "../../../src/adapters/terminal/wrap.ts";
import { NIGHT } from "./harness.ts";
import { cpuMs } from "../../cpu-time.ts";

async function shown(source: string, columns = 60, color = false): Promise<string> {
  const look = { paint: createPaint(color), columns, now: NIGHT, rich: true };
  return terminalLines(await readMarkdown(source, () => false), look).join("\n");
}

const ANSWER = `
## CONFIRMED: /var is full
The disk on **/var** is at *100 %* since 02:11, for \`nginx\` logs are [not rotated](http://docs.internal/rotate "how") [T1].

1. Free space:
   \`\`\`bash
   journalctl --vacuum-size=200M --rotate && find /var/log/nginx -name '*.gz' -delete
   \`\`\`
2. Then look at logrotate, whose timer has been off since the upgrade of last week
   - [x] timer found
   - [ ] timer enabled

| mount | used | free |
|:------|-----:|:----:|
| /var | 100 % | 0 |
| /srv/数据 | 41 % | 118 GB |

> whoever was on call
> said so

![chart](http://internal/x.png)
***
`.trim();

const PIECES =
  '** _ ` ``` [ ]( ) ]:· < > | |-|-|¶ ¶ ¶¶ -· 1.· ··· #· a b7 http://h/ <!-- --> \\ &#27; é ! [T1] ***¶ ===¶ ~~ → " [x]· 数'
    .split(" ")
    .map((piece) => piece.replaceAll("·", " ").replaceAll("¶", "\n").replaceAll("→", "\t"));

test("a time says how far away it is, before it and after it: a start that lies back did not pass", () => {
  const look = { paint: createPaint(false), columns: 80, now: NIGHT, rich: true };
  const line = (text: string, at: number) =>
    terminalLines([{ kind: "small", inlines: [{ text }, { text: "x", at }] }], look).join("");
  expect(line("since ", NIGHT - 12 * 60_000)).toMatch(/^since \d\d:\d\d \(12 min ago\)$/);
  expect(line("expires ", NIGHT + 12 * 60_000)).toMatch(/^expires \d\d:\d\d \(in 12 min\)$/);
});

describe("a model's Markdown", () => {
  test("is laid out for a terminal (golden)", async () => {
    expect(await shown(ANSWER)).toBe(
      `
CONFIRMED: /var is full
The disk on /var is at 100 % since 02:11, for nginx logs are
not rotated http://docs.internal/rotate "how" [T1].
1. Free space:
     bash
     journalctl --vacuum-size=200M --rotate && find /var/log/nginx -name '*.gz' -delete
2. Then look at logrotate, whose timer has been off since
   the upgrade of last week
   • [x] timer found
   • [ ] timer enabled

  mount     │  used │ free
  ──────────┼───────┼───────
  /var      │ 100 % │ 0
  /srv/数据 │  41 % │ 118 GB

> whoever was on call
> said so

image: chart http://internal/x.png

────────────────────────────────────────
`.trim(),
    );
  });

  test("is told by styles where there are colours", async () => {
    const text = await shown("# Full\n**b** and *i* and `c` [T12] [x](http://y)", 60, true);
    expect(text).toContain("\u001b[1mFull");
    expect(text).toContain("\u001b[1mb\u001b");
    expect(text).toContain("\u001b[3mi\u001b");
    expect(text).toContain("\u001b[36mc\u001b");
    expect(text).toContain("\u001b[36m\u001b[2m[T12]");
    expect(text).toContain("\u001b[36mhttp://y\u001b");
    expect(stripVTControlCharacters(text)).toBe("Full\nb and i and c [T12] x http://y");
  });

  test.each<[string, string]>([
    ["[click here](http://evil/ 'safe')", 'click here http://evil/ "safe"'],
    ["[http://bank/](http://evil/)", "http://bank/ http://evil/"],
    ["[](http://evil/)", "http://evil/"],
    ["a [T3] b\n\n[T3]: http://evil/", "[T3] http://evil/"],
    ["x [r] y\n\n[r]: http://one/\n[r]: http://two/", "[r]: http://two/"],
    ["[never used]: http://evil/ (title)", "[never used]: http://evil/ (title)"],
    ["before <!-- a comment --> after", "before <!-- a comment --> after"],
    ["<details>\n<summary>s</summary>\nhidden\n</details>", "<summary>s</summary>\nhidden"],
    ["a <b>bold</b> claim", "a <b>bold</b> claim"],
    ["| a |\n|---|\n| 1 | too many | cells |", "| 1 | too many | cells |"],
    ["~~not~~ true", "~~not~~ true"],
    ["7. seven\n7. again", "7. again"],
    ["&lt;b&gt; &#27;[31m", "&lt;b&gt; &#27;[31m"],
    ["```ba&#27;sh hidden\nls\n```", "ba&#27;sh hidden\n  ls"],
    ["- [link]: http://evil/", "http://evil/"],
    // The parser makes this up to be "-\n".
    ["- ", "- "],
  ])("%j hides nothing", async (source, visible) => {
    expect(await shown(source)).toContain(visible);
  });

  test("a table that is too wide is shown row by row", async () => {
    const words = "word ".repeat(14).trim();
    const table = `| name | value |\n|---|---|\n| a | ${words} |`;
    expect(await shown(`Look:\n\n${table}\n\nDone.`)).toBe(
      `Look:\n\nname · value\n• a · value: ${words.slice(0, 44)}\n  ${words.slice(45)}\n\nDone.`,
    );
  });

  test("whatever it is, all of it can be seen, and nothing in it moves the cursor", async () => {
    const piece = fc.constantFrom(...PIECES);
    const source = fc.array(piece, { maxLength: 40 }).map((parts) => parts.join(""));
    const text = fc.oneof(source, fc.string({ unit: "grapheme", maxLength: 60 }));
    const property = fc.asyncProperty(text, fc.integer({ min: 20, max: 90 }), async (md, width) => {
      fc.pre(!/[^\n\t\P{Cc}]/u.test(md));
      const painted = await shown(md, width, true);
      const bare = stripVTControlCharacters(painted).normalize();
      // Nothing but colours.
      // oxlint-disable-next-line no-control-regex -- colours begin with it
      expect(painted.replaceAll(/\u001b\[\d+m/g, "").normalize()).toBe(bare);
      expect(bare).not.toMatch(/[^\n\t\P{Cc}]/u);
      let end = 0;
      // Wrapping writes characters in their composed form.
      for (const char of md.normalize().replaceAll(/[^\p{L}\p{N}&/;]/gu, "")) {
        const at = bare.indexOf(char, end);
        expect(at, `${char} of ${JSON.stringify(md)} is not in ${JSON.stringify(bare)}`).not.toBe(
          -1,
        );
        end = at + char.length;
      }
    });
    await fc.assert(property, { numRuns: 1_500 });
  });

  test("prose fits into the screen, code is never broken", async () => {
    const words = "many words that make a line long enough to be broken ".repeat(4);
    const text = await shown(`# ${words}\n\n- ${words}\n  > ${words}\n\n${words}`, 40);
    expect(text.split("\n").every((line) => widthOf(line) <= 40)).toBe(true);
    const command = `grep ${"x".repeat(100)}`;
    expect(await shown(`\`\`\`\n${command}\n\`\`\``, 40)).toContain(command);
  });

  test("what a tool put out is broken between words, and only where it is too wide", () => {
    const look = { paint: createPaint(false), columns: 26, now: NIGHT, rich: true };
    const text = "no setting of ours allows that\n  kept:   as it is";
    expect(terminalLines([{ kind: "code", text, isOutput: true }], look)).toEqual([
      "  no setting of ours",
      "  allows that",
      "    kept:   as it is",
    ]);
  });

  test.each([
    ["marks", "_é!".repeat(5_461)],
    ["brackets", "[".repeat(16_000)],
    ["quotes", ">".repeat(16_000)],
    ["lists", "1. ".repeat(5_000)],
    ["lines of a list", `- |-|-${"\n&".repeat(8_000)}`],
    ["breaks", "\\\n".repeat(8_000)],
  ])(
    "a text that is made to be slow to parse is shown at once all the same: %s",
    async (_, text) => {
      let bare = "";
      // 0.1 s at the most; unguarded, most of these take seconds or the stack.
      expect(await cpuMs(async () => (bare = await shown(text, 80)))).toBeLessThan(1_500);
      // Not rendered: all of it is there, marks and all.
      expect(bare.replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
    },
  );
});
