import type { APIComponentInContainer } from "discord.js";
import type { RenderedCard, Tone } from "../render/card.ts";
import type { BasicBlock, Inline } from "../render/rich-text.ts";
import { COMPONENTS_V2, type DiscordMessage, markdownOf, mentionsOf, rowsOf } from "./encode.ts";

const TEXT_DISPLAY = 10;
const SEPARATOR = 14;
const CONTAINER = 17;

const COLOURS: Readonly<Record<Tone, number>> = {
  danger: 0xdd_2e_44,
  caution: 0xf4_a2_3b,
  good: 0x2e_b6_7d,
  bad: 0xdd_2e_44,
  calm: 0x99_aa_b5,
};

/** A card as one message, in the order of Slack's. */
export function discordCard(card: RenderedCard): DiscordMessage[] {
  const { tone, title, standing, command, notes, facts, timeline = [] } = card;
  const { about, mentions, exact } = card;
  const { line, allowed } = mentionsOf(mentions);
  const components: APIComponentInContainer[] = [
    text([
      { kind: "heading", inlines: [{ text: title }] },
      { kind: "small", inlines: [{ text: standing }] },
    ]),
    ...(command === undefined ? [] : [text([{ kind: "exact", text: command }])]),
    text([
      {
        kind: "text",
        inlines: [...notes.map((note) => ({ text: `${note}\n` })), ...facts.flatMap(factInlines)],
      },
      ...(timeline.length === 0
        ? []
        : [{ kind: "text", inlines: [...timeline] } satisfies BasicBlock]),
      { kind: "small", inlines: [...about] },
    ]),
    ...(line === "" ? [] : [{ type: TEXT_DISPLAY, content: line.trim() }]),
    ...rowsOf([...card.buttons, ...card.more]),
    ...(exact === undefined ? [] : [{ type: SEPARATOR }, text(exactBlocks(exact))]),
  ];
  return [
    {
      flags: COMPONENTS_V2,
      components: [{ type: CONTAINER, accent_color: COLOURS[tone], components }],
      allowedMentions: allowed,
    },
  ];
}

/** Only our label is bold, and a text's further lines are indented, so no text looks like another line. */
function factInlines({ label, text: said }: RenderedCard["facts"][number], at: number): Inline[] {
  return [
    ...(at > 0 ? [{ text: "\n" }] : []),
    { text: label, strong: true },
    { text: ` ${said.replaceAll("\n", "\n      ")}` },
  ];
}

function exactBlocks({ title, asked, added }: NonNullable<RenderedCard["exact"]>): BasicBlock[] {
  return [
    { kind: "small", inlines: [{ text: title }] },
    { kind: "exact", text: asked },
    ...(added === undefined
      ? []
      : ([
          { kind: "small", inlines: [{ text: "Added by Watchkeeper:" }] },
          { kind: "exact", text: added },
        ] satisfies BasicBlock[])),
  ];
}

function text(blocks: readonly BasicBlock[]) {
  return { type: TEXT_DISPLAY, content: markdownOf(blocks) };
}
