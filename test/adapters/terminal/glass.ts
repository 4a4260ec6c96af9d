/** What a terminal of a fixed width shows of what is written to it; it never scrolls anything away. */
export interface Glass {
  write(text: string): void;
  text(): string;
  raw(): string;
}

const ESC = "\u001b";
const TOKEN = new RegExp(
  String.raw`${ESC}\[\?2004[hl]|${ESC}\[([0-9;]*)([A-Za-z])|${ESC}([78])|[^]`,
  "gu",
);

/** Understands what this program and Node's line editor write, and fails on anything else. */
export function createGlass(columns: number): Glass {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  let saved = { row: 0, column: 0 };
  let raw = "";

  function line(): string[] {
    while (rows.length <= row) rows.push([]);
    return rows[row] ?? [];
  }

  function put(char: string): void {
    if (column === columns) {
      row += 1;
      column = 0;
    }
    const cells = line();
    while (cells.length < column) cells.push(" ");
    cells[column] = char;
    column += 1;
  }

  function control(count: number, letter: string): void {
    if (letter === "A") row = Math.max(0, row - (count || 1));
    else if (letter === "C") column = Math.min(columns - 1, column + (count || 1));
    else if (letter === "D") column = Math.max(0, column - (count || 1));
    else if (letter === "G") column = (count || 1) - 1;
    else if (letter === "J" && count === 0) {
      line().length = Math.min(line().length, column);
      rows.length = row + 1;
    } else if (letter === "K" && count === 0) line().length = Math.min(line().length, column);
    else if (letter === "K" && count === 2) line().length = 0;
    else if (letter !== "m") throw new Error(`The glass does not know CSI ${count} ${letter}`);
  }

  return {
    write(text) {
      raw += text;
      for (const [token, digits, letter, keep] of text.matchAll(TOKEN)) {
        if (letter !== undefined) control(Number(digits?.split(";")[0] ?? 0), letter);
        else if (token.startsWith(`${ESC}[?`)) continue; // pastes are marked, or no longer
        else if (keep === "7") saved = { row, column };
        else if (keep === "8") ({ row, column } = saved);
        else if (token === "\r") column = 0;
        else if (token === "\n") {
          row += 1;
          column = 0;
          line();
        } else if (token < " ") throw new Error(`The glass does not know ${JSON.stringify(token)}`);
        else put(token);
      }
    },
    text: () => rows.map((cells) => cells.join("").trimEnd()).join("\n"),
    raw: () => raw,
  };
}
