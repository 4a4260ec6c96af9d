import * as fc from "fast-check";
import type { ActionCard, AlertCard } from "../../src/adapters/shown.ts";
import { basicBlocks } from "../../src/adapters/render/basic.ts";
import type { Block, Inline } from "../../src/adapters/render/rich-text.ts";
import { exactText } from "../../src/security/sanitize.ts";

/** How many messages of any parts each platform shows in a test; `PROPERTY_RUNS=20000` shows more. */
export const PROPERTY_RUNS = Number(process.env["PROPERTY_RUNS"] ?? "4000");

/** What means something on one of the platforms, and what glues it together. `¶` is a line break, `·` a space. */
const PIECES =
  '<@123> <@!1> <@&2> <#3> <!channel> <!here> <!subteam^S1> <t:1:R> <:x:12> </cmd:1> <id:home> @everyone @here @ every one here @U123 [a](http://evil/x) [ ]( ) ![ ] ( http://evil/x_y https:// http :// HTTP://E <http://x/> discord://a steam: // mailto:a@b.c www.x.y a@b.c || ** * _ __ ~~ ~ ` `` ``` ```` \\ \\\\ ¶ ¶¶ ·· · #· ##· -#· -· +· >· >>>· 1.· 1 . 2)· a b7 x_y :smile: & < > &lt; &amp; 数 😀 𝐀 é ˋ " \' {" <!-- --> <b> | |-|-|¶ [T1] [T12] [x]· *** === ~~~'
    .split(" ")
    .map((piece) => piece.replaceAll("·", " ").replaceAll("¶", "\n"));

/** Texts that try to be more than text. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  {
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((all) => all.join("")),
    weight: 6,
  },
  { arbitrary: fc.string({ unit: "grapheme", maxLength: 24 }), weight: 1 },
);

const flag = fc.constantFrom<[] | [true]>([], [true]);

const anySpan: fc.Arbitrary<Inline> = fc.oneof(
  {
    arbitrary: fc
      .tuple(anyText, flag, flag, flag, flag)
      .map(([text, strong, em, strike, code]) => ({
        // What is code is one line.
        text: code.length > 0 ? text.replaceAll("\n", " ") : text,
        ...(strong[0] && { strong: true as const }),
        ...(em[0] && { em: true as const }),
        ...(strike[0] && { strike: true as const }),
        ...(code[0] && { code: true as const }),
      })),
    weight: 8,
  },
  { arbitrary: anyText.map((text) => ({ text })), weight: 8 },
  {
    arbitrary: fc
      .constantFrom("https://ours/x_y*z", "https://ours/`")
      .map((url) => (url.includes("`") ? { text: url, code: true as const } : { text: url, url })),
    weight: 1,
  },
  { arbitrary: fc.constant({ text: "2026-11-22 03:30 UTC", at: 1_795_318_200_000 }), weight: 1 },
);

const anyInlines = fc.array(anySpan, { maxLength: 4 });

const anyPart: fc.Arbitrary<Block> = fc.oneof(
  fc
    .tuple(fc.constantFrom("text", "heading", "quote", "small"), anyInlines)
    .map(([kind, inlines]) => ({ kind, inlines })),
  fc
    .tuple(fc.nat({ max: 9 }), fc.constantFrom("•", "•", "3.", "12)"), anyInlines)
    .map(([depth, marker, inlines]) => ({ kind: "item" as const, depth, marker, inlines })),
  anyText.map((text) => ({ kind: "code" as const, text })),
  anyText.map((text) => ({ kind: "exact" as const, text: exactText(JSON.stringify({ text })) })),
  fc.constant({ kind: "rule" as const }),
  anyInlines.map((inlines) => ({ kind: "line" as const, inlines })),
  fc.array(anyInlines, { minLength: 1, maxLength: 3 }).map((rows) => ({
    kind: "fields" as const,
    rows: rows.map((inlines) => ({ label: "Undo", inlines })),
  })),
);

export const anyParts: fc.Arbitrary<Block[]> = fc.array(anyPart, { maxLength: 6 });

const anyTable: fc.Arbitrary<Block> = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 14 }))
  .chain(([columns, rows]) => {
    // Cells have no line breaks.
    const cell = fc
      .array(anySpan, { maxLength: 2 })
      .map((all) => all.map((span) => ({ ...span, text: span.text.replaceAll(/\s/g, " ") })));
    const row = fc.array(cell, { minLength: columns, maxLength: columns });
    return fc
      .tuple(row, fc.array(row, { minLength: rows, maxLength: rows }))
      .map(([head, all]) => ({
        kind: "table" as const,
        head,
        rows: all,
        rightAligned: head.map((_, at) => at % 2 === 1),
      }));
  });

const anyFold: fc.Arbitrary<Block> = fc
  .array(anyInlines, { minLength: 1, maxLength: 14 })
  .map((lines) => ({
    kind: "fold",
    title: "Evidence · 4 checks",
    open: { id: "wk:checks:r1", label: "Evidence · 4 checks", style: "plain" },
    lines: lines.map((inlines, at) => ({
      inlines: [{ text: `T${at} ` }, ...inlines],
      button: { id: `wk:output:r1.t${at}`, label: "Show output", style: "plain" as const },
    })),
  }));

/** Parts with tables and what is folded among them. */
export const anyAnswer: fc.Arbitrary<Block[]> = fc
  .tuple(anyParts, anyTable, anyFold, anyParts, anyTable)
  .map(([before, table, fold, after, other]) => [...before, table, fold, ...after, other]);

/** What a reader has to see of the parts, without white space, in order. */
export function readable(parts: readonly Block[]): string {
  const texts = basicBlocks(parts, 100).map((part) => {
    if (part.kind === "rule") return "";
    if (part.kind === "code" || part.kind === "exact") return part.text;
    return part.inlines.map(({ text, at }) => (at === undefined ? text : `(${text})`)).join("");
  });
  return bare(texts.join(""));
}

export function bare(text: string): string {
  return text.replaceAll(/\s/g, "");
}

const CHARACTERS = [
  "x",
  "数",
  '"',
  "`",
  "*",
  "\n",
  "\\",
  "😀",
  "_ ",
  "http://a.b/ ",
  "@everyone ",
  "``` ",
];

/** Of at most `bytes` bytes, mostly one kind of character. */
function anyLong(bytes: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...CHARACTERS), fc.nat({ max: bytes }), fc.nat({ max: 2 }), anyText)
    .map(([unit, length, zeros, text]) => {
      const whole = text + unit.repeat(Math.ceil(zeros === 0 ? length : bytes / unit.length));
      return Buffer.from(whole).subarray(0, bytes).toString().replaceAll("\ufffd", "");
    });
}

function shownBytes(canonical: string): number {
  return Buffer.byteLength(canonical.replaceAll("```", "``\\u0060"));
}

/** Arguments whose canonical form is as long as an action's may be (3 000 bytes as shown), or shorter. */
function argsOf(text: string): { canonical: string; args: { text: string } } {
  let args = { text };
  let canonical = exactText(JSON.stringify(args));
  while (shownBytes(canonical) > 3_000) {
    const less = Math.ceil((shownBytes(canonical) - 3_000) / 12);
    args = { text: Array.from(args.text).slice(0, -less).join("") };
    canonical = exactText(JSON.stringify(args));
  }
  return { canonical, args };
}

const PHASES = "open approved running done denied expired cancelled void unknown failed".split(" ");

/** Cards as full as they can be. */
export function anyCard(sample: ActionCard): fc.Arbitrary<ActionCard> {
  const line = fc.record({
    label: fc.constantFrom("Argument 12", "SHA-256", "*"),
    value: anyLong(400),
  });
  const vote = fc.record({
    name: anyText,
    approve: fc.boolean(),
    reason: fc.option(anyLong(500), { nil: undefined }),
  });
  return fc
    .record({
      text: anyLong(3_000),
      revision: fc.constantFrom(1, 2, 12_345),
      tool: fc.constantFrom("kill_process", "_".repeat(80)),
      reason: fc.option(anyLong(600), { nil: undefined }),
      lines: fc.array(line, { maxLength: 30 }),
      blastRadius: anyLong(500),
      undo: anyLong(300),
      approvers: fc.constantFrom("anyone in this thread", "slack:T1:U1, ".repeat(100)),
      votes: fc.array(vote, { maxLength: 5 }),
      phase: fc.constantFrom(...PHASES) as fc.Arbitrary<ActionCard["phase"]>,
      ending: fc.option(anyLong(600), { nil: undefined }),
      isOpen: fc.boolean(),
      words: fc.record(
        { title: anyLong(110).map(exactText), command: anyLong(3_000).map(exactText) },
        { requiredKeys: [] },
      ),
      filled: fc.option(anyLong(300).map(exactText), { nil: undefined }),
      editing: fc.option(anyText, { nil: undefined }),
      host: fc.constantFrom(undefined, "web-1", "h".repeat(63)),
    })
    .map(({ text, lines, blastRadius, undo, isOpen, phase, words, ...rest }) => ({
      ...sample,
      ...rest,
      ...argsOf(text),
      mustOpen: shownBytes(argsOf(text).canonical) + (rest.filled?.length ?? 0) > 900,
      preview: { lines, blastRadius, undo, ...words },
      phase: isOpen ? "open" : phase,
    }));
}

/** Groups of alerts as full as their messages can be. */
export const anyAlerts: fc.Arbitrary<AlertCard> = fc.record({
  id: fc.constantFrom("alert12", "alert123456789"),
  name: anyLong(300),
  severity: fc.option(anyLong(300), { nil: undefined }),
  urgency: fc.nat({ max: 3 }),
  firing: fc.nat({ max: 2 }),
  acknowledged: fc.nat({ max: 2 }),
  resolved: fc.nat({ max: 1_000 }),
  told: fc.nat(),
  toldAt: fc.constant(1_795_318_200_000),
  startedAt: fc.constant(1_795_318_100_000),
  overAt: fc.constantFrom(undefined, 1_795_318_200_000),
  back: fc.constantFrom(undefined, { times: 3, at: 1_795_318_200_000 }),
  summary: fc.option(anyLong(2_000), { nil: undefined }),
  description: fc.option(anyLong(2_000), { nil: undefined }),
  where: fc.array(
    fc.record({
      label: fc.constantFrom("service", "instance"),
      values: fc.array(anyLong(300), { minLength: 1, maxLength: 3 }),
      more: fc.nat({ max: 20 }),
    }),
    { maxLength: 6 },
  ),
  folded: fc.array(anyLong(300), { maxLength: 12 }),
  shared: fc.option(anyLong(300), { nil: undefined }),
  more: fc.nat({ max: 1_000 }),
  links: fc.array(
    fc
      .tuple(
        anyLong(40),
        fc.constantFrom(
          ["https://acme.sentry.io/x_y*z", true] as const,
          ["https://acme.sentry.io/`", true] as const,
          ["https://acme.sentry.io/x_y*z", false] as const,
          ["https://acme.sentry.io/`](https://evil.example)", false] as const,
          [`https://prometheus.corp/${"x_*".repeat(125)}`, false] as const,
        ),
      )
      .map(([label, [url, isKnown]]) => ({ label, url, isKnown })),
    { maxLength: 4 },
  ),
  incident: fc.constantFrom(undefined, "inc-20261123-aaaa"),
  heardAt: fc.constant(1_795_318_200_000),
  services: fc.array(anyLong(300), { maxLength: 3 }),
  silence: fc.constantFrom(undefined, ['alertname="x"']),
  silenced: fc.constantFrom(
    undefined,
    ...[undefined, 1_795_318_200_000].flatMap((endedAt) =>
      [true, false].map((isAll) => ({
        until: 1_795_318_200_000,
        endedAt,
        isAll,
        by: ["n".repeat(80)],
        approvedBy: ["*bob*", "@everyone"],
        isHeardSince: isAll,
      })),
    ),
  ),
  flaps: fc.constantFrom(undefined, { turns: 100, since: 1_795_318_100_000 }),
});
