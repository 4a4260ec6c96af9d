import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RedisAddress } from "../../src/journal/redis/address.ts";

/** A real Redis of a test file's own, on a unix socket in a folder of its own. It dies with this process (Linux). */
export class RedisServer {
  readonly folder = mkdtempSync(join(tmpdir(), "wk-redis-"));
  readonly path = join(this.folder, "redis.sock");
  readonly address: RedisAddress = {
    at: { kind: "unix", path: this.path },
    username: undefined,
    password: undefined,
    database: 0,
  };
  readonly #settings: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(settings: readonly string[]) {
    this.#settings = settings;
  }

  /** `settings` as on its command line. Without any it keeps nothing over a restart. */
  static async start(...settings: string[]): Promise<RedisServer> {
    const server = new RedisServer(settings);
    await server.restart();
    return server;
  }

  /** Starts it (again) with what it has kept. */
  async restart(): Promise<void> {
    const settings = ["--port", "0", "--unixsocket", this.path, "--dir", this.folder];
    const kept = ["--save", "", "--appendonly", "no", "--loglevel", "warning", ...this.#settings];
    const command = ["--pdeathsig", "KILL", "--", "redis-server", ...settings, ...kept];
    const child = spawn("setpriv", command, { stdio: "ignore" });
    this.#child = child;
    for (const until = Date.now() + 30_000; !(await this.#answers());) {
      if (child.exitCode !== null || Date.now() > until)
        throw new Error("redis-server did not start");
      await sleep(5);
    }
  }

  /** The machine's plug is pulled. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  /** What `redis-cli` says to a command. */
  cli(...command: string[]): string {
    const ran = spawnSync("redis-cli", ["-s", this.path, ...command], { encoding: "utf8" });
    return ran.stdout.trim();
  }

  async stop(): Promise<void> {
    this.thaw();
    await this.#end("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  #answers(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(this.path, () => socket.write("PING\r\n"));
    socket.once("data", (data) => resolve(data.toString().startsWith("+PONG")));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    return promise.finally(() => socket.destroy());
  }
}
