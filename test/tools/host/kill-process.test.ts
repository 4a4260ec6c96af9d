import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { killProcess } from "../../../src/tools/host/kill-process.ts";
import { hostContext } from "./context.ts";

const ctx = hostContext();

/** Starts a shell script that says when it is ready. */
async function start(script: string): Promise<{ child: ChildProcess; pid: number }> {
  const child = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  if (child.stdout === null) throw new Error("No output to wait for.");
  await once(child.stdout, "data");
  return { child, pid: child.pid ?? 0 };
}

/** Starts a program that ends with the test, together with its children. */
function spawnGroup(program: string, args: string[]) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], detached: true });
  const { pid } = child;
  onTestFinished(() => void (pid !== undefined && process.kill(-pid, "SIGKILL")));
  return child;
}

async function proposed(pid: number, signal = "TERM") {
  const pinned = await killProcess.pin?.(killProcess.input.parse({ pid, signal }), ctx);
  if (pinned === undefined) throw new Error("kill_process does not pin.");
  return pinned;
}

const LOOP = "echo ready; while :; do sleep 0.05; done";

describe("ending a process", () => {
  it("ends it and reads back that it is gone", async () => {
    const { pid } = await start(LOOP);
    const command = await proposed(pid);
    expect(await killProcess.verify?.(command, ctx, 0)).toMatchObject({ verdict: "not done" });
    expect((await killProcess.run(command, ctx)).text).toMatch(
      /^Process \d+ \(sh\) ended .+ after SIGTERM\.$/,
    );
    expect(await killProcess.verify?.(command, ctx, 0)).toMatchObject({ verdict: "done" });
  });

  it("says so when it ignores SIGTERM; SIGKILL ends it all the same", async () => {
    const { pid } = await start(`trap '' TERM; ${LOOP}`);
    const output = await killProcess.run(await proposed(pid), ctx);
    expect(output).toMatchObject({ failed: true });
    expect(output.text).toContain("still runs 3 s after SIGTERM");
    const kill = await proposed(pid, "KILL");
    expect((await killProcess.run(kill, ctx)).failed).toBeUndefined();
    expect(await killProcess.verify?.(kill, ctx, 0)).toMatchObject({ verdict: "done" });
  });

  it("leaves the outcome open when the call is stopped meanwhile", async () => {
    const { pid } = await start(`trap '' TERM; ${LOOP}`);
    const stop = new AbortController();
    const running = killProcess.run(await proposed(pid), hostContext(undefined, stop.signal));
    setTimeout(() => stop.abort(), 30);
    await expect(running).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("the process that is ended", () => {
  it("is the one that was meant, not a later one with its number", async () => {
    const { pid, child } = await start(LOOP);
    const command = await proposed(pid);
    const { ticks = 0, bootId = "" } = command.started ?? {};
    for (const started of [
      { ticks: ticks - 1, bootId },
      { ticks, bootId: "another boot" },
    ]) {
      const stale = { ...command, started };
      await expect(killProcess.precheck?.(stale, ctx)).rejects.toMatchObject({
        code: "PRECHECK_FAILED",
      });
      await expect(killProcess.run(stale, ctx)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
      expect(await killProcess.verify?.(stale, ctx, 0)).toMatchObject({ verdict: "done" });
    }
    expect(child.exitCode ?? child.signalCode).toBeNull();
    await killProcess.precheck?.(command, ctx);
  });

  it("is never the system, this program or what started it", async () => {
    for (const pid of [1, process.pid, process.ppid]) {
      await expect(proposed(pid)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
    }
    for (const pid of [0, -1, -process.pid, 1.5, Number.NaN]) {
      expect(killProcess.input.safeParse({ pid }).success).toBe(false);
    }
  });

  it("is a process that exists, no thread of one", async () => {
    const { pid, child } = await start(LOOP);
    child.kill("SIGKILL");
    await once(child, "exit");
    await expect(proposed(pid)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
    const threads = (await readdir("/proc/self/task")).map(Number);
    const other = threads.find((thread) => thread !== process.pid) ?? 0;
    await expect(proposed(other)).rejects.toMatchObject({
      code: "PRECHECK_FAILED",
      message: expect.stringContaining("is a thread of process"),
    });
  });

  it("has ended also when its parent has not noticed yet", async () => {
    // sh starts a child, tells its number, and becomes a program that never asks how the child ended.
    const child = spawnGroup("sh", ["-c", "sleep 300 & echo $!; exec sleep 300"]);
    const [data] = await once(child.stdout, "data");
    const command = await proposed(Number(String(data)), "KILL");
    expect((await killProcess.run(command, ctx)).text).toContain("ended");
    expect(await killProcess.verify?.(command, ctx, 0)).toMatchObject({ verdict: "done" });
  });
});

it("shows who the process is, what it serves and what hangs on it", async () => {
  // It also has a connection, whose own port it does not listen on.
  const script = `const net = require("node:net");
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      require("node:child_process").spawn("sleep", ["300"]);
      net.connect(port, "127.0.0.1", () => console.log(port));
    });`;
  const child = spawnGroup(process.execPath, ["-e", script, "an argument"]);
  const [data] = await once(child.stdout, "data");
  const unrelated = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void unrelated.close());
  await once(unrelated, "listening");
  const preview = await killProcess.preview?.(await proposed(child.pid ?? 0, "KILL"), ctx);
  const shown = Object.fromEntries(
    (preview?.lines ?? []).map(({ label, value }) => [label, value]),
  );
  expect(shown["Command line"]).toContain('"an argument"');
  expect(shown["Listens on"]).toBe(String(data).trim());
  expect(shown["Children"]).toMatch(/^\d+ \(sleep\)$/);
  expect(shown["Started"]).toMatch(/UTC \([\d.]+ m?s ago\)$/);
  expect(shown["Signal"]).toBe("SIGKILL");
});
