import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { median } from "./journal.ts";
import { type Clicks, type Figures, measure, type Opened, type Size, SIZES } from "./measure.ts";

const ROUNDS = 3;
/** A process takes 5 to 15 s, ours on a file up to 80 s on a busy disk; one that hangs must not hang the bench. */
const PROCESS_TIMEOUT_MS = 300_000;

interface Core {
  name: string;
  /** Whose version is shown, out of bench/package.json. */
  package: string;
  clicks: Clicks;
  open(): Promise<Opened>;
}

/** Few actions: with a core that does not hold, each approval goes on to the answer, which is what takes the time. */
const PEER_CLICKS = { atOnce: 100, actions: 2 };

/** In three rounds CORE's 100 approvals × 200 actions. */
const OUR_CLICKS = { atOnce: 100, actions: 67 };

const CORES: Record<string, Core> = {
  ours: {
    name: "ours, in memory",
    package: "",
    clicks: OUR_CLICKS,
    async open() {
      const { openOurs } = await import("./peers/ours.ts");
      return (world) => openOurs(world, "memory");
    },
  },
  "ours-file": {
    name: "ours, on a file",
    package: "",
    clicks: OUR_CLICKS,
    async open() {
      const { openOurs } = await import("./peers/ours.ts");
      return (world) => openOurs(world, "file");
    },
  },
  ai: {
    name: "ai, generateText",
    package: "ai",
    clicks: PEER_CLICKS,
    open: async () => (await import("./peers/ai.ts")).openAi,
  },
  openai: {
    name: "@openai/agents",
    package: "@openai/agents",
    clicks: PEER_CLICKS,
    open: async () => (await import("./peers/openai.ts")).openOpenAiAgents,
  },
  langgraph: {
    name: "langgraph, nothing saved",
    package: "@langchain/langgraph",
    clicks: PEER_CLICKS,
    async open() {
      const { openLangGraph } = await import("./peers/langgraph.ts");
      return (world) => openLangGraph(world, false);
    },
  },
  "langgraph-saver": {
    name: "langgraph, MemorySaver at exit",
    package: "@langchain/langgraph",
    clicks: PEER_CLICKS,
    async open() {
      const { openLangGraph } = await import("./peers/langgraph.ts");
      return (world) => openLangGraph(world, true);
    },
  },
  mastra: {
    name: "@mastra/core, InMemoryStore",
    package: "@mastra/core",
    clicks: PEER_CLICKS,
    open: async () => (await import("./peers/mastra.ts")).openMastra,
  },
};

/** Measures one core in this process and prints its figures as one line of JSON: `bench/main.ts peer ai`. */
export async function printFigures(name: string): Promise<void> {
  const core = coreOf(name);
  process.stdout.write(`\n${JSON.stringify(await measure(await core.open(), core.clicks))}\n`);
}

/**
 * Prints the comparison as Markdown: each core in a process of its own, three times, there and back, so that no core
 * pays for another's heap and none has the machine's best minute. `names` are keys of CORES; all when there are none.
 */
export async function printComparison(names: string[]): Promise<void> {
  const wanted = names.length === 0 ? Object.keys(CORES) : names;
  const cores = wanted.map((name) => ({ name, core: coreOf(name), rounds: [] as Figures[] }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, rounds } of round % 2 === 0 ? cores : cores.toReversed()) {
      process.stderr.write(`round ${round + 1} of ${ROUNDS}: ${name}\n`);
      rounds.push(await inProcess(name));
    }
  }
  const rows = cores.map(({ core, rounds }) => rowOf(core, rounds));
  process.stdout.write(`${table(rows.map(({ steps }) => steps))}\n`);
  process.stdout.write(table(rows.flatMap(({ held }) => (held === undefined ? [] : [held]))));
}

function coreOf(name: string): Core {
  const core = CORES[name];
  if (core === undefined)
    throw new Error(`no core named ${name}; there are ${Object.keys(CORES).join(", ")}`);
  return core;
}

async function inProcess(name: string): Promise<Figures> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    NODE_ENV: "production",
    LANGSMITH_TRACING: "false",
    MASTRA_TELEMETRY_DISABLED: "1",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
  };
  const args = [join(import.meta.dirname, "main.ts"), "peer", name];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env,
    timeout: PROCESS_TIMEOUT_MS,
    maxBuffer: 64 * 1_024 * 1_024,
  });
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as Figures;
}

type Row = Record<string, string>;

/** A core's rows of the two tables; a set-up that cannot suspend has none in the second. */
function rowOf(core: Core, rounds: readonly Figures[]): { steps: Row; held: Row | undefined } {
  const [first] = rounds;
  if (first === undefined) throw new Error("no round was run");
  const name = `${core.name} ${versionOf(core.package)}`.trim();
  const perStep = (size: Size) => rounds.map((round) => median(round.perStep[size]));
  const p99 = (size: Size) =>
    quantile(
      rounds.flatMap((round) => round.steps[size]),
      0.99,
    );
  const [small, large] = SIZES.map(perStep) as [number[], number[]];
  const steps = {
    core: name,
    "µs per step, 20 calls (rounds)": `${round(median(small))} (${round(Math.min(...small))}–${round(Math.max(...small))})`,
    "p99 of a step": round(p99(20)),
    "100 calls": round(median(large)),
    "p99 there": round(p99(100)),
    growth: `× ${(median(large) / median(small)).toFixed(2)}`,
    "requests for 20 calls": String(first.requests),
    "prefix kept": Math.min(...rounds.map(({ prefix }) => prefix)).toFixed(4),
  };
  if (first.suspended === undefined) return { steps, held: undefined };
  const bytes = (size: Size) => median(rounds.map((r) => r.suspended?.[size].bytes ?? Number.NaN));
  const resume = (size: Size) =>
    median(rounds.map((r) => median(r.suspended?.[size].resumeMs ?? [])));
  const grown = (size: Size) =>
    median(rounds.map((r) => r.suspended?.[size].grownBytes ?? Number.NaN));
  const effects = rounds.flatMap((r) => r.effects ?? []);
  const held = {
    core: name,
    "suspended, bytes at 20 calls": grouped(bytes(20)),
    "at 100": grouped(bytes(100)),
    growth: `× ${(bytes(100) / bytes(20)).toFixed(2)}`,
    "its file grows by": Number.isNaN(grown(20))
      ? ""
      : `${grouped(grown(20))}; ${grouped(grown(100))}`,
    "resume, ms at 20 calls": resume(20).toFixed(2),
    "ms at 100": resume(100).toFixed(2),
    "effects of one action": spread(effects),
    "approvals at once × actions": `${core.clicks.atOnce} × ${effects.length}`,
  };
  return { steps, held };
}

function versionOf(name: string): string {
  const path = join(import.meta.dirname, "package.json");
  const { dependencies } = JSON.parse(readFileSync(path, "utf8")) as {
    dependencies: Record<string, string>;
  };
  return dependencies[name] ?? "";
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Three figures' worth: below 10 with one decimal. */
const round = (us: number): string => (us < 10 ? us.toFixed(1) : grouped(us));

const grouped = (value: number): string =>
  value.toFixed(0).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, " ");

/** `2`, or `1–2` when it differed. */
function spread(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? String(least) : `${least}–${most}`;
}

/** A Markdown table, its columns as wide as their widest cell. */
function table(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return "";
  const columns = Object.keys(first);
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |\n`;
  return [
    line(columns),
    line(widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`))),
    ...rows.map((row) => line(columns.map((column) => row[column] ?? ""))),
  ].join("");
}
