import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import net from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A laboratory of real servers on loopback: what stands in one folder, and what every part and fault may do with it. */

interface State {
  ports: Record<string, number>;
  /** Processes that were started and not ended, by name. */
  pids: Record<string, number>;
  /** How those are asked to end that do not end by SIGTERM. */
  signals: Record<string, NodeJS.Signals>;
  /** What the program has to be told to see the lab. */
  variables: Record<string, string>;
  /** Faults that are there now. */
  broken: string[];
}

export interface Lab {
  readonly folder: string;
  readonly state: State;
  /** A folder of the lab, made if it is not there, that `user` may write in. */
  place(name: string, user?: string): string;
  /** A loopback port that keeps its number as long as the lab stands. */
  port(name: string): Promise<number>;
  /** Starts a program that stays; its output is in `<name>.log`. It ends with `end` or with the lab. */
  run(name: string, argv: readonly string[], options?: RunOptions): void;
  isRunning(name: string): boolean;
  /** Ends a program by its process id, and waits until it is gone. */
  end(name: string): Promise<void>;
  /** What a program that ends by itself prints. @throws Error with what it printed when it fails */
  output(argv: readonly string[], options?: RunOptions): string;
  /** Waits until `isReady` says yes. @throws Error after 60 s */
  until(what: string, isReady: () => Promise<boolean>): Promise<void>;
  save(): void;
}

interface RunOptions {
  /** The account that it runs as, where the lab is root's. */
  user?: string;
  env?: Readonly<Record<string, string>>;
  input?: string;
  /** Default SIGTERM. */
  endsBy?: NodeJS.Signals;
}

const READY_MS = 60_000;
const POLL_MS = 100;
/** A program that ignores being asked is killed. */
const END_MS = 15_000;

/** Where the lab stands: one for each account of the machine. Other accounts' programs have to get through it. */
function labFolder(): string {
  return process.env["LAB_DIR"] ?? join(tmpdir(), `watchkeeper-lab-${userInfo().username}`);
}

export function openLab(folder = labFolder()): Lab {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const file = join(folder, "lab.json");
  const state: State = existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : { ports: {}, pids: {}, signals: {}, variables: {}, broken: [] };
  const save = () => writeFileSync(file, JSON.stringify(state, null, 2));

  function isRunning(name: string): boolean {
    const pid = state.pids[name];
    if (pid === undefined) return false;
    try {
      process.kill(pid, 0);
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  }

  async function until(what: string, isReady: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + READY_MS;
    while (!(await isReady().catch(() => false))) {
      if (Date.now() > deadline)
        throw new Error(
          `${what} is not ready after ${READY_MS / 1_000} s; its log is in ${folder}`,
        );
      await sleep(POLL_MS);
    }
  }

  return {
    folder,
    state,
    place(name, user) {
      const path = join(folder, name);
      mkdirSync(path, { recursive: true, mode: 0o755 });
      if (user !== undefined && isRoot()) output(["chown", "-R", user, path]);
      return path;
    },
    async port(name) {
      const known = state.ports[name];
      if (known !== undefined) return known;
      const server = net.createServer();
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close();
      state.ports[name] = port;
      save();
      return port;
    },
    run(name, argv, options = {}) {
      const log = openSync(join(folder, `${name}.log`), "a");
      const [program = "", ...rest] = asUser(argv, options.user);
      const child = spawn(program, rest, {
        cwd: folder,
        detached: true,
        stdio: ["ignore", log, log],
        env: { ...process.env, ...options.env },
      });
      child.on("error", () => {});
      child.unref();
      closeSync(log);
      if (child.pid === undefined)
        throw new Error(`${program} cannot be started; is it installed?`);
      state.pids[name] = child.pid;
      if (options.endsBy !== undefined) state.signals[name] = options.endsBy;
      save();
    },
    isRunning,
    async end(name) {
      const pid = state.pids[name];
      if (pid !== undefined && isRunning(name)) {
        signal(pid, state.signals[name] ?? "SIGTERM");
        const deadline = Date.now() + END_MS;
        while (isRunning(name)) {
          if (Date.now() > deadline) signal(pid, "SIGKILL");
          await sleep(POLL_MS);
        }
      }
      delete state.pids[name];
      save();
    },
    output,
    until,
    save,
  };
}

/** Ends every program of the lab and takes its folder away. */
export async function removeLab(lab: Lab): Promise<void> {
  for (const name of Object.keys(lab.state.pids).toReversed()) await lab.end(name);
  rmSync(lab.folder, { recursive: true, force: true });
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Servers such as PostgreSQL refuse to run as root. */
function asUser(argv: readonly string[], user: string | undefined): readonly string[] {
  if (user === undefined || !isRoot()) return argv;
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--init-groups", "--", ...argv];
}

/** The whole group: what is started in it belongs to it. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // It is gone.
  }
}

function output(argv: readonly string[], { user, env, input }: RunOptions = {}): string {
  const [program = "", ...rest] = asUser(argv, user);
  const { status, stdout, stderr, error } = spawnSync(program, rest, {
    encoding: "utf8",
    env: { ...process.env, ...env },
    ...(input !== undefined && { input }),
  });
  if (status === 0) return stdout;
  throw new Error(`${argv.join(" ")}: ${error?.message ?? (stderr || stdout)}`);
}

/** True once the URL is answered with a status below 500. */
export async function answers(url: string): Promise<boolean> {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  return status < 500;
}
