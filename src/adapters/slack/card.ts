import type { types } from "@slack/bolt";
import type { Button } from "../render/buttons.ts";
import type { RenderedCard, Tone } from "../render/card.ts";
import { buttonOf, plain } from "./controls.ts";
import {
  escapeText,
  exactBlock,
  mentionBlocks,
  textBlock,
  type SlackMessage,
  timestampOf,
} from "./encode.ts";

/** Block Kit's colours for a card. */
const LEVELS: Readonly<Record<Tone, types.AlertBlock["level"]>> = {
  danger: "error",
  caution: "warning",
  good: "success",
  bad: "error",
  calm: "default",
};

/** The menu of a card's message; the option that is chosen says what it means. */
const MENU = "wk:more";

/**
 * A card as one message. All that anybody wrote is plain or literal text; only the time is Slack's own notation. `newer`:
 * also in blocks that not every workspace has.
 */
export function slackCard(card: RenderedCard, newer = true): SlackMessage[] {
  const { tone, title, standing, command, notes, facts, timeline = [], mentions, exact } = card;
  const buttons = [...card.buttons.map(buttonOf), ...menuOf(card.more)];
  const fields = facts.map(({ label, text }) => plain(`${label}\n${text}`));
  const body: types.KnownBlock[] = [
    { type: "header", text: plain(title) },
    ...(command === undefined ? [] : [exactBlock(command)]),
    ...(notes.length === 0 ? [] : [sectionOf(notes.join("\n"))]),
    ...(fields.length === 0 ? [] : [{ type: "section" as const, fields }]),
    ...(timeline.length === 0 ? [] : [textBlock(timeline)]),
    ...mentionBlocks(mentions),
    { type: "context", elements: aboutOf(card) },
    ...(buttons.length === 0 ? [] : [{ type: "actions" as const, elements: buttons }]),
  ];
  const alert: types.AlertBlock = {
    type: "alert",
    level: LEVELS[tone] ?? "default",
    text: plain(standing),
  };
  const folded = exact === undefined ? [] : [foldedBlock(exact)];
  const unfolded = folded.flatMap(({ title: { text }, child_blocks }) => [
    sectionOf(text),
    ...child_blocks,
  ]);
  const blocks = newer ? [alert, ...body, ...folded] : [sectionOf(standing), ...body, ...unfolded];
  return [{ text: escapeText(card.summary), blocks }];
}

/** In sections: Slack's reference lets a container hold rich text, its servers do not (slack-morphism 2.31). */
function foldedBlock({ title, asked, added }: NonNullable<RenderedCard["exact"]>) {
  const texts = [asked, ...(added === undefined ? [] : ["Added by Watchkeeper:", added])];
  return {
    type: "container",
    title: plain(title),
    is_collapsible: true,
    default_collapsed: true,
    child_blocks: texts.map(sectionOf),
  } satisfies types.ContainerBlock;
}

function sectionOf(text: string): types.SectionBlock {
  return { type: "section", text: plain(text) };
}

function aboutOf({ about }: RenderedCard): (types.PlainTextElement | types.MrkdwnElement)[] {
  return about.map((inline) => {
    const at = inline.at === undefined ? undefined : timestampOf(inline.at);
    if (at === undefined) return plain(inline.text);
    const text = `<!date^${at}^{date_short_pretty} {time} ({ago})|${escapeText(inline.text)}>`;
    return { type: "mrkdwn", text };
  });
}

function menuOf(more: readonly Button[]): types.Overflow[] {
  if (more.length === 0) return [];
  const options = more.map(({ id, label }) => ({ text: plain(label), value: id }));
  return [{ type: "overflow", action_id: MENU, options }];
}
