import { bareProse, figuresIn, isTold, type ToldFigures } from "./figures.ts";
import { numbersIn, sentencesIn } from "./sentences.ts";

const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)]|\|)\s*/;

/**
 * The figures that stand beside a reference to statistics, in its sentence, list item or row, and that no statistics cited there say: each
 * once, as written. `told`: what statistics said, by call. Where another call is cited too, a figure may be that one's.
 */
export function otherFigures(text: string, told: ReadonlyMap<number, ToldFigures>): string[] {
  if (told.size === 0 || !numbersIn(text).some((number) => told.has(number))) return [];
  const bare = bareProse(text);
  const items = itemsIn(text);
  const others = wholeSentences(text).flatMap(({ start, end }) => {
    const own = numbersIn(text.slice(start, end));
    const item = items.findLast(({ from }) => from <= start);
    const isIn = item !== undefined && start < item.to;
    const cited = own.length === 0 && isIn ? numbersIn(text.slice(item.from, item.to)) : own;
    const known = cited.flatMap((number) => told.get(number) ?? []);
    if (known.length === 0 || known.length < cited.length) return [];
    const isRow = isIn && text[item.from] === "|";
    return figuresIn(bare.slice(start, end), text.slice(start, end))
      .filter((figure) => !isTold(figure, known, isRow))
      .map((figure) => figure.text);
  });
  return [...new Set(others)];
}

/** `am 20. November` is one, not two. */
function wholeSentences(text: string): { start: number; end: number }[] {
  const whole: { start: number; end: number }[] = [];
  for (const { start, end } of sentencesIn(text)) {
    const last = whole.at(-1);
    const isOrdinal = last !== undefined && /\d\.$/.test(text.slice(last.start, last.end));
    if (isOrdinal && /^[ \t]+$/.test(text.slice(last.end, start))) last.end = end;
    else whole.push({ start, end });
  }
  return whole;
}

/** Items of lists with the lines that go on below, and rows of tables. */
function itemsIn(text: string): { from: number; to: number }[] {
  const items: { from: number; to: number }[] = [];
  let at = 0;
  let isOpen = false;
  for (const line of text.split("\n")) {
    const to = at + line.length;
    const last = items.at(-1);
    if (ITEM.test(line)) {
      items.push({ from: at + (line.length - line.trimStart().length), to });
      isOpen = true;
    } else if (isOpen && last !== undefined && /^\s+\S/.test(line)) last.to = to;
    else isOpen = false;
    at = to + 1;
  }
  return items;
}
