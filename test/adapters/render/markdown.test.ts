import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { basicBlocks } from "../../../src/adapters/render/basic.ts";
import { readMarkdown } from "../../../src/adapters/render/markdown.ts";
import { type Block, textOf } from "../../../src/adapters/render/rich-text.ts";
import { anyText } from "../anything.ts";
import { cpuMs } from "../../cpu-time.ts";

const ours = (url: string): boolean => url.startsWith("https://ours/");

async function shown(source: string): Promise<string> {
  return basicBlocks(await readMarkdown(source, ours), 100)
    .map(textOf)
    .join("\n");
}

const ANSWER = `
## CONFIRMED: /var is full
The disk on **/var** is at *100 %*, for \`nginx\` logs are [not rotated](http://docs/rotate "how") [T1].

4. Free space:
   \`\`\`bash
   journalctl --vacuum-size=200M
   \`\`\`
5. Then look at logrotate
   - [x] timer found
   - ~~never~~ seldom

| mount | used | free |
|:------|-----:|:----:|
| /var | 100 % | 0 |
| /srv/数据 | 41 % | 118 GB |

> whoever was on call
> said so

![chart](http://internal/x.png)
***
See https://ours/archives/1 or [it](https://ours/2).
`.trim();

describe("a model's Markdown as parts", () => {
  test("is told without its marks, with every link's target (golden)", async () => {
    expect(basicBlocks(await readMarkdown(ANSWER, ours), 100)).toEqual([
      { kind: "heading", inlines: [{ text: "CONFIRMED: /var is full" }] },
      {
        kind: "text",
        inlines: [
          { text: "The disk on " },
          { text: "/var", strong: true },
          { text: " is at " },
          { text: "100 %", em: true },
          { text: ", for " },
          { text: "nginx", code: true },
          { text: " logs are not rotated " },
          { text: "http://docs/rotate", code: true },
          { text: ' "how" [T1].' },
        ],
      },
      { kind: "item", depth: 0, marker: "4.", inlines: [{ text: "Free space:" }] },
      { kind: "code", text: "journalctl --vacuum-size=200M", lang: "bash", indent: 1 },
      { kind: "item", depth: 0, marker: "5.", inlines: [{ text: "Then look at logrotate" }] },
      { kind: "item", depth: 1, marker: "•", inlines: [{ text: "[x] timer found" }] },
      {
        kind: "item",
        depth: 1,
        marker: "•",
        inlines: [{ text: "never", strike: true }, { text: " seldom" }],
      },
      {
        kind: "code",
        text: [
          "mount     │  used │ free",
          "──────────┼───────┼───────",
          "/var      │ 100 % │ 0",
          "/srv/数据 │  41 % │ 118 GB",
        ].join("\n"),
      },
      { kind: "quote", inlines: [{ text: "whoever was on call\nsaid so" }] },
      {
        kind: "text",
        inlines: [{ text: "image: chart " }, { text: "http://internal/x.png", code: true }],
      },
      { kind: "rule" },
      {
        kind: "text",
        inlines: [
          { text: "See " },
          { text: "https://ours/archives/1", url: "https://ours/archives/1" },
          { text: " or it " },
          { text: "https://ours/2", url: "https://ours/2" },
          { text: "." },
        ],
      },
    ] satisfies Block[]);
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
    ["7. seven\n7. again", "7. again"],
    ["&lt;b&gt; &#27;[31m", "&lt;b&gt; &#27;[31m"],
    ["```ba&#27;sh hidden\nls\n```", "ba&#27;sh hidden\nls"],
    ["- [link]: http://evil/", "http://evil/"],
    ["<!channel> <@U1>", "<!channel> <@U1>"],
  ])("%j hides nothing", async (source, visible) => {
    expect(await shown(source)).toContain(visible);
  });

  test("only an address that is allowed, and hides nothing, may be clicked", async () => {
    const text =
      "http://evil/ https://ours.evil/ <https://ours/a> https://ours/b. https://ours/é ours://x [https://ours/c](http://evil/) www.ours a@b.c";
    const parts = await readMarkdown(text, ours);
    const inlines = parts.flatMap((part) => ("inlines" in part ? part.inlines : []));
    expect(inlines.flatMap(({ url }) => url ?? [])).toEqual([
      "https://ours/a",
      "https://ours/b",
      "https://ours/c",
    ]);
    expect(inlines.filter(({ code }) => code).map((inline) => inline.text)).toEqual([
      "http://evil/",
      "https://ours.evil/",
      "https://ours/é",
      "ours://x",
      "http://evil/",
      "www.ours",
    ]);
    expect(
      inlines.every(({ url, text: shownText }) => url === undefined || url === shownText),
    ).toBe(true);
  });

  test("whatever it is, all of it can be seen, and no plain text is an address", async () => {
    const property = fc.asyncProperty(anyText, async (source) => {
      const parts = await readMarkdown(source, ours);
      const text = parts.map(textOf).join("\n");
      let end = 0;
      // A code block's language is not shown.
      const said = source.replaceAll(/^(.*(?:`{3,}|~{3,}) *)[\w+#.-]{1,20} *$/gm, "$1");
      for (const char of said.replaceAll(/[^\p{L}\p{N}&/;@]/gu, "")) {
        const at = text.indexOf(char, end);
        if (at < 0) throw new Error(`${char} of ${JSON.stringify(source)} is not in ${text}`);
        end = at + char.length;
      }
      for (const inline of parts.flatMap((part) => ("inlines" in part ? part.inlines : []))) {
        const isMarked = inline.code === true || inline.url !== undefined;
        if (!isMarked && /[a-z]:\/\/[^\s<>"`\\]/i.test(inline.text)) {
          throw new Error(`a plain address: ${inline.text}`);
        }
      }
    });
    await fc.assert(property, { numRuns: 4_000, seed: 4 });
  });

  test.each([
    ["marks", "_é!".repeat(5_461)],
    ["brackets", "[".repeat(16_000)],
    ["quotes", ">".repeat(16_000)],
    ["lists", "1. ".repeat(5_000)],
    ["breaks", "\\\n".repeat(900)],
  ])("too many %s are shown as they were written, and soon", async (_, source) => {
    let text = "";
    expect(await cpuMs(async () => (text = await shown(source)))).toBeLessThan(3_000);
    expect(text.replaceAll(/\s/g, "").length).toBeGreaterThan(
      source.replaceAll(/[\s\\]/g, "").length - 9,
    );
  });

  test("a text of any length keeps its form, piece by piece", async () => {
    const page = (at: number) =>
      `## Part ${at}\n\n**Bold** ${at} ${"x".repeat(400)}\n- item [T${at}]\n\n  of two lines\n\n`;
    const source = Array.from({ length: 300 }, (_, at) => page(at)).join("");
    let parts: Block[] = [];
    expect(await cpuMs(async () => ((parts = await readMarkdown(source, ours)), 100))).toBeLessThan(
      3_000,
    );
    expect(parts.length).toBe(1_200);
    expect(parts.map(({ kind }) => kind)).not.toContain("code");
    expect(parts.map(textOf).join("\n")).not.toMatch(/\*\*|##/);
  });

  test("a long block of code keeps its language, and what stands around it its form", async () => {
    const lines = "key: value\n".repeat(3_000);
    const source = `**Before**\n\`\`\`yaml\n${lines}\`\`\`\n- behind`;
    expect(await readMarkdown(source, ours)).toEqual([
      { kind: "text", inlines: [{ text: "Before", strong: true }] },
      { kind: "code", text: lines.trimEnd(), lang: "yaml" },
      { kind: "item", depth: 0, marker: "•", inlines: [{ text: "behind" }] },
    ] satisfies Block[]);
  });

  test("a paragraph that is too long by itself is shown as it was written, and only that", async () => {
    const words = "no *end* ".repeat(3_000);
    const parts = await readMarkdown(`**Before**\n\n${words}\n\n- behind`, ours);
    expect(parts.map(({ kind }) => kind)).toEqual(["text", "code", "item"]);
    expect(parts.map(textOf)[1]).toBe(words);
  });

  test("a list of thousands of lines is one", async () => {
    const parts = await readMarkdown("- **a** line\n".repeat(3_000), ours);
    const item = {
      kind: "item",
      depth: 0,
      marker: "•",
      inlines: [{ text: "a", strong: true }, { text: " line" }],
    };
    expect(parts).toEqual(Array.from({ length: 3_000 }, () => item));
  });

  test("a table that is too wide is told row by row, with its styles", async () => {
    const wide = "x".repeat(100);
    const table = `| name | what |\n|---|---|\n| **a** | ${wide} |`;
    expect(basicBlocks(await readMarkdown(table, ours), 100)).toEqual([
      {
        kind: "text",
        inlines: [{ text: "name", strong: true }, { text: " · " }, { text: "what", strong: true }],
      },
      {
        kind: "item",
        depth: 0,
        marker: "•",
        inlines: [{ text: "a", strong: true }, { text: ` · what: ${wide}` }],
      },
    ] satisfies Block[]);
  });

  test("nothing is nothing", async () => {
    expect(await readMarkdown(" \n\n", ours)).toEqual([]);
  });
});
