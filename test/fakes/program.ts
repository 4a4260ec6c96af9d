import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtProgram } from "./built.ts";

let main: string | undefined;
/** As `npm start` has one: without it each process compiles the sources again, which takes longer than most tests. */
export const COMPILE_CACHE = join(import.meta.dirname, "../../node_modules/.cache/watchkeeper");

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** The program itself, as a user starts it, on a folder of its own. */
export class Program {
  readonly folder = mkdtempSync(join(tmpdir(), "wk-program-"));
  readonly #env: Record<string, string>;
  readonly #running = new Set<ChildProcessWithoutNullStreams>();

  constructor(env: Record<string, string> = {}) {
    const PATH = process.env["PATH"] ?? "";
    this.#env = {
      PATH,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATA_DIR: join(this.folder, "data"),
      ...env,
    };
  }

  /** Its embedded store. */
  get store(): string {
    return join(this.folder, "data/watchkeeper.db");
  }

  /** What is planted by a flag of Node's is planted in the sources, which the build does not load. */
  #main(): string {
    if (this.#env["NODE_OPTIONS"] !== undefined)
      return join(import.meta.dirname, "../../src/main.ts");
    return (main ??= builtProgram());
  }

  start(...args: string[]): ChildProcessWithoutNullStreams {
    return this.#spawn([this.#main(), ...args]);
  }

  #spawn(args: readonly string[]): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, args, { env: this.#env, cwd: this.folder });
    this.#running.add(child);
    child.on("close", () => this.#running.delete(child));
    return child;
  }

  /** Runs it to its end with this standard input and these flags of Node's. */
  async run(args: string[], input = "", flags: readonly string[] = []): Promise<Ended> {
    return this.#toEnd(this.#spawn([...flags, this.#main(), ...args]), input);
  }

  /** Runs another program of ours to its end. */
  async runFile(file: string): Promise<Ended> {
    return this.#toEnd(this.#spawn([file]), "");
  }

  async #toEnd(child: ChildProcessWithoutNullStreams, input: string): Promise<Ended> {
    child.stdin.end(input);
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    return { code, out: out(), err: err() };
  }

  remove(): void {
    for (const child of this.#running) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a stream has said so far. */
export function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
