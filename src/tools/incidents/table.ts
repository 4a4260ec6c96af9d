import stringWidth from "string-width";
import type { Incident } from "../../incidents/incident.ts";
import { createClock, showDuration } from "../../core/instant.ts";
import { titleOf, UNVERIFIED, unverifiedIn } from "../../incidents/unverified.ts";

/** Fits a chat's block of code and a terminal. Only a thread's address may make a line longer. */
const MAX_COLUMNS = 100;

const LABEL_COLUMNS = 10;

/** As much of a text as fits, with `…` where something is missing. */
function cut(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let kept = "";
  let width = 1;
  for (const character of text) {
    width += stringWidth(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

function pad(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - stringWidth(text)));
}

/** In lines that fit, broken between words; a longer word, such as an address, has a line of its own. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const part of text.split("\n")) {
    let line = "";
    for (const word of part.split(/\s+/)) {
      const longer = line === "" ? word : `${line} ${word}`;
      if (line !== "" && stringWidth(longer) > columns) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    lines.push(line);
  }
  return lines;
}

/** A line that begins with its label, more below it when it is long; nothing for no text. */
export function labelled(
  label: string,
  text: string | undefined,
  columns = LABEL_COLUMNS,
): string[] {
  if (text === undefined || text === "") return [];
  return wrap(text, MAX_COLUMNS - columns - 1).map(
    (line, i) => `${pad(i === 0 ? label : "", columns)} ${line}`,
  );
}

/** Some of `count` incidents, one line each: id, severity, begin in the zone and in UTC, how long, title, and the thread's address. */
export function incidentTable(
  incidents: readonly Incident[],
  zone: string,
  count: number,
): string[] {
  if (incidents.length === 0) return [];
  const clocks = { local: createClock(zone), utc: createClock("UTC") };
  const began = ({ startedAt }: Incident) => {
    const [local, utc] = [clocks.local.dateTime(startedAt), clocks.utc.dateTime(startedAt)];
    return local === utc ? local : `${local} (${utc.slice(11)}Z)`;
  };
  const rows = incidents.map((one) => ({
    link: one.link,
    cells: [one.id, one.severity ?? "-", began(one), lasted(one), titleOf(one)],
  }));
  const head = ["incident", "sev", "began", "lasted", "title"];
  const all = [head, ...rows.map(({ cells }) => cells)];
  const widths = head.map((_, i) => Math.max(...all.map((cells) => stringWidth(cells[i] ?? ""))));
  const line = (cells: readonly string[]) => {
    const padded = cells.slice(0, -1).map((cell, i) => `${pad(cell, widths[i] ?? 0)}  `);
    const front = padded.join("");
    return front + cut(cells.at(-1) ?? "", MAX_COLUMNS - stringWidth(front));
  };
  const left = count - rows.length;
  const isMarked = incidents.some((one) => unverifiedIn(one).includes("title"));
  return [
    "",
    `Times in ${zone}${zone === "UTC" ? "" : " (UTC in brackets)"}.`,
    line(head),
    ...rows.map(({ cells, link }) =>
      link === undefined ? line(cells) : `${line(cells)}  ${link}`,
    ),
    ...(isMarked ? [`(unverified): ${UNVERIFIED}.`] : []),
    ...(left > 0 ? [`and ${left} more`] : []),
  ];
}

function lasted({ startedAt, resolvedAt }: Incident): string {
  return resolvedAt === undefined ? "open" : showDuration(resolvedAt - startedAt);
}
