import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Draft } from "../src/core/entry.ts";
import type { JournalKey } from "../src/core/journal-key.ts";
import { startCatalog } from "../src/incidents/catalog-thread.ts";
import { createLedger } from "../src/incidents/ledger.ts";
import { type Journal, MAX_DATED_BACK_MS } from "../src/journal/journal.ts";
import { openRedisJournal } from "../src/journal/redis/journal.ts";
import { openSqliteJournal } from "../src/journal/sqlite/journal.ts";
import { listedCards } from "../src/queries/open-cards.ts";
import { createQueries } from "../src/queries/queries.ts";
import { fold } from "../src/thread/fold.ts";
import { Thread } from "../src/thread/state.ts";
import { RedisServer } from "../test/fakes/redis-server.ts";
import { type Figure, readDraft } from "./journal.ts";

/** What lists and searches cost in a store that has much, and that none of it depends on how much. */

const INCIDENTS = 100_000;
const THREADS = 100_000;
const APPROVALS = 10_000;
const QUERIES = 300;
const PAGE = 20;
const MB = 1_000_000;
const HOUR_MS = 3_600_000;
const ACTOR = { account: "bench:ana", name: "ana" };
const EVERYBODY = { audience: undefined, tenants: ["bench"] };

type Kind = "sqlite" | "redis";

const KINDS: readonly Kind[] = ["sqlite", "redis"];

function openAt(kind: Kind, path: string): Promise<Journal> {
  if (kind === "sqlite") return openSqliteJournal({ path });
  const address = {
    at: { kind: "unix" as const, path },
    username: undefined,
    password: undefined,
    database: 0,
  };
  return openRedisJournal({ address, secret: "bench" });
}

/** The same numbers in each run. */
function createRandom(): () => number {
  let state = 42;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** As many words as a team has, of which the first are in most texts and most in very few. */
const WORDS = 20_000;
const SYLLABLES = "ka ro ti mu se lo na vi de pa chu gre sto bla fin dor wex qua zy lim".split(" ");

function wordOf(rank: number): string {
  let [word, left] = ["", rank + SYLLABLES.length];
  for (; left > 0; left = Math.floor(left / SYLLABLES.length))
    word += SYLLABLES[left % SYLLABLES.length] ?? "";
  return word;
}

function textOf(words: number, random: () => number): string {
  return Array.from({ length: words }, () => wordOf(Math.floor(WORDS ** random()))).join(" ");
}

const SEVERITIES = ["sev1", "sev2", "sev3", "sev4"] as const;

/** Two posts, as most incidents have few. One in a hundred is open. */
function incidentOf(i: number, random: () => number): [JournalKey, Draft<"incident">[]] {
  const day = 1 + (i % 28);
  const letters = i
    .toString(32)
    .padStart(4, "0")
    .replaceAll(/[018]|[9]/g, "z");
  const id = `inc-202611${String(day).padStart(2, "0")}-${letters}${i}`;
  const said = { kind: "incident", actor: ACTOR, thread: `bench:t${i}` } as const;
  const at = Date.now() - HOUR_MS * (INCIDENTS - i);
  const opened = {
    ...said,
    id: `opened:${i}`,
    change: {
      title: textOf(6, random),
      severity: SEVERITIES[i % 4] ?? "sev4",
      services: [`service-${i % 40}`],
      startedAt: at,
      impact: textOf(5, random),
      note: textOf(15, random),
    },
  };
  const resolved = {
    ...said,
    id: `said:${i}`,
    change: {
      status: "resolved" as const,
      resolvedAt: at + HOUR_MS,
      cause: textOf(8, random),
      actions: [textOf(6, random)],
    },
  };
  return [`incident:${id}`, i % 100 === 0 ? [opened] : [opened, resolved]];
}

/** Many at a time. */
async function forEach(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  const SHARE = 500;
  for (let i = 0; i < count; i += SHARE) {
    const share = Array.from({ length: Math.min(SHARE, count - i) }, (_, j) => work(i + j));
    await Promise.all(share);
  }
}

async function fillIncidents(journal: Journal): Promise<void> {
  const random = createRandom();
  await forEach(INCIDENTS, async (i) => {
    const [key, posts] = incidentOf(i, random);
    for (const post of posts) await journal.post(key, post);
  });
}

/** A thread that waits for an approval after seven calls. */
async function fillApproval(journal: Journal, i: number): Promise<void> {
  const key: JournalKey = `bench:a${i}`;
  await journal.post(key, { id: "m", kind: "message", actor: ACTOR, text: "restart web" });
  const granted = await journal.lease(key, HOUR_MS);
  if (granted === undefined) throw new Error("no lease");
  const { lease } = granted;
  const calls = Array.from({ length: 8 }, (_, n) => ({
    call: `r1.t${n + 1}`,
    tool: n === 7 ? "act" : "look",
    args: { name: "web" },
  }));
  const entries: Draft<"run_started" | "tool_finished" | "action_proposed">[] = [
    { id: "run:r1", kind: "run_started", run: "r1", answers: ["m"], principals: [], calls },
  ];
  for (const { call } of calls.slice(0, -1))
    entries.push(readDraft(call, "web-1 cpu 12 % memory 96 %"));
  const expiresAt = Date.now() + 100 * HOUR_MS;
  entries.push({
    id: "proposed:a1.1",
    kind: "action_proposed",
    run: "r1",
    call: "r1.t8",
    action: "a1",
    revision: 1,
    tool: "act",
    effect: "write",
    args: { name: "web" },
    digest: "0".repeat(64),
    preview: { lines: [{ label: "Target", value: "web" }], blastRadius: "only web", undo: "none" },
    approvers: { kind: "anyone" },
    quorum: 1,
    barred: [],
    expiresAt,
  });
  const thread = fold(new Thread(), await journal.read(key));
  for (const entry of entries) {
    const reply = await journal.append(lease, thread, [entry]);
    if (reply.kind !== "ok") throw new Error(reply.kind);
    fold(thread, reply.unseen);
  }
  // As the worker does.
  const listed = listedCards(key, thread, (text) => text);
  await journal.release(lease, thread, expiresAt, undefined, listed);
}

/** Threads in which nothing is owed beside some that wait. */
async function fillThreads(journal: Journal): Promise<void> {
  await forEach(APPROVALS, (i) => fillApproval(journal, i));
  await forEach(THREADS, async (i) => {
    const key: JournalKey = `bench:t${i}`;
    await journal.post(key, { id: "m", kind: "message", actor: ACTOR, text: `question ${i}` });
    const granted = await journal.lease(key, HOUR_MS);
    if (granted !== undefined) await journal.release(granted.lease, 1);
  });
}

/** Wall and CPU time in ms, of all threads of this process, and how long its event loop stood still at most. */
async function timed(work: () => Promise<unknown>) {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const [began, before] = [performance.now(), process.cpuUsage()];
  loop.enable();
  await work();
  loop.disable();
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - began, cpuMs: (user + system) / 1_000, loopMs: loop.max / 1e6 };
}

function show({ ms, cpuMs, loopMs }: Awaited<ReturnType<typeof timed>>): string {
  return `${ms.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms CPU, loop held ${loopMs.toFixed(0)} ms`;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function quantiles(values: readonly number[]): string {
  return [0.5, 0.95, 1].map((share) => quantile(values, share).toFixed(1)).join(" / ");
}

/** Once memory that is free was given back. */
async function residentMb(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.();
    await sleep(500);
  }
  return process.memoryUsage.rss() / MB;
}

/** As the index does, without making one. */
async function readAll(journal: Journal): Promise<void> {
  let mark: string | undefined;
  for (let more = true; more;) {
    const page = await journal.changes("incident", mark);
    await Promise.all(page.changed.map(({ key }) => journal.read(key)));
    ({ mark, more } = page);
  }
}

/** The most frequent words, such as "the": nobody searches for them. */
const STOP_WORDS = new Set(Array.from({ length: 30 }, (_, rank) => wordOf(rank)));

/** One to three words of some incident; of four one is cut and one misspelled. */
function createAsking(): () => string {
  const random = createRandom();
  const all = createRandom();
  const texts = Array.from({ length: 1_000 }, (_, i) => {
    const [, [opened]] = incidentOf(i, all);
    const words = `${opened?.change.title} ${opened?.change.note}`.split(" ");
    return words.filter((word) => !STOP_WORDS.has(word));
  });
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)];
  return () => {
    const text = pick(texts) ?? [];
    const words = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(text) ?? "");
    return words
      .map((word) => {
        const way = random();
        if (way < 0.25) return word.slice(0, Math.max(3, word.length - 2));
        if (way < 0.5) return word.replace(/(.)(.)(.)$/, "$2$1$3");
        return word;
      })
      .join(" ");
  };
}

async function incidentFigures(journal: Journal): Promise<Figure[]> {
  const ending = new AbortController();
  const ledger = createLedger(journal, (text) => text, { catalog: startCatalog(ending.signal) });
  await readAll(journal);
  const before = await residentMb();
  const first = await timed(() => ledger.list({ limit: PAGE }, EVERYBODY));
  const index = (await residentMb()) - before;
  const ask = createAsking();
  const times: number[] = [];
  const found: number[] = [];
  const searches = await timed(async () => {
    for (let i = 0; i < QUERIES; i++) {
      const text = ask();
      const began = performance.now();
      const { count: all } = await ledger.search(text, EVERYBODY, { limit: PAGE });
      found.push(all);
      times.push(performance.now() - began);
    }
  });
  const now = Date.now();
  const period = { from: now - 30 * 24 * HOUR_MS, to: now, zone: "UTC", name: "last month" };
  const all = { ...period, from: 0 };
  const count = await ledger.count({}, EVERYBODY);
  if (count !== INCIDENTS) throw new Error(`${count} incidents instead of ${INCIDENTS}`);
  const open = await timed(() => ledger.list({ status: "open", limit: PAGE }, EVERYBODY));
  const month = await timed(() => ledger.stats(period, EVERYBODY, 50));
  const ever = await timed(() => ledger.stats(all, EVERYBODY, 50));
  const after = (await residentMb()) - before;
  ending.abort();
  return [
    { name: "the index is made", value: show(first) },
    {
      name: "resident for the index beyond reading all (aim ≤ 20 MB), after the searches",
      value: `${index.toFixed(0)}, ${after.toFixed(0)} MB`,
    },
    {
      name: `search and count, p50 / p95 / most (aim p95 ≤ 25 ms); found`,
      value: `${quantiles(times)} ms, ${(searches.cpuMs / QUERIES).toFixed(1)} ms CPU each; ${quantiles(found)}; loop held ${searches.loopMs.toFixed(0)} ms`,
    },
    { name: `the newest ${PAGE} open ones`, value: show(open) },
    { name: "numbers of 30 days; of all", value: `${show(month)}; ${show(ever)}` },
  ];
}

async function threadFigures(journal: Journal): Promise<Figure[]> {
  // Lists look again at what was written in the last seconds: no store of this size is filled in as many.
  await sleep(MAX_DATED_BACK_MS + 1_000);
  const queries = createQueries(journal, [], (text) => text);
  const cards = async (limit: number) => {
    let count = 0;
    for await (const _ of queries.openActions("bench")) if ((count += 1) === limit) break;
    return count;
  };
  const page = await timed(() => cards(PAGE));
  let count = 0;
  const first = await timed(async () => (count = await cards(Infinity)));
  if (count !== APPROVALS) throw new Error(`${count} approvals instead of ${APPROVALS}`);
  const again = await timed(() => cards(Infinity));
  const random = createRandom();
  const times: number[] = [];
  for (let i = 0; i < QUERIES; i++) {
    const key: JournalKey = `bench:t${Math.floor(random() * THREADS)}`;
    const began = performance.now();
    const thread = await queries.thread(key);
    times.push(performance.now() - began);
    if (thread === undefined) throw new Error(`no thread ${key}`);
  }
  return [
    { name: `the first ${PAGE} of ${APPROVALS} open approvals`, value: show(page) },
    {
      name: `all ${APPROVALS} open approvals, and again (aim ≤ 300 ms CPU)`,
      value: `${show(first)}; ${show(again)}`,
    },
    {
      name: `a thread among ${THREADS}, p50 / p95 / most (aim ≤ 2 ms)`,
      value: `${quantiles(times)} ms`,
    },
  ];
}

const PARTS = { incidents: incidentFigures, threads: threadFigures };
type Part = keyof typeof PARTS;

/** What a process of its own measures. */
export async function measureScale(kind: string, part: string, path: string): Promise<Figure[]> {
  const journal = await openAt(kind as Kind, path);
  const figures = await PARTS[part as Part](journal);
  await journal.close();
  return figures;
}

async function figuresOf(kind: Kind, part: Part, path: string): Promise<Figure[]> {
  const main = join(import.meta.dirname, "main.ts");
  // A small heap, so that garbage that nobody has collected yet does not count.
  const flags = ["--expose-gc", "--max-semi-space-size=4", "--max-old-space-size=64"];
  const args = [...flags, main, "scale-of", kind, part, path];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const figures = JSON.parse(stdout) as Figure[];
  return figures.map(({ name, value }) => ({ name: `${kind}: ${name}`, value }));
}

/** Every figure on both stores. */
export async function scaleFigures(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const kind of KINDS) {
    for (const [part, fill] of [
      ["incidents", fillIncidents],
      ["threads", fillThreads],
    ] as const) {
      const folder = mkdtempSync(join(tmpdir(), "wk-bench-"));
      const server = kind === "redis" ? await RedisServer.start() : undefined;
      const path = server?.path ?? join(folder, "scale.db");
      const journal = await openAt(kind, path);
      await fill(journal);
      await journal.close();
      figures.push(...(await figuresOf(kind, part, path)));
      await server?.stop();
      rmSync(folder, { recursive: true });
    }
  }
  return figures;
}
