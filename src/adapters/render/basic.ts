import stringWidth from "string-width";
import {
  type BasicBlock,
  type Block,
  fieldInlines,
  type Inline,
  joinInlines,
  plain,
  type ShownBlock,
  type Table,
} from "./rich-text.ts";

/** The blocks without fields and lines. */
export function shownBlocks(blocks: readonly Block[]): ShownBlock[] {
  return blocks.map((block): ShownBlock => {
    if (block.kind === "line") return { kind: "text", inlines: block.inlines };
    if (block.kind === "fields") return { kind: "text", inlines: fieldInlines(block) };
    return block;
  });
}

/** Those without tables and folds either. `columns`: a wider table is written row by row. */
export function basicBlocks(blocks: readonly Block[], columns: number): BasicBlock[] {
  return shownBlocks(blocks).flatMap((block): BasicBlock[] => {
    if (block.kind === "fold") return [];
    return block.kind === "table" ? drawTable(block, columns) : [block];
  });
}

/**
 * A table of which no line is wider than `columns` cells as a block of code; a wider one row by row: its lines break as
 * other text does, and keep their styles.
 */
function drawTable({ head, rows, rightAligned }: Table, columns: number): BasicBlock[] {
  const [headTexts = [], ...rowTexts] = [head, ...rows].map((row) => row.map(plain));
  const widths = headTexts.map((_, at) =>
    Math.max(...[headTexts, ...rowTexts].map((row) => stringWidth(row[at] ?? ""))),
  );
  const wide = widths.reduce((sum, width) => sum + width + 3, -3);
  if (wide > columns) return rowByRow(head, rows);
  const line = (row: string[]): string =>
    widths
      .map((width, at) => {
        const room = " ".repeat(width - stringWidth(row[at] ?? ""));
        return rightAligned[at] === true ? room + (row[at] ?? "") : (row[at] ?? "") + room;
      })
      .join(" │ ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("─┼─");
  return [{ kind: "code", text: [line(headTexts), rule, ...rowTexts.map(line)].join("\n") }];
}

/** `• **checkout** · p99 before: 220 ms · p99 now: 4.8 s` */
function rowByRow(head: Inline[][], rows: Inline[][][]): BasicBlock[] {
  const bold = (cell: Inline[]) => cell.map((inline): Inline => ({ ...inline, strong: true }));
  const named = (cell: Inline[], at: number): Inline[] => {
    const name = plain(head[at] ?? []);
    return [{ text: name === "" ? " · " : ` · ${name}: ` }, ...cell];
  };
  const names: Inline[] = head.flatMap((cell, at) =>
    at === 0 ? bold(cell) : [{ text: " · " }, ...bold(cell)],
  );
  return [
    { kind: "text", inlines: joinInlines(names) },
    ...rows.map((row): BasicBlock => ({
      kind: "item",
      depth: 0,
      marker: "•",
      inlines: joinInlines(row.flatMap((cell, at) => (at === 0 ? bold(cell) : named(cell, at)))),
    })),
  ];
}
