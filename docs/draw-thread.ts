import * as z from "zod";

/** Draws messages as the program posted them to Slack, in their Block Kit JSON, as an SVG for the readme. */

const style = z
  .looseObject({ bold: z.boolean(), italic: z.boolean(), code: z.boolean() })
  .partial();
const inline = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string(), style: style.optional() }),
  z.looseObject({ type: z.literal("link"), url: z.string() }),
  z.looseObject({ type: z.literal("user"), user_id: z.string() }),
  z.looseObject({ type: z.literal("date"), fallback: z.string() }),
]);
const section = z.looseObject({
  type: z.enum(["rich_text_section", "rich_text_preformatted", "rich_text_quote"]),
  elements: z.array(inline),
});
const list = z.looseObject({
  type: z.literal("rich_text_list"),
  elements: z.array(z.looseObject({ elements: z.array(inline) })),
});
const plain = z.looseObject({ text: z.string() });
const pressed = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("button"),
    text: plain,
    style: z.enum(["primary", "danger"]).optional(),
  }),
  z.looseObject({ type: z.literal("overflow") }),
]);
const block = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("rich_text"), elements: z.array(z.union([section, list])) }),
  z.looseObject({ type: z.literal("actions"), elements: z.array(pressed) }),
  z.looseObject({ type: z.literal("alert"), level: z.enum(["warning", "error"]), text: plain }),
  z.looseObject({ type: z.literal("header"), text: plain }),
  z.looseObject({ type: z.literal("section"), fields: z.array(plain) }),
  z.looseObject({ type: z.literal("context"), elements: z.array(plain) }),
  // Folded: its title is what people see.
  z.looseObject({
    type: z.literal("container"),
    title: plain,
    default_collapsed: z.literal(true),
  }),
]);
const thread = z.looseObject({
  messages: z.array(
    z.looseObject({ name: z.string(), bot: z.boolean().default(false), blocks: z.array(block) }),
  ),
});

type Inline = z.infer<typeof inline>;

interface Run {
  text: string;
  look: string;
}

const WIDTH = 760;
const LEFT = 64;
const LINE = 22;
/** On average, of 15 px; browsers let the runs of a line flow, so this only decides where lines end. */
const CHARACTER = 7.7;
const COLUMNS = Math.floor((WIDTH - LEFT - 24) / CHARACTER);

/** What is drawn so far, and how far down. */
class Sheet {
  readonly parts: string[] = [];
  y = 12;

  lines(runs: readonly Run[], x = LEFT, columns = COLUMNS): void {
    for (const line of wrapped(runs, columns)) {
      this.y += LINE;
      const spans = line.map(({ text, look }) => `<tspan${look}>${escaped(text)}</tspan>`);
      this.parts.push(`<text x="${x}" y="${this.y - 6}">${spans.join("")}</text>`);
    }
  }

  boxed(runs: readonly Run[], isQuote: boolean): void {
    const top = this.y + 2;
    const before = this.parts.length;
    this.y += 4;
    this.lines(runs, LEFT + 12, COLUMNS - 4);
    this.y += 4;
    const box = isQuote
      ? `<rect x="${LEFT}" y="${top}" width="4" height="${this.y - top - 2}" rx="2" fill="#ddd"/>`
      : `<rect x="${LEFT}" y="${top}" width="${WIDTH - LEFT - 24}" height="${this.y - top - 2}" rx="4" fill="#f8f8f8" stroke="#ddd"/>`;
    this.parts.splice(before, 0, box);
  }

  buttons(elements: readonly z.infer<typeof pressed>[]): void {
    let x = LEFT;
    for (const element of elements) {
      const label = element.type === "button" ? element.text.text : "⋯";
      const kind = element.type === "button" ? element.style : undefined;
      const width = Math.round(label.length * 8 + 24);
      const [fill, ink] =
        kind === "primary"
          ? ["#007a5a", "#fff"]
          : kind === "danger"
            ? ["#e01e5a", "#fff"]
            : ["#fff", "#1d1c1d"];
      this.parts.push(
        `<rect x="${x}" y="${this.y + 6}" width="${width}" height="28" rx="4" fill="${fill}" stroke="${kind === undefined ? "#bbb" : fill}"/>`,
        `<text x="${x + width / 2}" y="${this.y + 25}" text-anchor="middle" font-size="13" font-weight="700" fill="${ink}">${escaped(label)}</text>`,
      );
      x += width + 8;
    }
    this.y += 42;
  }

  /** Two beside each other. */
  fields(each: readonly z.infer<typeof plain>[]): void {
    const half = Math.floor(COLUMNS / 2) - 2;
    for (let i = 0; i < each.length; i += 2) {
      const top = this.y;
      const ends = each.slice(i, i + 2).map(({ text }, column) => {
        this.y = top;
        this.lines([{ text, look: "" }], LEFT + column * Math.floor((WIDTH - LEFT - 24) / 2), half);
        return this.y;
      });
      this.y = Math.max(...ends) + 4;
    }
  }

  richText(elements: readonly z.infer<typeof section | typeof list>[]): void {
    for (const part of elements) {
      if (part.type === "rich_text_list")
        for (const item of part.elements)
          this.lines([{ text: "• ", look: "" }, ...item.elements.map(runOf)], LEFT + 8);
      else if (part.type === "rich_text_section") this.lines(part.elements.map(runOf));
      else
        this.boxed(
          part.elements.map((one) =>
            part.type === "rich_text_quote" ? runOf(one) : { ...runOf(one), look: CODE },
          ),
          part.type === "rich_text_quote",
        );
    }
  }

  draw(each: z.infer<typeof block>): void {
    switch (each.type) {
      case "actions":
        return this.buttons(each.elements);
      case "rich_text":
        return this.richText(each.elements);
      case "alert":
        return this.boxed(
          [{ text: `${each.level === "error" ? "🔴" : "🟠"} ${each.text.text}`, look: "" }],
          false,
        );
      case "header":
        return this.lines([{ text: each.text.text, look: BOLD }]);
      case "section":
        return this.fields(each.fields);
      case "context":
        return this.lines([
          { text: each.elements.map(({ text }) => dated(text)).join(""), look: FAINT },
        ]);
      case "container":
        return this.boxed([{ text: `▸ ${each.title.text}`, look: "" }], false);
    }
  }
}

/** @throws ZodError when a message has a block that this does not know */
export function drawThread(json: string): string {
  const sheet = new Sheet();
  for (const { name, bot, blocks } of thread.parse(JSON.parse(json)).messages) {
    sheet.parts.push(
      `<rect x="20" y="${sheet.y + 4}" width="34" height="34" rx="6" fill="${bot ? "#1f2d3d" : "#d9a441"}"/>`,
      `<text x="37" y="${sheet.y + 27}" text-anchor="middle" font-weight="700" fill="#fff">${escaped(name.slice(0, 1).toUpperCase())}</text>`,
    );
    sheet.lines([{ text: bot ? `${name}  (app)` : name, look: BOLD }]);
    for (const each of blocks) sheet.draw(each);
    sheet.y += 14;
  }
  const { y, parts } = sheet;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" font-family="Lato, Noto Sans, Segoe UI, Helvetica, Arial, sans-serif" font-size="15" fill="#1d1c1d" role="img" aria-label="A thread in Slack: a question, a card with buttons, and the answer with its evidence">
<rect width="${WIDTH}" height="${y}" rx="8" fill="#fff" stroke="#ddd"/>
${parts.join("\n")}
</svg>
`;
}

const BOLD = ' font-weight="700"';
const FAINT = ' font-size="13" fill="#616061"';
const CODE =
  ' font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13" fill="#b0204c"';

/** Slack writes a date in the reader's own time, or what stands behind the bar. */
function dated(text: string): string {
  return text.replaceAll(/<!date\^[^|>]*\|([^>]*)>/g, "$1");
}

function runOf(element: Inline): Run {
  switch (element.type) {
    case "link":
      return { text: element.url, look: ' fill="#1264a3"' };
    case "user":
      return { text: "@watchkeeper", look: ' fill="#1264a3"' };
    case "date":
      return { text: element.fallback, look: "" };
    case "text": {
      const { bold = false, italic = false, code = false } = element.style ?? {};
      const look = code ? CODE : bold ? BOLD : italic ? ' font-style="italic"' : "";
      return { text: element.text, look };
    }
  }
}

/** Lines of at most so many characters, broken at spaces. */
function wrapped(runs: readonly Run[], columns: number): Run[][] {
  const lines: Run[][] = [[]];
  let used = 0;
  for (const { text, look } of runs) {
    for (const piece of text.match(/\n|[^\S\n]+|\S+/g) ?? []) {
      const isBreak = piece === "\n";
      if (isBreak || (used > 0 && used + piece.length > columns)) {
        lines.push([]);
        used = 0;
      }
      if (isBreak || (used === 0 && piece.trim() === "")) continue;
      const line = lines.at(-1);
      const last = line?.at(-1);
      if (last?.look === look) last.text += piece;
      else line?.push({ text: piece, look });
      used += piece.length;
    }
  }
  while (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
