import stringWidth from "string-width";

/** Rows as lines, each column as wide as its widest cell. */
export function alignedRows(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, text] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(text));
  return rows.map((row) =>
    row
      .map((text, column) => text + " ".repeat((widths[column] ?? 0) - stringWidth(text)))
      .join("  ")
      .trimEnd(),
  );
}
