import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { resolveExecutable } from "../../src/tools/executable.ts";
import { createExec } from "../../src/tools/process.ts";
import { makeFolder, searchPath, writeProgram } from "./host/context.ts";
import { nothingHeld } from "../fakes/encoder.ts";

const { signal } = new AbortController();
const exec = createExec({ encoder: nothingHeld });

/** Processes whose HOME is in `folder`: whatever an exec with that `tmpDir` started. */
async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (!environment.includes(`HOME=${folder}`)) return "";
      return `${pid} ${await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")}`;
    }),
  );
  return lines.filter((line) => line !== "");
}

async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

describe("a program's arguments", () => {
  it("arrive as they were given, whatever they hold", async () => {
    const argument = fc.oneof(
      fc.string({ unit: "binary" }).map((text) => text.replaceAll("\0", "").toWellFormed()),
      fc.constantFrom(
        "-n",
        "--help",
        "$(id)",
        "`id`",
        "; id",
        "| id",
        "> x",
        "*",
        "~",
        "a b",
        "\n",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(argument, { minLength: 1, maxLength: 20 }), async (args) => {
        const { stdout } = await exec(["printf", "%s\\0", ...args], { signal });
        expect(stdout.split("\0").slice(0, -1)).toEqual(args);
      }),
      { numRuns: 12 },
    );
  });

  it("are refused when no program can be given them", async () => {
    await expect(exec(["echo", "a\0b"], { signal })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    await expect(exec(["echo", "x".repeat(4_000_000)], { signal })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });

  it.each([
    "",
    "-x",
    "--version",
    "./sh",
    "bin/sh",
    "..",
    "no-such-program",
    "/etc/passwd",
    "/etc",
  ])("%j is not run as a program", async (name) => {
    await expect(exec([name], { signal })).rejects.toMatchObject({ code: "COMMAND_UNKNOWN" });
  });

  it("choose the first executable file of that name on the search path", async () => {
    const [first, second] = [await makeFolder(), await makeFolder()];
    await writeFile(join(first, "greet"), "not executable");
    await writeProgram(second, "greet", "echo hello");
    const run = createExec({
      encoder: nothingHeld,
      path: `relative::${first}:${second}:${searchPath()}`,
    });
    expect((await run(["greet"], { signal })).stdout).toBe("hello\n");
  });
});

describe("a program's surroundings", () => {
  it("hold nothing of our environment", async () => {
    vi.stubEnv("WATCHKEEPER_CANARY", "canary-4711");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stdout } = await exec(["env"], { signal });
    const names = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    // Some shells add the last ones of their own.
    const own = names.filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name ?? ""));
    expect(own).toHaveLength(3);
    expect(own).toEqual(expect.arrayContaining(["HOME", "LANG", "PATH"]));
    expect(
      (await exec(["sh", "-c", "cat /proc/self/environ /proc/$$/environ"], { signal })).stdout,
    ).not.toContain("canary");
  });

  it("have no start-up file that a shell would read", async () => {
    const home = await makeFolder();
    const trap = `echo trapped; touch ${home}/trapped`;
    for (const name of [".bashrc", ".profile", ".bash_profile", ".zshenv"]) {
      await writeFile(join(home, name), trap);
    }
    for (const name of ["HOME", "ZDOTDIR"]) vi.stubEnv(name, home);
    for (const name of ["ENV", "BASH_ENV"]) vi.stubEnv(name, join(home, ".bashrc"));
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const shell of ["sh", "bash", "dash", "zsh"]) {
      if ((await resolveExecutable(shell).catch(() => undefined)) === undefined) continue;
      for (const flags of ["-c", "-lc", "-ic"]) {
        expect((await exec([shell, flags, "true"], { signal })).stdout).not.toContain("trapped");
      }
    }
    await expect(access(join(home, "trapped"))).rejects.toThrow("ENOENT");
  });

  it("are an empty folder that is gone afterwards, and no input", async () => {
    const tmpDir = await makeFolder();
    const run = createExec({ encoder: nothingHeld, tmpDir });
    const { stdout } = await run(
      ["sh", "-c", 'ls -A; [ "$HOME" = "$PWD" ] && touch x && pwd; cat'],
      { signal },
    );
    expect(stdout).toMatch(new RegExp(`^${tmpDir}/watchkeeper-\\w+\n$`));
    expect(await readdir(tmpDir)).toEqual([]);
  });

  it("can be another folder", async () => {
    const cwd = await makeFolder();
    expect((await exec(["pwd"], { signal, cwd })).stdout).toBe(`${cwd}\n`);
    await expect(exec(["pwd"], { signal, cwd: `${cwd}/no` })).rejects.toMatchObject({
      code: "NOT_AVAILABLE",
    });
  });

  it("do not include the pipe that we hold it by", async () => {
    const { exitCode } = await exec(["sh", "-c", "{ : <&3; } 2>/dev/null"], { signal });
    expect(exitCode).not.toBe(0);
  });
});

describe("a program's end", () => {
  it("is told by its exit code or its signal", async () => {
    expect(await exec(["sh", "-c", "echo out; echo err >&2; exit 7"], { signal })).toEqual({
      exitCode: 7,
      signal: undefined,
      stdout: "out\n",
      stderr: "err\n",
      droppedBytes: 0,
    });
    const killed = await exec(["sh", "-c", "kill -s SEGV $$"], { signal });
    expect(killed).toMatchObject({ exitCode: undefined, signal: "SIGSEGV" });
  });

  it("takes along what it left in the background, also what moved to a group of its own", async () => {
    const tmpDir = await makeFolder();
    const script = "sleep 300 & timeout 300 sleep 300 & sh -mc 'sleep 300 &' ; echo main is done";
    const { stdout } = await createExec({ encoder: nothingHeld, tmpDir })(["sh", "-c", script], {
      signal,
    });
    expect(stdout).toBe("main is done\n");
    expect(await processesOf(tmpDir)).toEqual([]);
  });

  it("is not awaited of a daemon, which lives on although it holds the output open", async () => {
    const startedAt = performance.now();
    // As daemon(3) does, only slower: the parent is gone before there is a new session.
    const script = "sh -c 'sleep 0.1; exec setsid sleep 300' & echo $!";
    const { stdout } = await exec(["sh", "-c", script], { signal });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    const pid = Number(stdout);
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    expect(await isAlive(pid)).toBe(true);
  });

  it("comes when the call is stopped, for its descendants too", async () => {
    const tmpDir = await makeFolder();
    const run = createExec({ encoder: nothingHeld, tmpDir });
    const stop = new AbortController();
    const script = "sleep 300 & (sleep 300 & timeout 300 sleep 300) & echo so far; wait";
    const call = run(["sh", "-c", script], { signal: stop.signal });
    await expect.poll(() => processesOf(tmpDir), { interval: 10 }).toHaveLength(5);
    stop.abort();
    await expect(call).rejects.toMatchObject({
      code: "ABORTED",
      message: expect.stringContaining("so far"),
    });
    expect(await processesOf(tmpDir)).toEqual([]);
    expect(await readdir(tmpDir)).toEqual([]);
  });

  it("comes 2 s later when it ignores SIGTERM, and says that its time was up", async () => {
    const tmpDir = await makeFolder();
    const run = createExec({ encoder: nothingHeld, tmpDir });
    const startedAt = performance.now();
    const script = "trap '' TERM; (while :; do sleep 1; done) & while :; do sleep 1; done";
    const call = run(["sh", "-c", script], { signal, timeoutMs: 2_000 });
    await expect(call).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(performance.now() - startedAt).toBeGreaterThan(4_000);
    expect(await processesOf(tmpDir)).toEqual([]);
  });

  it("leaves it time to clean up", async () => {
    const folder = await makeFolder();
    const script = `trap 'sleep 0.05; touch cleaned; exit' TERM; touch ready; while :; do sleep 0.01; done`;
    const stop = new AbortController();
    const call = exec(["sh", "-c", script], { signal: stop.signal, cwd: folder });
    await expect.poll(() => readdir(folder), { interval: 10 }).toEqual(["ready"]);
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    expect(await readdir(folder)).toContain("cleaned");
  });

  it("comes before its start when the call is stopped already", async () => {
    const folder = await makeFolder();
    const stopped = AbortSignal.abort();
    await expect(exec(["touch", `${folder}/x`], { signal: stopped })).rejects.toMatchObject({
      code: "ABORTED",
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it("comes when we are killed, at whatever moment: no orphans", async () => {
    const folders = await Promise.all(Array.from({ length: 8 }, () => makeFolder()));
    const killAfterMs = folders.map((_, index) => (index < 6 ? index * 5 : 150));
    for (const [index, folder] of folders.entries()) {
      const fixture = fileURLToPath(new URL("./doomed-parent.ts", import.meta.url));
      const parent = spawn(process.execPath, [fixture, folder], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      await once(parent.stdout, "data");
      await delay(killAfterMs[index]);
      parent.kill("SIGKILL");
      await expect.poll(() => processesOf(folder)).toEqual([]);
    }
  });
});

describe("a program's output", () => {
  it("keeps its first and its last half within the limit", async () => {
    const file = join(await makeFolder(), "numbers");
    const text = Array.from({ length: 30_000 }, (_, index) => `${index}\n`).join("");
    await writeFile(file, text);
    const size = fc.integer({ min: 0, max: text.length });
    await fc.assert(
      fc.asyncProperty(size, fc.integer({ min: 2, max: 100_000 }), async (bytes, maxBytes) => {
        const result = await exec(["head", "-c", String(bytes), file], { signal, maxBytes });
        const dropped = Math.max(0, bytes - maxBytes);
        expect(result.droppedBytes).toBe(dropped);
        // Next to the cut there may be half a secret, so as much goes as one takes up.
        const { reach } = nothingHeld;
        const head = text.slice(0, Math.max(0, Math.ceil(maxBytes / 2) - reach));
        const half = Math.floor(maxBytes / 2);
        const tail = text.slice(bytes - half, bytes).slice(reach);
        const leftOut = bytes - head.length - tail.length;
        expect(result.stdout).toBe(
          dropped === 0
            ? text.slice(0, bytes)
            : `${head}\n[… ${leftOut} bytes left out …]\n${tail}`,
        );
      }),
      { numRuns: 15 },
    );
  });

  it("is text even when it is not", async () => {
    const { stdout } = await exec(["printf", "a\\377\\303\\244"], { signal });
    expect(stdout).toBe("a\uFFFDä");
  });

  it("cannot fill the memory", async () => {
    const tmpDir = await makeFolder();
    const before = process.memoryUsage();
    const most = { ...before };
    const watch = setInterval(() => {
      const { rss, arrayBuffers } = process.memoryUsage();
      most.rss = Math.max(most.rss, rss);
      most.arrayBuffers = Math.max(most.arrayBuffers, arrayBuffers);
    }, 5);
    onTestFinished(() => clearInterval(watch));
    const bomb = createExec({ encoder: nothingHeld, tmpDir })(["sh", "-c", "yes & yes >&2"], {
      signal,
      timeoutMs: 500,
    });
    await expect(bomb).rejects.toMatchObject({ code: "TIMEOUT" });
    expect((most.rss - before.rss) / 2 ** 20).toBeLessThan(64);
    expect((most.arrayBuffers - before.arrayBuffers) / 2 ** 20).toBeLessThan(32);
    expect(await processesOf(tmpDir)).toEqual([]);
  });
});
