import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRunProgress, renderProgress } from "../../../src/adapters/render/progress.ts";
import { renderOutgoing } from "../../../src/adapters/render/message.ts";
import { discordCard } from "../../../src/adapters/discord/card.ts";
import { readComponents } from "../../fakes/discord/components.ts";
import { renderAlerts } from "../../../src/adapters/render/alerts.ts";
import { renderCard } from "../../../src/adapters/render/card.ts";
import { renderDetails } from "../../../src/adapters/render/card-details.ts";
import type { Block, RenderedMessage } from "../../../src/adapters/render/rich-text.ts";
import { discordMessages, type DiscordMessage } from "../../../src/adapters/discord/encode.ts";
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
import { readDiscord } from "./reader.ts";

function toldOf(blocks: Block[], changes: Partial<RenderedMessage> = {}): RenderedMessage {
  return { blocks, buttons: [], summary: "A summary", ...changes };
}

function contentOf(message: DiscordMessage): string {
  return message.components
    .map((component) => ("content" in component ? component.content : ""))
    .join("");
}

function buttonsOf(message: DiscordMessage | undefined): string[] {
  const inner = (message?.components ?? []).flatMap((component): object[] =>
    "components" in component ? component.components : [],
  );
  return inner.flatMap((each) => ("label" in each ? String(each.label) : []));
}

/** The limits of Components V2, as Discord counts them. */
function expectValid(message: DiscordMessage): void {
  const count = message.components.reduce(
    (sum, each) => sum + 1 + ("components" in each ? each.components.length : 0),
    0,
  );
  const content = contentOf(message);
  expect(content.length).toBeLessThanOrEqual(4_000);
  expect(content.trim()).not.toBe("");
  expect(count).toBeLessThanOrEqual(40);
  expect(message.flags).toBe(1 << 15);
  expect(message.allowedMentions).toEqual({ parse: [], repliedUser: false });
}

/** A backtick that could end a block is shown as one that cannot, or as the escape of JSON. */
function oneTick(text: string): string {
  return text.replaceAll("\\u0060", "ˋ").replaceAll("`", "ˋ").replaceAll("\u200b", "");
}

describe("a message on Discord", () => {
  test("shows an open card in a red frame, in the order of Slack's, with its five buttons (golden)", () => {
    const [message, ...more] = discordCard(renderCard(killCard()));
    expect(more).toEqual([]);
    const at = killCard().expiresAt;
    const button = (id: string, label: string, style: number) => ({
      type: 2,
      custom_id: `wk:${id}`,
      label,
      style,
    });
    expect(message?.components).toEqual([
      {
        type: 17,
        accent_color: 0xdd2e44,
        components: [
          {
            type: 10,
            content: "### Run kill\\_process?\n-# Needs 1 approval · anyone in this thread",
          },
          { type: 10, content: "```\nkill_process pid=4242 signal=SIGTERM\n```" },
          {
            type: 10,
            content: `
**Process** nginx: worker process (www-data)
**Listens on** 0.0.0.0:80, 0.0.0.0:443
**Impact** 2 open client connections are cut.
**Undo** None: a killed process does not come back by itself.
**Why (AI-written, not verified)** it hangs and holds the lock
-# a1 · expires <t:${at / 1000}:R> (${utc(at)})
`.trim(),
          },
          {
            type: 1,
            components: [
              button("approve:a1:1:0f0f0f0f0f0f", "Approve", 3),
              button("because:a1:1", "Deny…", 4),
              button("edit:a1:1", "Edit…", 2),
              button("details:a1", "Details", 2),
              button("cancel:a1", "Withdraw", 2),
            ],
          },
          { type: 14 },
          {
            type: 10,
            content:
              '-# Exactly what will run · a1 · 0f0f…0f\n```\n{"pid":4242,"signal":"SIGTERM"}\n```',
          },
        ],
      },
    ]);
  });

  test.each<[string, string]>([
    ["<@1> @everyone @here <@&2>", "\\<@\u200b1> @\u200beveryone @\u200bhere \\<@\u200b&2>"],
    ["# a\n> b\n- c\n1. d\n-# e\n>>> f", "\\# a\n\\> b\n\\- c\n1\\. d\n\\-# e\n\\>>> f"],
    ["[a](b) ||c|| <t:1:R>", "\\[a\\](b) \\|\\|c\\|\\| \\<t:1:R>"],
    [
      "http://evil/ *a* _b_ ~~c~~ `d` \\",
      "http\\://evil/ \\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\`d\\` \\\\",
    ],
  ])("shows %j as it is", (text, escaped) => {
    const [message] = discordMessages(toldOf([{ kind: "text", inlines: [{ text }] }]));
    expect(message && contentOf(message)).toBe(escaped);
  });

  test("keeps an action exact where it has backticks in a row", () => {
    const shown = (text: string) => {
      const [message] = discordMessages(toldOf([{ kind: "exact", text }]));
      return message === undefined ? "" : contentOf(message);
    };
    expect(shown('{"a":"`b``"}')).toBe('```\n{"a":"`b``"}\n```');
    expect(shown('{"a":"```` b"}')).toBe('```\n{"a":"``\\u0060` b"}\n```');
  });

  test("can hold no mention, no link and no markup but ours, and shows every character", () => {
    const property = fc.property(anyParts, (parts) => {
      const [message, ...more] = discordMessages(toldOf(parts));
      expect(more).toEqual([]);
      if (message === undefined) throw new Error("There is always a message.");
      expectValid(message);
      const read = readDiscord(contentOf(message));
      expect(read.mentions).toEqual([]);
      expect(read.links.filter((link) => link !== "https://ours/x_y*z")).toEqual([]);
      expect(read.headings).toBe(parts.filter(isVisibleHeading).length);
      if (readable(parts) === "") return;
      // Between the parts are list marks and lines only.
      const seen = oneTick(bare(read.visible)).replaceAll(/[•─]/g, "");
      const wanted = oneTick(withMarkers(parts)).replaceAll(/[•─]/g, "");
      expect(seen).toBe(wanted);
    });
    fc.assert(property, { numRuns: PROPERTY_RUNS, seed: 4 });
  });

  test("neither can tables and what is folded", () => {
    const property = fc.property(anyAnswer, (parts) => {
      for (const message of discordMessages(toldOf(parts))) {
        expectValid(message);
        const read = readDiscord(contentOf(message));
        expect(read.mentions).toEqual([]);
        expect(read.links.filter((link) => link !== "https://ours/x_y*z")).toEqual([]);
      }
    });
    fc.assert(property, { numRuns: PROPERTY_RUNS / 10, seed: 4 });
  });

  test("a card always fits one message that Discord takes, the action whole, and nothing in it is markup", () => {
    const property = fc.property(anyCard(killCard()), (card) => {
      const [message, ...more] = discordCard(renderCard(card));
      expect(more).toEqual([]);
      const [frame] = readComponents(JSON.parse(JSON.stringify(message?.components)), true);
      const inner = frame?.["components"] as { content?: string; components?: object[] }[];
      const content = inner.map((each) => each.content ?? "").join("\n");
      const read = readDiscord(content);
      expect(read.mentions).toEqual([]);
      expect(read.links).toEqual([]);
      expect(read.headings).toBe(1);
      const isWhole = card.phase === "open" && card.mustOpen !== true;
      if (isWhole) expect(oneTick(read.visible)).toContain(oneTick(card.canonical));
      expect(inner.flatMap((each) => each.components ?? [])).toHaveLength(
        card.phase === "open" ? 5 : 1,
      );
    });
    fc.assert(property, { numRuns: 60, seed: 4 });
  });

  test("whatever alerts say, their message is one that Discord takes, and nothing in it is markup", () => {
    const property = fc.property(anyAlerts, (alerts) => {
      const [message, ...more] = discordCard(renderAlerts(alerts));
      expect(more).toEqual([]);
      const [frame] = readComponents(JSON.parse(JSON.stringify(message?.components)), true);
      const inner = frame?.["components"] as { content?: string }[];
      const read = readDiscord(inner.map((each) => each.content ?? "").join("\n"));
      expect(read.mentions).toEqual([]);
      const isOurs =
        /^\[[\p{L}\p{N} -]+ \(acme\.sentry\.io\)\]\(<https:\/\/acme\.sentry\.io\/x_y\*z>\)$/u;
      expect(read.links.filter((link) => !isOurs.test(link))).toEqual([]);
      expect(read.headings).toBe(1);
    });
    fc.assert(property, { numRuns: 100, seed: 4 });
  });

  test("details are as many messages as they need", () => {
    const property = fc.property(anyCard(killCard()), (card) => {
      const messages = discordMessages(renderDetails(card));
      for (const each of messages) expectValid(each);
      const seen = messages.map((each) => readDiscord(contentOf(each)).visible).join("");
      expect(oneTick(bare(seen))).toContain(oneTick(bare(card.preview.undo)));
    });
    fc.assert(property, { numRuns: 25, seed: 4 });
  });

  test("progress always fits one message", async () => {
    const texts = fc.array(anyText, { minLength: 12, maxLength: 12 });
    const property = fc.asyncProperty(texts, async (said) => {
      const log = createRunProgress();
      for (const [at, text] of said.entries()) {
        const args = { text: text.repeat(9) };
        log.note({ kind: "tool_started", call: `r1.t${at}`, tool: "http_check", args });
      }
      log.note({ kind: "draft", run: "r1", text: said.join("").repeat(20) });
      const messages = discordMessages(await renderProgress(log, () => false));
      expect(messages).toHaveLength(1);
      for (const each of messages) expectValid(each);
    });
    await fc.assert(property, { numRuns: 60, seed: 4 });
  });

  test("an answer that is too long becomes several, buttons under the last", async () => {
    const told = await renderOutgoing(talkOf("r1", "word *and* more\n".repeat(900)), () => false, {
      isUncut: true,
    });
    const buttons = [{ id: "wk:stop", label: "Stop", style: "plain" as const }];
    const messages = discordMessages({ ...told, buttons });
    expect(messages.length).toBeGreaterThan(3);
    for (const each of messages) expectValid(each);
    expect(messages.map(buttonsOf)).toEqual([...messages.slice(1).map(() => []), ["Stop"]]);
  });

  test("says its summary where nothing else can be shown", () => {
    const [message] = discordMessages(
      toldOf([{ kind: "text", inlines: [] }], { summary: "# done" }),
    );
    expect(message && contentOf(message)).toBe("\\# done");
  });
});

function utc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function isVisibleHeading(part: Block): boolean {
  return part.kind === "heading" && readable([part]) !== "";
}

/** With the numbers of lists, which are text on Discord. */
function withMarkers(parts: readonly Block[]): string {
  return parts
    .map((part) => {
      const marker = part.kind === "item" && part.marker !== "•" ? part.marker : "";
      return marker + readable([part]);
    })
    .join("");
}
