import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Block, RenderedMessage } from "../../../src/adapters/render/rich-text.ts";
import { type SlackMessage, slackMessages } from "../../../src/adapters/slack/encode.ts";
import { renderOutgoing } from "../../../src/adapters/render/message.ts";
import { renderCard, renderDetails } from "../../../src/adapters/render/card.ts";
import { anyCard, anyParts, anyText, bare, PROPERTY_RUNS, readable } from "../anything.ts";
import { killCard, talkOf } from "../terminal/harness.ts";

function toldOf(blocks: Block[], changes: Partial<RenderedMessage> = {}): RenderedMessage {
  return { blocks, buttons: [], summary: "A summary", ...changes };
}

type Node = { type?: string } & Record<string, unknown>;

/** Every object in the blocks that has a type, from the outside in and in order. */
function nodesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== "object" || value === null) return [];
  const node = value as Node;
  const inner = Object.values(node).flatMap(nodesOf);
  return node.type === undefined ? inner : [node, ...inner];
}

const LITERAL = new Set(["text", "link", "date"]);

/** What a reader sees, but for what Slack draws itself: times and list marks. */
function visibleOf(messages: readonly SlackMessage[]): string {
  return messages
    .flatMap(({ blocks }) => nodesOf(blocks))
    .flatMap(({ type, text }) => (type === "text" || type === "link" ? [String(text)] : []))
    .join("");
}

function labelsOf({ blocks }: SlackMessage): string[] {
  return blocks.flatMap((block) =>
    block.type === "actions"
      ? block.elements.map((each) => ("text" in each ? (each.text?.text ?? "") : ""))
      : [],
  );
}

const KNOWN = new Set(
  "rich_text divider actions button plain_text rich_text_section rich_text_list rich_text_quote rich_text_preformatted text link date".split(
    " ",
  ),
);

/** Throws at what Slack would refuse, and at what could be more than text. */
function check({ text, blocks }: SlackMessage): void {
  const nodes = nodesOf(blocks);
  if (blocks.length === 0 || blocks.length > 50) throw new Error(`${blocks.length} blocks`);
  if (text.trim() === "" || /[<>]|&(?!amp;|lt;|gt;)/.test(text)) throw new Error(`text: ${text}`);
  let sum = 0;
  for (const { type = "", ...node } of nodes) {
    if (!KNOWN.has(type)) throw new Error(`unknown ${type}`);
    if (LITERAL.has(type)) {
      const shown = node["text"] ?? node["fallback"];
      if (typeof shown !== "string" || shown === "") throw new Error(`an empty ${type}`);
      if (shown.length > 3_000 || !shown.isWellFormed()) throw new Error(`a broken ${type}`);
      sum += shown.length;
    }
    if (type === "link" && node["url"] !== node["text"]) throw new Error("a hidden target");
    const { elements } = node;
    if (Array.isArray(elements) && elements.length === 0) throw new Error(`an empty ${type}`);
  }
  // Each block more counts as some 125 (bolt-js issue 2509).
  if (sum + 125 * (blocks.length - 1) > 12_000) throw new Error(`${sum} characters`);
}

describe("a message on Slack", () => {
  test("shows an open card whole, with its five buttons (golden)", () => {
    const { expiresAt } = killCard();
    const utc = `${new Date(expiresAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    const bold = (text: string) => ({ type: "text", text, style: { bold: true } });
    const plain = (text: string) => ({ type: "text", text });
    const button = (verb: string, label: string, style?: string) => ({
      type: "button",
      action_id: `wk:${verb}`,
      value: `wk:${verb}`,
      text: { type: "plain_text", text: label, emoji: false },
      ...(style !== undefined && { style }),
    });
    expect(slackMessages(renderCard(killCard()))).toEqual([
      {
        text: 'Approve a1? destructive kill_process {"pid":4242,"signal":"SIGTERM"}',
        blocks: [
          {
            type: "rich_text",
            elements: [
              { type: "rich_text_section", elements: [bold("a1 · DESTRUCTIVE · kill_process")] },
              {
                type: "rich_text_preformatted",
                elements: [plain('{"pid":4242,"signal":"SIGTERM"}')],
              },
              {
                type: "rich_text_section",
                elements: [
                  bold("Process: "),
                  plain("nginx: worker process (www-data)\n"),
                  bold("Listens on: "),
                  plain("0.0.0.0:80, 0.0.0.0:443\n"),
                  bold("Blast radius: "),
                  plain("2 open client connections are cut.\n"),
                  bold("Undo: "),
                  plain("None: a killed process does not come back by itself."),
                ],
              },
              {
                type: "rich_text_quote",
                elements: [
                  {
                    type: "text",
                    text: "Why (AI-written, not verified): ",
                    style: { italic: true },
                  },
                  plain("it hangs and holds the lock"),
                ],
              },
              {
                type: "rich_text_section",
                elements: [
                  bold("Needs: "),
                  plain("1 approval · anyone in this thread\n"),
                  bold("Expires: "),
                  {
                    type: "date",
                    timestamp: expiresAt / 1000,
                    format: "{date_short_pretty} {time} ({ago})",
                    fallback: utc,
                  },
                  plain(` (${utc})`),
                ],
              },
            ],
          },
          {
            type: "actions",
            elements: [
              button("approve:a1:1:0f0f0f0f0f0f", "Approve", "primary"),
              button("deny:a1:1", "Deny", "danger"),
              button("because:a1:1", "Deny because…"),
              button("edit:a1:1", "Edit…"),
              button("details:a1", "Details"),
            ],
          },
        ],
      },
    ]);
  });

  test("draws lists, code and quotes as such, and numbers as they were written", async () => {
    const text = "- a\n- b\n  - c\n\n4. d\n\n> e\n\n```\nf\n```\n\n***\n\n[g](http://h/)";
    const [message] = slackMessages(await renderOutgoing(talkOf("r1", text, 0), () => false));
    const frames = message?.blocks.flatMap((block): { type: string; indent?: number }[] =>
      block.type === "rich_text" ? block.elements : [block],
    );
    expect(frames?.map(({ type, indent }) => [type, indent])).toEqual([
      ["rich_text_list", 0],
      ["rich_text_list", 1],
      ["rich_text_section", undefined],
      ["rich_text_quote", undefined],
      ["rich_text_preformatted", undefined],
      ["divider", undefined],
      ["rich_text_section", undefined],
    ]);
    expect(visibleOf(message === undefined ? [] : [message])).toBe("abc4. defg http://h/");
  });

  test("can hold nothing but literal text, and shows every character", () => {
    const property = fc.property(anyParts, anyText, (parts, summary) => {
      const messages = slackMessages(toldOf(parts, { summary }));
      for (const each of messages) check(each);
      if (readable(parts) === "") return;
      const markers = parts.map((part) =>
        part.kind === "item" &&
        (part.marker !== "•" || part.inlines.every(({ text }) => text === ""))
          ? part.marker + readable([part])
          : readable([part]),
      );
      if (bare(visibleOf(messages)) !== markers.join("")) {
        expect(bare(visibleOf(messages))).toBe(markers.join(""));
      }
    });
    fc.assert(property, { numRuns: PROPERTY_RUNS, seed: 4 });
  });

  test("a card always fits one message, the action byte for byte, details as many as they need", () => {
    const property = fc.property(anyCard(killCard()), (card) => {
      const messages = slackMessages(renderCard(card));
      expect(messages).toHaveLength(1);
      for (const each of messages) check(each);
      expect(visibleOf(messages)).toContain(card.canonical);
      for (const each of slackMessages(renderDetails(card))) check(each);
    });
    fc.assert(property, { numRuns: 60, seed: 4 });
  });

  test("an answer that is too long becomes several, buttons under the last", async () => {
    const text = "word *and* <!channel> more\n\n".repeat(480);
    const told = await renderOutgoing(talkOf("r1", text), () => false);
    const buttons = [{ id: "wk:stop", label: "Stop", style: "plain" as const }];
    const messages = slackMessages({ ...told, buttons });
    expect(messages.length).toBeGreaterThan(1);
    for (const each of messages) check(each);
    expect(messages.map(labelsOf)).toEqual([...messages.slice(1).map(() => []), ["Stop"]]);
    expect(bare(visibleOf(messages))).toContain(bare("word and <!channel> more".repeat(480)));
  });

  test("lines between paragraphs count as well", async () => {
    const text = `${"word ".repeat(60)}\n\n***\n\n`.repeat(45);
    const messages = slackMessages(await renderOutgoing(talkOf("r1", text), () => false));
    expect(messages.length).toBeGreaterThan(1);
    for (const each of messages) check(each);
  });

  test("says its summary where nothing else can be shown, and escapes it where Slack reads markup", () => {
    const [message] = slackMessages(toldOf([], { summary: "<!here> & co" }));
    expect(message?.text).toBe("&lt;!here&gt; &amp; co");
    expect(message && visibleOf([message])).toBe("<!here> & co");
  });
});
