import type { Entry, JsonObject, Kind } from "../../src/core/entry.ts";
import type { StoredEntry } from "../../src/core/entry.ts";
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
  /** When the machine died, in order. */
  deaths: readonly number[];
  /** Names of writes that returned in a worker which then had time enough to say so. */
  known: ReadonlySet<string>;
}

/** One run, with what it was asked and what its model said. */
export interface RunEvidence {
  run: string;
  started: Entry<"run_started">;
  ended: Entry<"run_ended">[];
  /** Messages and commands that it takes up from the beginning, and messages that came while it went on and were for it. */
  asked: (Entry<"message"> | Entry<"command">)[];
  joined: Entry<"message">[];
  /** Its model's turns, in order; one that came after its end is none of it. */
  turns: Entry<"assistant">[];
  /** It began beside another's open card: it only reads, and what it was refused belongs to a run that may act. */
  isSide: boolean;
  handsOver: boolean;
}

/** One tool call, as everyone saw it. */
export interface CallEvidence {
  call: string;
  run: string;
  tool: ToolName;
  name: string;
  args: JsonObject;
  /** What asked for it: the entry of a model's turn, or the run's beginning. */
  request: Entry<"assistant"> | Entry<"run_started">;
  /** The first thing that its run takes up: a Stop after it forbids the call. */
  since: number;
  /** Who wrote what its run took up when it began. */
  askers: ReadonlySet<string>;
  /** Who instructed its run before it was asked for. */
  requesters: ReadonlySet<string>;
  started: Entry<"tool_started">[];
  finished: Entry<"tool_finished">[];
  settled: Entry<"settled">[];
  proposed: Entry<"action_proposed">[];
  /** Notices that put it to people as a question. */
  put: Entry<"notice">[];
  sights: (Line & ToolSight)[];
}

/** The entries of one kind, in order. */
export function entriesOf<K extends Kind>(
  { entries }: Pick<Evidence, "entries">,
  kind: K,
): Entry<K>[] {
  return entries.flatMap((entry) => (isOfKind(entry, kind) ? [entry] : []));
}

/** How calls began; of a short read its end says so. */
function startsIn({ entries }: Evidence): Entry<"tool_started">[] {
  return entries.flatMap((entry): Entry<"tool_started">[] => {
    if (entry.kind === "tool_started") return [entry];
    if (entry.kind !== "tool_finished" || entry.tool === undefined) return [];
    const { seq, at, id, run, call, tool } = entry;
    return [{ kind: "tool_started", seq, at, id, run, call, tool, effect: "read" }];
  });
}

function isOfKind<K extends Kind>(entry: { kind: string }, kind: K): entry is Entry<K> {
  return entry.kind === kind;
}

/** Every run, in order. */
export function runsOf(evidence: Evidence): RunEvidence[] {
  const { entries } = evidence;
  const spoken = [...entriesOf(evidence, "message"), ...entriesOf(evidence, "command")];
  const talks = entriesOf(evidence, "run_started").filter(({ talk }) => talk !== undefined);
  const sides = talks.filter(({ reads }) => reads === true);
  const turnsOf = (runs: readonly string[]) =>
    entriesOf(evidence, "assistant").filter(({ run }) => runs.includes(run));
  const joinedTo = (runs: readonly string[]) => turnsOf(runs).flatMap(({ joined = [] }) => joined);
  const beside = new Set([
    ...sides.flatMap(({ answers }) => answers),
    ...joinedTo(sides.map(({ run }) => run)),
  ]);
  return entriesOf(evidence, "run_started").map((started): RunEvidence => {
    const { run, answers, seq } = started;
    const ended = entriesOf(evidence, "run_ended").filter((each) => each.run === run);
    const end = ended[0]?.seq ?? entries.length + 1;
    const goesOn = (entry: { seq: number }) => entry.seq > seq && entry.seq < end;
    const isSide = sides.includes(started);
    return {
      run,
      started,
      ended,
      asked: spoken.filter(({ id }) => answers.includes(id)),
      joined: entriesOf(evidence, "message").filter((message) => {
        if (!talks.includes(started) || !goesOn(message)) return false;
        return isSide ? joinedTo([run]).includes(message.id) : !beside.has(message.id);
      }),
      turns: turnsOf([run]).filter(goesOn),
      isSide,
      handsOver: entriesOf(evidence, "tool_finished").some(
        (finished) => finished.run === run && finished.handsOver === true,
      ),
    };
  });
}

interface Asking extends Pick<CallEvidence, "request" | "args"> {
  tool: string;
  of: RunEvidence;
}

/** What runs asked for, under the names it must have: a command's call is `r2.t1`, models' count on through the thread. */
function askingsOf(runs: RunEvidence[]): (Asking & { call: string })[] {
  const direct = runs.flatMap((of) =>
    of.started.calls.map(({ tool, args }): Asking => ({ of, request: of.started, tool, args })),
  );
  const turns = runs.flatMap((of) => of.turns.map((request) => ({ of, request })));
  const models = turns
    .toSorted((a, b) => a.request.seq - b.request.seq)
    .flatMap(({ of, request }) =>
      request.content.flatMap((block): Asking[] => {
        if (block.kind !== "tool_use") return [];
        return [{ of, request, tool: block.name, args: JSON.parse(block.input) as JsonObject }];
      }),
    );
  return [
    ...direct.map((each) => ({ ...each, call: `${each.of.run}.t1` })),
    ...models.map((each, i) => ({ ...each, call: `${each.of.run}.t${i + 1}` })),
  ];
}

/** Every call that some run asked for, with what the journal and the world have of it. */
export function callsOf(evidence: Evidence): CallEvidence[] {
  const runs = runsOf(evidence).filter(({ asked }) => asked.length > 0);
  return askingsOf(runs).map(({ of: run, call, tool, args, request }): CallEvidence => {
    const name = textOf(args["name"]);
    const of = (entry: { call: string }) => entry.call === call;
    return {
      call,
      run: run.run,
      tool: tool as ToolName,
      name,
      args,
      request,
      since: Math.min(...run.asked.map(({ seq }) => seq)),
      askers: new Set(run.asked.map(({ actor }) => actor.account)),
      requesters: requestersOf(run, request, evidence),
      started: startsIn(evidence).filter(of),
      finished: entriesOf(evidence, "tool_finished").filter(of),
      settled: entriesOf(evidence, "settled").filter(of),
      proposed: entriesOf(evidence, "action_proposed").filter(of),
      put: entriesOf(evidence, "notice").filter(({ asks }) => asks?.call === call),
      sights: evidence.lines.filter(isToolSight).filter((line) => line.name === name),
    };
  });
}

/** Whose messages had been heard, and who had answered the run's questions, when it asked for something. */
function requestersOf(
  { run, asked, joined }: RunEvidence,
  request: CallEvidence["request"],
  evidence: Evidence,
): Set<string> {
  const seen = request.kind === "assistant" ? request.seen : request.seq;
  const isHeard = ({ seq }: { seq: number }) => seq <= seen;
  const answers = entriesOf(evidence, "tool_finished")
    .filter((finished) => finished.run === run && isHeard(finished))
    .map((finished) => finished.answers);
  const clicks = entriesOf(evidence, "click").filter(({ id }) => answers.includes(id));
  const heard = [...[...asked, ...joined].filter(isHeard), ...clicks];
  return new Set(heard.map(({ actor }) => actor.account));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** By these entries the action waits for nobody any more, or the question has its result. */
export function isDecided(id: string, { entries }: Pick<Evidence, "entries">): boolean {
  const since = entries.find((entry) => entry.kind === "action_proposed" && entry.action === id);
  return entries.some((entry) => {
    if (entry.kind === "stop") return since !== undefined && entry.seq > since.seq;
    if (entry.kind === "tool_finished") return entry.call === id;
    if (entry.kind === "vote") return entry.action === id && !entry.approve;
    const closes = ["action_closed", "tool_started", "timer"].includes(entry.kind);
    return closes && "action" in entry && entry.action === id;
  });
}

/** A tool was seen at work. */
export function isToolSight(line: Line): line is Line & ToolSight {
  return line.what === "begin" || line.what === "effect" || line.what === "end";
}

/** What stands in the chat: everything that was said and not taken back, each message as it is now. */
export function chatOf({ lines }: Pick<Evidence, "lines">): (Line & { ref: string })[] {
  const messages = new Map<string, Line & { ref: string }>();
  for (const line of lines) {
    const isGone = line.what === "retracted" || (line.what === "amended" && line.gone);
    if (isGone) messages.delete(line.ref);
    if (
      line.what === "said" ||
      line.what === "whispered" ||
      line.what === "carded" ||
      line.what === "begun"
    ) {
      messages.set(line.ref, line);
    }
  }
  return [...messages.values()];
}

/** Two messages with the same are copies; undefined for progress. */
function contentOf(line: Line): string | undefined {
  if (line.what === "carded") return `card ${line.action}`;
  if (line.what === "said") return `said ${line.delivery}`;
  return line.what === "whispered" ? `whispered ${line.text}` : undefined;
}

/** Copies in the chat beyond the first of each answer, notice and card. */
export function duplicates(evidence: Evidence): number {
  const copies = new Map<string, number>();
  for (const line of chatOf(evidence)) {
    const same = contentOf(line);
    if (same === undefined) continue;
    copies.set(same, (copies.get(same) ?? 0) + 1);
  }
  const notices = entriesOf(evidence, "notice").map(({ id, to, text }) =>
    to === undefined ? `said ${id}` : `whispered ${text}`,
  );
  const answers = entriesOf(evidence, "run_ended").map(({ id }) => `said ${id}`);
  const cards = new Set(
    entriesOf(evidence, "action_proposed").map(({ action }) => `card ${action}`),
  );
  for (const same of [...notices, ...answers, ...cards])
    copies.set(same, (copies.get(same) ?? 1) - 1);
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
