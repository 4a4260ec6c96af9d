import type { types } from "@slack/bolt";
import { summaryOf } from "../render/clip.ts";
import { type Inline, plain, type Table } from "../render/rich-text.ts";

/** A table that is drawn is no wider, in cells. */
export const MAX_TABLE_COLUMNS = 100;
/** Of a table, and of all tables of a message (Block Kit reference, table and data table). */
const MAX_TEXT = 10_000;
const MAX_ROWS = 100;
const MAX_COLUMNS = 20;
/** More rows are shown page by page. */
const PAGE = 10;

/** True for a table that Slack shows as one. */
export function canShowTable({ head, rows }: Table): boolean {
  const texts = [head, ...rows].flat().map((cell) => plain(cell).length || 1);
  return (
    rows.length > 0 &&
    rows.length < MAX_ROWS &&
    head.length <= MAX_COLUMNS &&
    texts.reduce((sum, length) => sum + length, 0) <= MAX_TEXT
  );
}

/** True for one that Slack shows page by page. */
export function isPaged(table: Table): boolean {
  return table.rows.length > PAGE && canShowTable(table);
}

/** `rich`: a cell with styles or addresses. */
export function tableBlock(
  table: Table,
  rich: (cell: Inline[]) => types.RichTextBlock,
): types.TableBlock | types.DataTableBlock {
  const { head, rows, rightAligned } = table;
  const raw = (cell: Inline[]) => ({ type: "raw_text" as const, text: plain(cell).trim() || " " });
  const shown = (cell: Inline[]) =>
    cell.some(isStyled) && plain(cell).trim() !== "" ? rich(cell) : raw(cell);
  const cells = [head.map(raw), ...rows.map((row) => head.map((_, at) => shown(row[at] ?? [])))];
  if (isPaged(table)) {
    const caption = summaryOf(head.map(plain).join(" · ")) || "Table";
    return { type: "data_table", caption, page_size: PAGE, rows: cells };
  }
  const settings = head.map((_, at) => ({
    is_wrapped: true,
    ...(rightAligned[at] === true && { align: "right" as const }),
  }));
  return { type: "table", column_settings: settings, rows: cells };
}

function isStyled({ strong, em, strike, code, url, at }: Inline): boolean {
  return [strong, em, strike, code, url, at].some((style) => style !== undefined);
}
