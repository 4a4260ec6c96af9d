import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Block, RenderedMessage } from "../../../src/adapters/render/rich-text.ts";
import {
  basicMessages,
  type SlackMessage,
  slackMessages,
} from "../../../src/adapters/slack/encode.ts";
import { renderOutgoing } from "../../../src/adapters/render/message.ts";
import { renderAlerts } from "../../../src/adapters/render/alerts.ts";
import { renderCard } from "../../../src/adapters/render/card.ts";
import { renderOpened } from "../../../src/adapters/render/card-details.ts";
import { slackCard } from "../../../src/adapters/slack/card.ts";
import { areBlocksTooLong, blockProblems } from "../../fakes/slack/blocks.ts";
import { pingsOf } from "../../fakes/slack/visible.ts";
import {
  anyAnswer,
  anyCard,
  anyParts,
  anyText,
  bare,
  PROPERTY_RUNS,
  readable,
  anyAlerts,
} from "../anything.ts";
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

const LITERAL = new Set(["text", "link", "date", "plain_text", "raw_text"]);

/** What a reader sees, but for what Slack draws itself: times and list marks. */
function visibleOf(messages: readonly SlackMessage[]): string {
  return messages
    .flatMap(({ blocks }) => nodesOf(blocks))
    .flatMap(({ type, text, elements }) => {
      if (type === "context" && Array.isArray(elements)) return elements.map((each) => each.text);
      if (type === "section") return nodesOf(text).map((each) => each["text"]);
      return type === "text" || type === "link" || type === "raw_text" ? [String(text)] : [];
    })
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
  "rich_text divider actions button plain_text rich_text_section rich_text_list rich_text_quote rich_text_preformatted text link date context container section table data_table raw_text".split(
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
  test("shows an open card: who, what, the command, what comes of it, then the buttons (golden)", () => {
    const { expiresAt } = killCard();
    const utc = `${new Date(expiresAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    const plain = (text: string) => ({ type: "plain_text", text, emoji: false });
    const code = (text: string) => ({
      type: "rich_text",
      elements: [{ type: "rich_text_preformatted", elements: [{ type: "text", text }] }],
    });
    const button = (verb: string, label: string, style: string) => ({
      type: "button",
      action_id: `wk:${verb}`,
      value: `wk:${verb}`,
      text: plain(label),
      style,
    });
    const option = (verb: string, label: string) => ({ text: plain(label), value: `wk:${verb}` });
    const undo = "None: a killed process does not come back by itself.";
    const command = "kill_process pid=4242 signal=SIGTERM";
    expect(slackCard(renderCard(killCard()))).toEqual([
      {
        text: "Approve a1? Run kill_process",
        blocks: [
          {
            type: "alert",
            level: "error",
            text: plain("Needs 1 approval · anyone in this thread"),
          },
          { type: "header", text: plain("Run kill_process?") },
          code(command),
          {
            type: "section",
            fields: [
              plain("Process\nnginx: worker process (www-data)"),
              plain("Listens on\n0.0.0.0:80, 0.0.0.0:443"),
              plain("Impact\n2 open client connections are cut."),
              plain(`Undo\n${undo}`),
              plain("Why (AI-written, not verified)\nit hangs and holds the lock"),
            ],
          },
          {
            type: "context",
            elements: [
              plain("a1 · expires "),
              {
                type: "mrkdwn",
                text: `<!date^${expiresAt / 1000}^{date_short_pretty} {time} ({ago})|${utc}>`,
              },
            ],
          },
          {
            type: "actions",
            elements: [
              {
                ...button("approve:a1:1:0f0f0f0f0f0f", "Approve", "primary"),
                confirm: {
                  title: plain("Run kill_process?"),
                  text: plain(`${command}\n${undo}`),
                  confirm: plain("Approve"),
                  deny: plain("Cancel"),
                },
              },
              button("because:a1:1", "Deny…", "danger"),
              {
                type: "overflow",
                action_id: "wk:more",
                options: [
                  option("edit:a1:1", "Edit…"),
                  option("details:a1", "Details"),
                  option("cancel:a1", "Withdraw"),
                ],
              },
            ],
          },
          {
            type: "container",
            title: plain("Exactly what will run · a1 · 0f0f…0f"),
            is_collapsible: true,
            default_collapsed: true,
            child_blocks: [{ type: "section", text: plain('{"pid":4242,"signal":"SIGTERM"}') }],
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
      ["context", undefined],
      ["context_actions", undefined],
    ]);
    expect(visibleOf(message === undefined ? [] : [message])).toContain("abc4. defg http://h/");
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

  test("tables and what is folded hold nothing but literal text either", () => {
    const property = fc.property(anyAnswer, (parts) => {
      const told = toldOf(parts);
      const messages = [...slackMessages(told), ...basicMessages(told)];
      for (const each of messages) {
        check(each);
        expect(blockProblems(each.blocks, 50)).toEqual([]);
      }
    });
    fc.assert(property, { numRuns: PROPERTY_RUNS / 10, seed: 4 });
  });

  test("a card always fits one message that Slack takes, the action byte for byte, and pings nobody", () => {
    const property = fc.property(anyCard(killCard()), (card) => {
      for (const newer of [true, false]) {
        const [message, ...more] = slackCard(renderCard(card), newer);
        expect(more).toEqual([]);
        if (message === undefined) throw new Error("There is always a message.");
        const blocks = JSON.parse(JSON.stringify(message.blocks));
        expect(blockProblems(blocks, 50)).toEqual([]);
        expect(areBlocksTooLong(blocks)).toBe(false);
        expect(pingsOf({ text: message.text, blocks })).toEqual([]);
        const marks = nodesOf(blocks).filter(({ type }) => type === "mrkdwn");
        expect(marks.every(({ text }) => /^<!date\^\d+\^[^<>]*>$/.test(String(text)))).toBe(true);
        const isWhole = card.phase === "open" && card.mustOpen !== true;
        if (isWhole) expect(visibleOf([{ ...message, blocks }])).toContain(card.canonical);
      }
      for (const each of slackMessages(renderOpened(card))) check(each);
    });
    fc.assert(property, { numRuns: 60, seed: 4 });
  });

  test("whatever alerts say, their message is one that Slack takes, literal, and pings nobody", () => {
    const property = fc.property(anyAlerts, (alerts) => {
      for (const newer of [true, false]) {
        const [message, ...more] = slackCard(renderAlerts(alerts), newer);
        expect(more).toEqual([]);
        const blocks = JSON.parse(JSON.stringify(message?.blocks));
        expect(blockProblems(blocks, 50)).toEqual([]);
        expect(areBlocksTooLong(blocks)).toBe(false);
        expect(pingsOf({ text: message?.text ?? "", blocks })).toEqual([]);
        const marks = nodesOf(blocks).filter(({ type }) => type === "mrkdwn");
        expect(marks.every(({ text }) => /^<!date\^\d+\^[^<>]*>$/.test(String(text)))).toBe(true);
        const links = nodesOf(blocks).filter(({ type }) => type === "link");
        expect(links.every(({ url }) => url === "https://acme.sentry.io/x_y*z")).toBe(true);
      }
    });
    fc.assert(property, { numRuns: 100, seed: 4 });
  });

  test("a card of one very long line is taken too", () => {
    const lines = [{ label: "Found", value: "x".repeat(200_000) }];
    const card = killCard({ preview: { lines, blastRadius: "None.", undo: "None." } });
    const [message] = slackCard(renderCard(card));
    expect(blockProblems(JSON.parse(JSON.stringify(message?.blocks)), 50)).toEqual([]);
  });

  test("an answer that is too long becomes several, buttons under the last", async () => {
    const text = "word *and* <!channel> more\n\n".repeat(480);
    const told = await renderOutgoing(talkOf("r1", text), () => false, { isUncut: true });
    const buttons = [{ id: "wk:stop", label: "Stop", style: "plain" as const }];
    const messages = slackMessages({ ...told, buttons });
    expect(messages.length).toBeGreaterThan(1);
    for (const each of messages) check(each);
    expect(messages.map(labelsOf)).toEqual([...messages.slice(1).map(() => []), ["Stop"]]);
    expect(bare(visibleOf(messages))).toContain(bare("word and <!channel> more".repeat(480)));
  });

  test("lines between paragraphs count as well", async () => {
    const text = `${"word ".repeat(60)}\n\n***\n\n`.repeat(45);
    const told = await renderOutgoing(talkOf("r1", text), () => false, { isUncut: true });
    const messages = slackMessages(told);
    expect(messages.length).toBeGreaterThan(1);
    for (const each of messages) check(each);
  });

  test("says its summary where nothing else can be shown, and escapes it where Slack reads markup", () => {
    const [message] = slackMessages(toldOf([], { summary: "<!here> & co" }));
    expect(message?.text).toBe("&lt;!here&gt; &amp; co");
    expect(message && visibleOf([message])).toBe("<!here> & co");
  });
});
