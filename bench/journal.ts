import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Draft, Entry } from "../src/core/entry.ts";
import type { JournalKey } from "../src/core/journal-key.ts";
import { fold } from "../src/thread/fold.ts";
import { Thread } from "../src/thread/state.ts";
import type { Journal } from "../src/journal/journal.ts";
import { openMemoryJournal } from "../test/fakes/memory-journal.ts";
import { openSqliteJournal } from "../src/journal/sqlite/journal.ts";
import { decide } from "../src/thread/decide.ts";

const KEY: JournalKey = "bench:thread";
const ACTOR = { account: "bench:ana", name: "ana" };
const LEASE_MS = 3_600_000;

/** A row of the report. */
export interface Figure {
  name: string;
  value: string;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

interface Stage {
  journal: Journal;
  path: string;
  close(): Promise<void>;
}

async function open(where: "memory" | "file"): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "wk-bench-"));
  const path = join(folder, "bench.db");
  const journal = where === "memory" ? openMemoryJournal() : await openSqliteJournal({ path });
  return {
    journal,
    path,
    async close() {
      await journal.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** What a short read that nobody approves leaves: one entry. */
export function readDraft(call: string, text: string): Draft<"tool_finished"> {
  const id = `finished:${call}`;
  return { id, kind: "tool_finished", run: "r1", call, outcome: "ok", text, ms: 12, tool: "look" };
}

/** One run with as many calls as are wanted. */
function* steps(calls: number, text: string): Iterable<Draft<"tool_finished">> {
  for (let i = 1; i <= calls; i++) yield readDraft(`r1.t${i}`, text);
}

async function begin(journal: Journal, calls: number) {
  const thread = new Thread();
  const text = "run look";
  const { entry } = await journal.post(KEY, { id: "m", kind: "message", actor: ACTOR, text });
  fold(thread, [entry]);
  const granted = await journal.lease(KEY, LEASE_MS);
  if (granted === undefined) throw new Error("no lease");
  const list = Array.from({ length: calls }, (_, i) => ({
    call: `r1.t${i + 1}`,
    tool: "look",
    args: {},
  }));
  const start: Draft<"run_started"> = {
    id: "run:r1",
    kind: "run_started",
    run: "r1",
    answers: ["m"],
    principals: [],
    calls: list,
  };
  await write(journal, granted.lease, thread, start);
  return { lease: granted.lease, thread };
}

async function write(
  journal: Journal,
  lease: Parameters<Journal["append"]>[0],
  thread: Thread,
  draft: Draft<"run_started" | "tool_finished" | "action_proposed">,
): Promise<void> {
  const reply = await journal.append(lease, thread.last, [draft]);
  if (reply.kind !== "ok") throw new Error(reply.kind);
  fold(thread, reply.unseen);
}

/** Append and fold per step, by how long the journal is already; flat means that the ratio is near 1. */
export async function appendFigures(where: "memory" | "file"): Promise<Figure[]> {
  const { journal, close } = await open(where);
  const marks = [10, 100, 1_000, 10_000];
  const { lease, thread } = await begin(journal, 10_100);
  const times: number[] = [];
  for (const draft of steps(10_050, "ok")) {
    const began = performance.now();
    await write(journal, lease, thread, draft);
    times.push(performance.now() - began);
  }
  await close();
  const at = marks.map((mark) => median(times.slice(Math.max(0, mark - 50), mark + 50)) * 1_000);
  const [first = 1] = at;
  return [
    {
      name: `append + fold per step, ${where}: at ${marks.join(" / ")} entries`,
      value: `${at.map((us) => us.toFixed(0)).join(" / ")} µs; last to first ${((at.at(-1) ?? 0) / first).toFixed(2)}`,
    },
  ];
}

/** What a store of calls costs beyond the calls' own output. */
export async function bytesFigure(): Promise<Figure> {
  const calls = 1_000;
  const text = "x".repeat(200);
  const { journal, path, close } = await open("file");
  const { lease, thread } = await begin(journal, calls);
  const before = await sizeOf(path);
  for (const draft of steps(calls, text)) await write(journal, lease, thread, draft);
  const grown = (await sizeOf(path)) - before;
  await close();
  const overhead = grown / calls - text.length;
  return {
    name: "bytes per ungated call beyond its payload (aim ≤ 800)",
    value: overhead.toFixed(0),
  };
}

/** The file's size once SQLite has moved its write-ahead log into it. */
async function sizeOf(path: string): Promise<number> {
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(path);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return statSync(path).size;
}

/** From nothing to the next step of a thread that waits for an approval after 20 calls. */
export async function resumeFigure(where: "memory" | "file", aim: string): Promise<Figure> {
  const { journal, close } = await open(where);
  const { lease, thread } = await begin(journal, 21);
  for (const draft of steps(20, "x".repeat(200))) await write(journal, lease, thread, draft);
  const preview = {
    lines: [{ label: "Target", value: "web" }],
    blastRadius: "only web",
    undo: "none",
  };
  await write(journal, lease, thread, {
    id: "proposed:a1.1",
    kind: "action_proposed",
    run: "r1",
    call: "r1.t21",
    action: "a1",
    revision: 1,
    tool: "act",
    effect: "write",
    args: { name: "web" },
    digest: "0".repeat(64),
    preview,
    approvers: { kind: "anyone" },
    quorum: 1,
    barred: [],
    expiresAt: Date.now() + LEASE_MS,
  });
  await journal.release(lease, thread.last);
  const times: number[] = [];
  for (let i = 0; i < 300; i++) {
    const began = performance.now();
    const entries = (await journal.read(KEY)) as Entry[];
    decide(fold(new Thread(), entries), {
      now: Date.now(),
      busy: new Set(),
      draining: false,
      showAfterMs: undefined,
    });
    times.push(performance.now() - began);
  }
  await close();
  return {
    name: `resume a suspended thread, ${where} (aim ≤ ${aim})`,
    value: `${median(times).toFixed(3)} ms`,
  };
}
