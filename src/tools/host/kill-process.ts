import { readFile, readdir, readlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { formatElapsed } from "../../core/instant.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { hostArgument } from "./host-argument.ts";
import {
  isAlive,
  listProcesses,
  type ProcessEntry,
  readBootId,
  readProcess,
  startTime,
  tryRead,
} from "./process-table.ts";
import { formatMoment } from "../moment.ts";

const input = z.strictObject({
  pid: z
    .int()
    .min(1)
    .max(2 ** 22)
    .describe("The process's number"),
  signal: z
    .enum(["TERM", "KILL"])
    .default("TERM")
    .describe("TERM asks it to end and can be ignored; KILL cannot"),
  host: hostArgument,
  started: z
    .strictObject({ ticks: z.int().nonnegative(), bootId: z.string() })
    .optional()
    .meta({ internal: true }),
});
type Input = z.infer<typeof input>;

const WAIT_MS = { TERM: 3_000, KILL: 2_000 };

/** Ends a process: the one that had this number when it was proposed, and no later one that got the same. */
export const killProcess = defineTool<Input>({
  name: "kill_process",
  summary: "ends exactly the process that the card shows",
  description:
    "Ends one process of this machine with SIGTERM or SIGKILL. For a service use restart_service.",
  input,
  effect: "destructive",
  title: ({ pid, signal }) => `End process ${pid} with SIG${signal}`,
  hostBound: true,
  timeoutMs: 15_000,
  async unavailable() {
    return (await readProcess(process.pid)) === undefined
      ? "Processes are looked up in /proc, which this machine does not have."
      : undefined;
  },
  async pin(given) {
    const { startTicks } = await findProcess(given.pid);
    return { ...given, started: { ticks: startTicks, bootId: await readBootId() } };
  },
  async precheck(given) {
    await findSame(given);
  },
  async preview(given) {
    const entry = await findSame(given);
    return describe(entry, given);
  },
  async verify(given) {
    const now = await readProcess(given.pid);
    const { pid, started } = given;
    if (!isAlive(now)) return { verdict: "done", evidence: `There is no process ${pid} any more.` };
    if (started === undefined) {
      return { verdict: "unknown", evidence: `A process ${pid} runs, maybe another one.` };
    }
    return (await isSame(now, given))
      ? { verdict: "not done", evidence: `Process ${pid} (${now.name}) still runs.` }
      : { verdict: "done", evidence: `Process ${pid} is another one by now (${now.name}).` };
  },
  async run(given, ctx) {
    const entry = await findSame(given);
    const { pid, signal } = given;
    try {
      process.kill(pid, `SIG${signal}`);
    } catch (error) {
      return { text: `Process ${pid} could not be signalled: ${messageOf(error)}`, failed: true };
    }
    const startedAt = performance.now();
    while (performance.now() - startedAt < WAIT_MS[signal]) {
      const now = await readProcess(pid);
      if (!isAlive(now) || now.startTicks !== entry.startTicks) {
        const ms = formatElapsed(performance.now() - startedAt);
        return { text: `Process ${pid} (${entry.name}) ended ${ms} after SIG${signal}.` };
      }
      await pause(ctx, pid, signal);
    }
    const waited = formatElapsed(WAIT_MS[signal]);
    const advice = signal === "TERM" ? " It may be ignoring it; SIGKILL cannot be ignored." : "";
    return {
      text: `Process ${pid} (${entry.name}) still runs ${waited} after SIG${signal}.${advice}`,
      failed: true,
    };
  },
});

async function pause(ctx: ToolContext, pid: number, signal: string): Promise<void> {
  try {
    await delay(25, undefined, { signal: ctx.signal });
  } catch (error) {
    const text = `SIG${signal} was sent to process ${pid}; whether it ended was not waited for.`;
    throw new BotError("ABORTED", text, { cause: error });
  }
}

/** The process, if it may be ended at all. */
async function findProcess(pid: number): Promise<ProcessEntry> {
  const entry = await readProcess(pid);
  if (!isAlive(entry)) throw refusal(`There is no process ${pid}.`);
  const group = /^Tgid:\s*(\d+)$/m.exec((await tryRead(`/proc/${pid}/status`)) ?? "")?.[1];
  if (group !== String(pid)) {
    throw refusal(`${pid} is a thread of process ${group ?? "(gone)"}, not a process.`);
  }
  if (pid === 1) throw refusal("Process 1 is the system itself.");
  for (let own = process.pid; own > 0; own = (await readProcess(own))?.parent ?? 0) {
    if (own === pid) {
      throw refusal(`Process ${pid} (${entry.name}) is this program or what started it.`);
    }
  }
  return entry;
}

async function findSame(given: Input): Promise<ProcessEntry> {
  const entry = await findProcess(given.pid);
  if (given.started === undefined || (await isSame(entry, given))) return entry;
  throw refusal(
    `Process ${given.pid} is another one by now (${entry.name}); the one that was meant has ended.`,
  );
}

function refusal(text: string): BotError {
  return new BotError("PRECHECK_FAILED", text);
}

async function isSame(entry: ProcessEntry, { started }: Input): Promise<boolean> {
  return entry.startTicks === started?.ticks && (await readBootId()) === started.bootId;
}

async function describe(entry: ProcessEntry, { signal }: Input) {
  const { pid } = entry;
  const [command, since, children, ports, user] = await Promise.all([
    commandLine(entry),
    startTime(entry),
    listProcesses().then((all) => all.filter((other) => other.parent === pid)),
    listeningPorts(pid),
    userOf(pid),
  ]);
  const childList = children.map((child) => `${child.pid} (${child.name})`).join(", ");
  const orphans =
    childList === ""
      ? "It has no children."
      : `Its ${children.length} children may end with it or go on without it.`;
  return {
    command: `kill -${signal} ${pid}`,
    lines: [
      { label: "Process", value: `${pid} (${entry.name})` },
      { label: "Command line", value: command },
      { label: "User", value: user },
      { label: "Started", value: since === undefined ? "unknown" : formatMoment(since) },
      { label: "Children", value: childList || "none" },
      {
        label: "Listens on",
        value: ports === undefined ? "unknown: not ours to see" : ports.join(", ") || "nothing",
      },
      { label: "Signal", value: `SIG${signal}`, detail: true as const },
    ],
    blastRadius: `What it serves stops and what it has not saved is lost. ${orphans}`,
    undo: "Can't be undone. Whatever started the process has to start it again.",
  };
}

async function commandLine({ pid, name }: ProcessEntry): Promise<string> {
  const words = ((await tryRead(`/proc/${pid}/cmdline`)) ?? "").split("\0").slice(0, -1);
  return words.length === 0 ? `[${name}]` : words.map((word) => JSON.stringify(word)).join(" ");
}

async function userOf(pid: number): Promise<string> {
  const uid = /^Uid:\s*(\d+)/m.exec((await tryRead(`/proc/${pid}/status`)) ?? "")?.[1];
  const users = ((await tryRead("/etc/passwd")) ?? "").split("\n").map((line) => line.split(":"));
  const name = users.find((fields) => fields[2] === uid)?.[0];
  return uid === undefined ? "unknown" : `${name ?? "?"} (uid ${uid})`;
}

/** The TCP ports it listens on, ascending; undefined when its open files are not ours to see. */
async function listeningPorts(pid: number): Promise<number[] | undefined> {
  try {
    const folder = `/proc/${pid}/fd`;
    const links = await Promise.all(
      (await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => "")),
    );
    const sockets = new Set(links);
    const tables = await Promise.all(
      ["tcp", "tcp6"].map((table) => readFile(`/proc/${pid}/net/${table}`, "utf8").catch(() => "")),
    );
    // Columns: number, local address:port in hexadecimal, remote one, state (0A: listening), …, the socket's inode
    // (proc(5)).
    const rows = tables
      .join("\n")
      .split("\n")
      .map((line) => line.trim().split(/\s+/));
    const ports = rows
      .filter((row) => row[3] === "0A" && sockets.has(`socket:[${row[9]}]`))
      .map((row) => Number.parseInt(row[1]?.split(":")[1] ?? "", 16));
    return [...new Set(ports)].toSorted((a, b) => a - b);
  } catch {
    return undefined;
  }
}
