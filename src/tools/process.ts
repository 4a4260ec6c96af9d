import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type Encoder, orUnchecked } from "../security/encoder.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import { atMost, untilAborted } from "../core/time-limit.ts";
import { DEFAULT_PATH, resolveExecutable } from "./executable.ts";
import type { ExecOptions, ExecResult } from "./tool.ts";

/** One call of `Exec`: the port's options, and what ends the call early. */
interface ExecCall extends ExecOptions {
  signal: AbortSignal;
}

/** `ToolContext.exec` before a call's signal is bound to it. */
export type Exec = (argv: readonly string[], call: ExecCall) => Promise<ExecResult>;

const MAX_BYTES = 256 * 1024;
/** From the polite signal to the final one. */
const TERM_MS = 2_000;
/** How long a daemon may take from its parent's exit to leaving the session. */
const DETACH_MS = 250;
/** How long the watcher may take to kill what is left; longer only when the kernel does not let go of a process. */
const SWEEP_MS = 2_000;
/** How long output is waited for when a daemon that is meant to live on holds the pipe open. */
const DRAIN_MS = 250;

/** Waits for our word on descriptor 3, then becomes the program. If we die before we gave it, it never starts. */
const GATE = 'read -r _ <&3 && exec 3<&- && exec "$@"';

/**
 * Is told a session's id and blocks until its standard input ends: because the call is over, or because we died. Then
 * it kills the session's process group and, where /proc shows them, members in groups of their own (job control,
 * timeout(1)). It is no child of the program (which could wait for it or find it dead in a container without an init)
 * and in another session, where a signal to the program's group does not reach it.
 */
const WATCH = `
read -r session || exit 0
read -r _
kill -s KILL "-$session"
for pass in 1 2 3 4 5 6 7 8 9; do
  left=$(grep -lsE "\\) [^Z] [0-9]+ [0-9]+ $session " /proc/[0-9]*/stat)
  [ "$left" ] || break
  for stat in $left; do
    pid=\${stat#/proc/}
    kill -s KILL "\${pid%/stat}"
  done
done
exit 0`;

/**
 * Makes the function that runs programs: without a shell, without standard input, with PATH, LANG and HOME as the
 * whole environment. HOME is a new empty folder under `tmpDir`, and so is the working folder unless given; it is
 * removed with the call (it stays behind when this process is killed).
 *
 * Everything the program started ends with the call, also when this process is killed; only what made a session of
 * its own, as daemons do, lives on. When the call is stopped or its time is up the program gets SIGTERM, 2 s later
 * SIGKILL. Of each output stream the first and the last half of `maxBytes` are kept, with a line between them that
 * says how much is missing; where they were cut they are encoded, with what `encoder` may need to see left out.
 *
 * A call throws BotError COMMAND_UNKNOWN; INPUT_INVALID for arguments that no program can be given; NOT_AVAILABLE
 * when the system does not start the program; TIMEOUT or ABORTED as the signal's reason says.
 */
export function createExec(options: {
  encoder: Encoder;
  path?: string;
  tmpDir?: string;
  /** Besides, or in place of, those. */
  env?: Readonly<Record<string, string>>;
}): Exec {
  const { encoder } = options;
  const path = options.path ?? DEFAULT_PATH;
  return async (argv, { timeoutMs, maxBytes = MAX_BYTES, ...call }) => {
    const signal =
      timeoutMs === undefined
        ? call.signal
        : AbortSignal.any([call.signal, AbortSignal.timeout(timeoutMs)]);
    const [name = "", ...args] = argv;
    const program = await resolveExecutable(name, path);
    const home = await mkdtemp(join(options.tmpDir ?? tmpdir(), "watchkeeper-"));
    try {
      if (signal.aborted) throw stopped(program, signal.reason, 0);
      const env = { PATH: path, LANG: "C.UTF-8", HOME: home, ...options.env, ...call.env };
      const setting = { env, cwd: call.cwd ?? home, maxBytes, signal, encoder };
      return await supervise([program, ...args], setting);
    } finally {
      // A daemon that lives on may be writing here; that is no reason to fail the call.
      await rm(home, { recursive: true, force: true }).catch(() => {});
    }
  };
}

/** A program that runs on between calls and is spoken with. */
export interface Companion {
  input: Writable;
  output: Readable;
  /** The end of what it said on stderr, raw. */
  lastWords(): string;
  /** Resolves when it has ended, with how. */
  readonly exited: Promise<Pick<ExecResult, "exitCode" | "signal">>;
  /** Ends its input, then it, then everything it started. */
  stop(): Promise<void>;
}

/** `ToolParts.launch`. */
export type Launch = (
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
) => Promise<Companion>;

/** From the end of its input to the polite signal. */
const CLOSE_MS = 500;
const MAX_LAST_WORDS = 2_000;

/**
 * Makes the function that starts programs which outlive a call, by the rules of `createExec`: without a shell, in an environment
 * made from scratch; everything that one started ends with it, also when this process is killed. Throws as `createExec`'s.
 */
export function createLaunch(): Launch {
  return async ([name = "", ...args], added) => {
    const path = added["PATH"] ?? DEFAULT_PATH;
    const program = await resolveExecutable(name, path);
    const home = await mkdtemp(join(tmpdir(), "watchkeeper-"));
    const removeHome = () => rm(home, { recursive: true, force: true }).catch(() => {});
    const env = { PATH: path, LANG: "C.UTF-8", HOME: home, ...added };
    try {
      const place = { env, cwd: home, input: "pipe" } as const;
      const { child, pid, heard, exited, release } = await startWatched(
        [program, ...args],
        place,
        streamsOf,
      );
      const stop = async () => {
        heard.input.end();
        await atMost(CLOSE_MS, exited, () => signalGroup(pid, "SIGTERM"));
        await atMost(TERM_MS, exited, nothing);
        await release();
        for (const stream of child.stdio) stream?.destroy();
        child.unref();
        await removeHome();
      };
      return { ...heard, exited, stop };
    } catch (error) {
      await removeHome();
      throw error;
    }
  };
}

function streamsOf({ stdin, stdout, stderr }: ChildProcess) {
  const input = quiet(stdin);
  if (input === undefined || stdout === null)
    throw new BotError("NOT_AVAILABLE", "The program has no pipes.");
  let said = "";
  stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-MAX_LAST_WORDS);
  });
  for (const stream of [stdout, stderr]) stream?.on("error", () => {});
  return { input, output: stdout, lastWords: () => said };
}

/** What is late is left to itself. */
const nothing = (): void => {};

interface Place {
  env: NodeJS.ProcessEnv;
  cwd: string;
  input?: "ignore" | "pipe";
}

interface Setting extends Place {
  maxBytes: number;
  signal: AbortSignal;
  encoder: Encoder;
}

async function supervise(argv: readonly string[], setting: Setting): Promise<ExecResult> {
  const { signal, encoder, maxBytes } = setting;
  const startedAt = performance.now();
  const { child, pid, heard, exited, release } = await startWatched(argv, setting, (begun) => ({
    out: capture(begun.stdout, maxBytes, encoder),
    err: capture(begun.stderr, maxBytes, encoder),
  }));
  const { out, err } = heard;
  const exit = await untilAborted(exited, signal).catch(() => undefined);
  if (exit === undefined) {
    signalGroup(pid, "SIGTERM");
    await atMost(TERM_MS, exited, nothing);
  } else {
    await leftAlone(pid);
  }
  await release();
  await atMost(DRAIN_MS, Promise.all([out.closed, err.closed]), nothing);
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
  if (exit === undefined) {
    // Encoded before `stopped` cuts it.
    const said = `${await out.text()}\n${await err.text()}`;
    const printed = await orUnchecked(encoder.aside.encode(said.trim()));
    throw stopped(argv[0] ?? "", signal.reason, performance.now() - startedAt, printed);
  }
  return {
    ...exit,
    stdout: await out.text(),
    stderr: await err.text(),
    droppedBytes: out.dropped() + err.dropped(),
  };
}

/**
 * The program, running, and `release`, which ends everything of it that is left. `listen` takes its streams before it starts: what
 * nobody listens for when a program exits is lost.
 */
async function startWatched<T>(
  argv: readonly string[],
  { cwd, env, input = "ignore" }: Place,
  listen: (child: ChildProcess) => T,
) {
  const child = start(argv, { cwd, env, input });
  const watcher = spawn("/bin/sh", ["-c", WATCH], {
    cwd: "/",
    env: { PATH: DEFAULT_PATH },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gate = quiet(child.stdio[3]);
  const leash = quiet(watcher.stdin);
  const heard = listen(child);
  const [exited, swept] = [outcome(child), outcome(watcher)];
  const pid = child.pid ?? Number.NaN;
  try {
    await Promise.all([spawned(child), spawned(watcher)]);
    // The program starts only once the watcher's pipe holds its number: there is no moment at which it is unwatched.
    await write(leash, `${pid}\n`);
    await write(gate, "\n");
  } catch (error) {
    gate?.destroy();
    leash?.destroy();
    const tried = `The system did not start ${argv[0]} in ${cwd}: ${messageOf(error)}`;
    throw new BotError("NOT_AVAILABLE", tried, { cause: error });
  }
  const release = async () => {
    leash?.end();
    await atMost(SWEEP_MS, swept, nothing);
    if (watcher.exitCode !== 0) signalGroup(pid, "SIGKILL");
    watcher.unref();
    gate?.destroy();
  };
  return { child, pid, heard, exited, release };
}

function start(argv: readonly string[], { cwd, env, input = "ignore" }: Place): ChildProcess {
  try {
    return spawn("/bin/sh", ["-c", GATE, "sh", ...argv], {
      cwd,
      env,
      detached: true,
      stdio: [input, "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    const tried = `${argv[0]} cannot be given these arguments: they are too long or hold a NUL byte.`;
    throw new BotError("INPUT_INVALID", tried, { cause: error });
  }
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}

type Exit = Pick<ExecResult, "exitCode" | "signal">;

function outcome(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      resolve({ exitCode: code ?? undefined, signal: signal ?? undefined });
    });
  });
}

/** A pipe whose reader may be gone before we write: that shows in its exit, not here. */
function quiet(pipe: unknown): Writable | undefined {
  return pipe instanceof Writable ? pipe.on("error", () => {}) : undefined;
}

function write(pipe: Writable | undefined, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (pipe === undefined) reject(new Error("it has no pipe"));
    else pipe.write(line, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * A daemon forks, its parent exits, and only then it makes its own session: it gets a moment before the rest is
 * killed.
 */
async function leftAlone(group: number): Promise<void> {
  const until = performance.now() + DETACH_MS;
  while (performance.now() < until && signalGroup(group, 0)) await delay(10);
}

/** False when the group has no member (that we may signal). */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** Keeps the first and the last half of `maxBytes` of what a stream says, in memory that does not grow. */
function capture(stream: Readable | null, maxBytes: number, encoder: Encoder) {
  const head = Buffer.alloc(Math.ceil(maxBytes / 2));
  /** A ring: what comes after the head overwrites its own oldest bytes. */
  const tail = Buffer.alloc(maxBytes - head.length);
  let total = 0;
  stream?.on("data", (chunk: Buffer) => {
    const inHead = Math.min(chunk.length, Math.max(0, head.length - total));
    if (inHead > 0) chunk.copy(head, total);
    const over = chunk.subarray(inHead);
    const kept = over.subarray(Math.max(0, over.length - tail.length));
    const position = Math.max(0, total - head.length) + over.length - kept.length;
    const upToEnd = kept.copy(tail, position % tail.length);
    kept.copy(tail, 0, upToEnd);
    total += chunk.length;
    // Frees the chunk now: left to the garbage collector, a flood of output holds 64 MiB and more. It has its memory
    // to itself unless it is a slice of a pool.
    const { buffer } = chunk;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === chunk.length) buffer.transfer(0);
  });
  const closed = new Promise<void>((resolve) => {
    if (stream === null || stream.closed) resolve();
    else stream.once("close", resolve);
  });
  const dropped = () => Math.max(0, total - maxBytes);
  const cutAside = (bytes: Buffer, cut: { before: boolean; behind: boolean }) =>
    orUnchecked(encoder.aside.encodeCut(bytes.toString(), cut));
  const text = async () => {
    if (total <= head.length) return head.toString("utf8", 0, total);
    const filled = total - head.length;
    if (filled <= tail.length) return Buffer.concat([head, tail.subarray(0, filled)]).toString();
    const seam = filled % tail.length;
    const end = Buffer.concat([tail.subarray(seam), tail.subarray(0, seam)]);
    const first = await cutAside(head, { before: false, behind: true });
    const last = await cutAside(end, { before: true, behind: false });
    const given = Math.min(head.length, encoder.reach) + Math.min(tail.length, encoder.reach);
    return `${first}\n[… ${dropped() + given} bytes left out …]\n${last}`;
  };
  return { closed, dropped, text };
}

function stopped(program: string, reason: unknown, ms: number, printed = ""): BotError {
  const isTimeout =
    isBotError(reason, "TIMEOUT") || (reason instanceof Error && reason.name === "TimeoutError");
  const how = isTimeout ? "was ended because its time was up" : "was stopped";
  const said =
    printed === "" ? "It had printed nothing." : `It had printed: ${printed.slice(-500)}`;
  const text = `${basename(program)} ${how}, after ${(ms / 1000).toFixed(1)} s. ${said}`;
  return new BotError(isTimeout ? "TIMEOUT" : "ABORTED", text, { cause: reason });
}
