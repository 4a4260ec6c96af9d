import type { Entry, Kind } from "../../src/core/entry.ts";
import type { StoredEntry } from "../../src/journal/journal.ts";
import type { Posted } from "./people.ts";
import type { ToolName } from "./plan.ts";
import type { Line, ToolSight } from "./witness.ts";

/** One thread once everything is at rest: its journal, what people posted, and what the outside saw. */
export interface Evidence {
  entries: readonly StoredEntry[];
  posted: readonly Posted[];
  lines: readonly Line[];
  /** A worker was killed, frozen or drained, or found its lease taken, while it had this thread. */
  disturbed: boolean;
  /** Names of writes that returned in a worker which then had time enough to say so. */
  known: ReadonlySet<string>;
}

/** One tool call, as everyone saw it. */
export interface CallEvidence {
  call: string;
  tool: ToolName;
  name: string;
  request: Entry<"command">;
  started: Entry<"tool_started">[];
  finished: Entry<"tool_finished">[];
  settled: Entry<"settled">[];
  proposed: Entry<"action_proposed">[];
  sights: (Line & ToolSight)[];
}

/** The entries of one kind, in order. */
export function entriesOf<K extends Kind>(
  { entries }: Pick<Evidence, "entries">,
  kind: K,
): Entry<K>[] {
  return entries.flatMap((entry) => (isOfKind(entry, kind) ? [entry] : []));
}

function isOfKind<K extends Kind>(entry: { kind: string }, kind: K): entry is Entry<K> {
  return entry.kind === kind;
}

/** Every call that some run asked for, with what the journal and the world have of it. */
export function callsOf(evidence: Evidence): CallEvidence[] {
  const requests = entriesOf(evidence, "command");
  return entriesOf(evidence, "run_started").flatMap(({ answers, calls }) =>
    calls.flatMap(({ call, tool, args }): CallEvidence[] => {
      const request = requests.find(({ id }) => answers.includes(id));
      if (request === undefined) return [];
      const name = textOf(args["name"]);
      const of = (entry: { call: string }) => entry.call === call;
      return [
        {
          call,
          tool: tool as ToolName,
          name,
          request,
          started: entriesOf(evidence, "tool_started").filter(of),
          finished: entriesOf(evidence, "tool_finished").filter(of),
          settled: entriesOf(evidence, "settled").filter(of),
          proposed: entriesOf(evidence, "action_proposed").filter(of),
          sights: evidence.lines.filter(isToolSight).filter((line) => line.name === name),
        },
      ];
    }),
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A tool was seen at work. */
export function isToolSight(line: Line): line is Line & ToolSight {
  return line.what === "begin" || line.what === "effect" || line.what === "end";
}

/** What stands in the chat: everything that was said and not taken back. */
export function chatOf({ lines }: Pick<Evidence, "lines">): (Line & { ref: string })[] {
  const gone = new Set(lines.flatMap((line) => (line.what === "retracted" ? [line.ref] : [])));
  return lines.flatMap((line) =>
    (line.what === "said" || line.what === "whispered" || line.what === "carded") &&
    !gone.has(line.ref)
      ? [line]
      : [],
  );
}

/** Copies in the chat beyond the first of each answer, notice and card. */
export function duplicates(evidence: Evidence): number {
  const copies = new Map<string, number>();
  for (const line of chatOf(evidence)) {
    const same =
      line.what === "carded"
        ? `card ${line.action}`
        : line.what === "said" && line.kind === "answer"
          ? `answer ${line.run}`
          : `notice ${"text" in line ? line.text : ""}`;
    copies.set(same, (copies.get(same) ?? 0) + 1);
  }
  for (const { text } of entriesOf(evidence, "notice")) {
    const same = `notice ${text.slice(0, 300)}`;
    copies.set(same, (copies.get(same) ?? 1) - 1);
  }
  const answers = entriesOf(evidence, "run_ended").map(({ run }) => `answer ${run}`);
  const cards = new Set(
    entriesOf(evidence, "action_proposed").map(({ action }) => `card ${action}`),
  );
  for (const same of [...answers, ...cards]) copies.set(same, (copies.get(same) ?? 1) - 1);
  return [...copies.values()].filter((extra) => extra > 0).reduce((sum, extra) => sum + extra, 0);
}

/** Cards that show another state than the last one recorded: a frozen worker woke and brought them "up to date". */
export function staleCards(evidence: Evidence): number {
  const actions = new Set(entriesOf(evidence, "action_proposed").map(({ action }) => action));
  let stale = 0;
  for (const action of actions) {
    const shown = entriesOf(evidence, "delivered").findLast(({ entry }) =>
      entry.startsWith(`${action}@`),
    );
    const lines = evidence.lines.filter(
      (line) => (line.what === "carded" || line.what === "settled") && line.ref === shown?.ref,
    );
    const phase = lines.map((line) => ("phase" in line ? line.phase : undefined));
    const over = ["done", "denied", "expired", "cancelled", "unknown", "failed", "void"];
    const ended = phase.some((each) => each !== undefined && over.includes(each));
    const last = phase.at(-1);
    if (ended && (last === undefined || !over.includes(last))) stale += 1;
  }
  return stale;
}
