import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readButtonAction } from "../../../src/adapters/render/button-ids.ts";
import { renderOutgoing } from "../../../src/adapters/render/message.ts";
import { textOf } from "../../../src/adapters/render/rich-text.ts";
import { createLinkRule } from "../../../src/core/links.ts";
import { anyText } from "../anything.ts";
import { talkOf } from "../terminal/harness.ts";

const none = (): boolean => false;
const AI_MADE = "AI-generated · check before acting";

describe("a model's answer in a chat", () => {
  test.each([
    [
      "CONFIRMED: nginx is down. It ended at 10:01.",
      "**Confirmed: nginx is down.** It ended at 10:01.",
    ],
    ["**LIKELY** – a lock [T3]. More.", "**Likely: a lock **`T3`**.** More."],
    ["CONFIRMED [T1]: nginx is down.", "**Confirmed: **`T1`** nginx is down.**"],
    [
      "**INCONCLUSIVE: nothing is settled**\n\nINCONCLUSIVE again",
      "**Not sure yet: nothing is settled**",
    ],
    ["It is LIKELY a lock, not CONFIRMED.", "It is likely a lock, not confirmed."],
    ["`LIKELY` is a word", "`LIKELY` is a word"],
  ])("a grade reads as a sentence: %j", async (text, line) => {
    const { blocks } = await renderOutgoing(talkOf("r1", text, 3), none);
    const [first] = blocks;
    const shown = first !== undefined && "inlines" in first ? first.inlines : [];
    expect(
      shown
        .map(({ text: words, strong, code }) =>
          code ? `\`${words}\`` : strong ? `**${words}**` : words,
        )
        .join(""),
    ).toBe(line);
  });

  test("has below it what the journal has of its changes", async () => {
    const lines = async (changed: { done: string[]; maybe: string[] }) => {
      const answer = { ...talkOf("r3", "INCONCLUSIVE. DONE [T1]: neu gestartet.", 1), changed };
      const { blocks } = await renderOutgoing(answer, none);
      return blocks.map(textOf).join("\n");
    };
    expect(await lines({ done: [], maybe: [] })).toMatch(
      /Done T1: neu gestartet[^]*changed nothing · /,
    );
    expect(await lines({ done: ["T1", "T3"], maybe: ["T4"] })).toContain(
      "changed by T1 and T3, unknown whether T4 changed anything",
    );
  });

  test("can be kept as a case of an evaluation where that is set up, by a button that names its run", async () => {
    const labels = async (answer: object) => {
      const { buttons } = await renderOutgoing(
        { ...talkOf("r3", "CONFIRMED: it is down [T1].", 1), ...answer },
        none,
      );
      return buttons.map(({ label, id }) => [label, readButtonAction(id)]);
    };
    expect(await labels({})).toEqual([]);
    expect(await labels({ canSave: true })).toEqual([
      ["Save as eval", { kind: "save", run: "r3" }],
    ]);
    expect(await labels({ canSave: true, status: "failed" })).toEqual([]);
    expect(readButtonAction("wk:save:a1")).toBeUndefined();
  });

  test("a long answer is read up to 900 characters, and the whole of it behind More", async () => {
    const paragraphs = Array.from(
      { length: 40 },
      (_, at) => `Paragraph ${at} ${"says it. ".repeat(20)}`,
    );
    const text = `CONFIRMED: the disk is full. ${paragraphs.join("\n\n")}`;
    const told = await renderOutgoing(talkOf("r1", text, 1), none);
    const read = told.blocks.filter(({ kind }) => kind === "text").map(textOf);
    expect(read.join("").length).toBeLessThanOrEqual(900);
    expect(read.join("").length).toBeGreaterThan(600);
    expect(read.at(-1)).toMatch(/says it\.\s*$/);
    expect(told.buttons.map(({ label, id }) => [label, readButtonAction(id)])).toEqual([
      ["More", { kind: "read", what: "answer", ref: "r1", page: 1 }],
    ]);
    expect(told.whole).toEqual({ name: "answer.md", text });
    expect(told.summary).toBe("Confirmed: the disk is full.");
    const uncut = await renderOutgoing(talkOf("r1", text, 1), none, { isUncut: true });
    expect(uncut.blocks.map(textOf).join("\n")).toContain("Paragraph 39");
    expect(uncut.buttons).toEqual([]);
  });

  test("whatever a model writes, nobody has to read more than 900 characters of it", async () => {
    const any = fc.array(anyText, { minLength: 1, maxLength: 200 }).map((all) => all.join("\n\n"));
    const property = fc.asyncProperty(any, async (text) => {
      const { blocks, buttons } = await renderOutgoing(talkOf("r1", text, 0), none);
      const read = blocks.filter((block) => textOf(block) !== AI_MADE);
      const length = read.reduce((sum, block) => sum + textOf(block).length, 0);
      expect(length).toBeLessThanOrEqual(900);
      const { blocks: all } = await renderOutgoing(talkOf("r1", text, 0), none, { isUncut: true });
      const whole = all.reduce((sum, block) => sum + textOf(block).length, 0);
      if (whole > 1_000) expect(buttons).toHaveLength(1);
    });
    await fc.assert(property, { numRuns: 200, seed: 4 });
  });
});

test("what answers a command in columns keeps them below its first line, as code", async () => {
  const text = "1 incident found.\n\nincident  sev\ninc-1     sev2";
  const { blocks } = await renderOutgoing({ ...talkOf("r1", text, 0), isModelRun: false }, none);
  expect(blocks).toEqual([
    { kind: "text", inlines: [{ text: "1 incident found." }] },
    { kind: "code", text: "incident  sev\ninc-1     sev2", isOutput: true },
  ]);
});

test.each<[string, boolean]>([
  ["https://grafana.example.com/d/1?from=now-1h", true],
  ["https://a.wiki.example.com/x", true],
  ["https://wiki.example.com/x", false],
  ["https://grafana.example.com.evil.test/", false],
  ["https://grafana.example.com@evil.test/", false],
  ["https://me@grafana.example.com/", false],
  ["https://grafana.example.com:8443/", false],
  ["https://logs.example.com:8443/", true],
  ["ftp://grafana.example.com/", false],
  ["https://evil.test/?https://grafana.example.com/", false],
  ["no address", false],
])("links.allow and %s", (address, isAllowed) => {
  const allow = ["grafana.example.com", "*.wiki.example.com", "logs.example.com:8443"];
  expect(createLinkRule(allow)(address)).toBe(isAllowed);
});
