import stringWidth from "string-width";
import {
  type BasicBlock,
  type Block,
  fieldInlines,
  type Inline,
  joinInlines,
  plain,
  type Table,
} from "./rich-text.ts";

/** The widest table that a chat shows as one. */
const MAX_TABLE_COLUMNS = 100;

/** The blocks without fields, lines and tables. `columns`: a wider table is written row by row. */
export function basicBlocks(
  blocks: readonly Block[],
  columns: number = MAX_TABLE_COLUMNS,
): BasicBlock[] {
  return blocks.flatMap((block): BasicBlock[] => {
    if (block.kind === "line") return [{ kind: "text", inlines: block.inlines }];
    if (block.kind === "fields") return [{ kind: "text", inlines: fieldInlines(block) }];
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

function rowByRow(head: Inline[][], rows: Inline[][][]): BasicBlock[] {
  const line = (row: Inline[][]): Inline[] =>
    joinInlines(row.flatMap((cell, at) => (at === 0 ? cell : [{ text: " │ " }, ...cell])));
  const names = head.map((cell) => cell.map((inline): Inline => ({ ...inline, strong: true })));
  return [
    { kind: "text", inlines: line(names) },
    ...rows.map((row): BasicBlock => ({ kind: "item", depth: 0, marker: "•", inlines: line(row) })),
  ];
}
