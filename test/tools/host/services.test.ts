import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createRestartService } from "../../../src/tools/host/restart-service.ts";
import { createServiceStatus } from "../../../src/tools/host/service-status.ts";
import { hostContext, makeFolder, searchPath, writeProgram } from "./context.ts";

/** A machine with systemd as its programs show it: `show` is what systemctl says of every unit but `nope`. */
async function withSystemd(show: Record<string, string>) {
  const folder = await makeFolder();
  const say = async (properties: Record<string, string>) => {
    const lines = Object.entries(properties).map(([key, value]) => `${key}=${value}`);
    await writeFile(join(folder, "show"), lines.join("\n"));
  };
  await say(show);
  await writeProgram(
    folder,
    "systemctl",
    `echo "$*" >> ${folder}/calls
case "$*" in
  *"-- nope") echo LoadState=not-found;;
  show*) cat ${folder}/show;;
  *"-- broken") echo "Job failed." >&2; exit 1;;
esac`,
  );
  await writeProgram(folder, "journalctl", `echo "$*" >> ${folder}/calls; echo "a log line"`);
  await mkdir(join(folder, "system"));
  const options = { path: searchPath(folder), systemdDir: join(folder, "system") };
  const calls = () => readFile(join(folder, "calls"), "utf8");
  return { options, ctx: hostContext(folder), say, calls };
}

/** What systemd would count for a start that many ms ago. */
function startedMsAgo(ms: number): string {
  return String(Math.round(Number(process.hrtime.bigint()) / 1000 - ms * 1000));
}

const RUNNING = {
  LoadState: "loaded",
  ActiveState: "active",
  SubState: "running",
  Result: "success",
  MainPID: "4711",
  NRestarts: "2",
  RequiredBy: "shop.service multi-user.target",
  BoundBy: "",
  ConsistsOf: "cart.service",
};

/** A machine with SysV init and one service, web, that starts a process and writes its pid. */
async function withSysv() {
  const folder = await makeFolder();
  const pidFile = join(folder, "run/web.pid");
  await mkdir(join(folder, "run"));
  const start = `setsid sleep 300 > /dev/null 2>&1 & echo $! > ${pidFile}`;
  const stop = `kill "$(cat ${pidFile})" 2>/dev/null; rm -f ${pidFile}`;
  const status = `[ -e ${pidFile} ] && echo "web is running" || { echo "web is stopped"; exit 3; }`;
  await writeProgram(
    join(folder, "init.d"),
    "web",
    `case "$1" in start) ${start};; stop) ${stop};; restart) ${stop}; ${start};; status) ${status};; esac`,
  );
  await writeProgram(folder, "service", `exec ${folder}/init.d/"$1" "$2"`);
  const ctx = hostContext(folder);
  onTestFinished(async () => {
    await ctx.exec(["service", "web", "stop"]);
  });
  const options = {
    path: searchPath(folder),
    systemdDir: join(folder, "none"),
    initDir: join(folder, "init.d"),
    runDir: join(folder, "run"),
  };
  return { options, ctx, pid: async () => Number(await readFile(pidFile, "utf8")) };
}

describe("a service under systemd", () => {
  it("is reported with its state, its main process, since when, and its last log lines", async () => {
    const { options, ctx, calls } = await withSystemd({
      ...RUNNING,
      ActiveEnterTimestampMonotonic: startedMsAgo(5_000),
    });
    const { text } = await createServiceStatus(options).run({ name: "web" }, ctx);
    expect(text).toMatch(
      /^web is active \(running\) since .+ UTC \(5[.\d]* s ago\), main process 4711 \(systemd\)\.$/m,
    );
    expect(text).toContain("Last result: success; automatic restarts: 2.");
    expect(text).toContain("a log line");
    expect(await calls()).toContain("--unit=web");
  });

  it("is said not to exist when systemd does not find it", async () => {
    const { options, ctx } = await withSystemd({});
    const output = await createServiceStatus(options).run({ name: "nope" }, ctx);
    expect(output).toEqual({ text: "There's no service called nope (systemd).", failed: true });
    const precheck = createRestartService(options).precheck?.({ name: "nope" }, ctx);
    await expect(precheck).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
  });

  it("shows before a restart what else is restarted", async () => {
    const { options, ctx } = await withSystemd(RUNNING);
    const preview = await createRestartService(options).preview?.({ name: "web" }, ctx);
    expect(preview?.blastRadius).toContain("Restarted with it: shop.service, cart.service.");
    expect(preview?.lines).toContainEqual({ label: "State", value: "active (running)" });
    expect(preview?.lines).toContainEqual({ label: "Main process", value: "4711", detail: true });
  });

  it("is restarted by its name alone, and a failure is told as one", async () => {
    const { options, ctx, calls } = await withSystemd(RUNNING);
    const restart = createRestartService(options);
    expect((await restart.run({ name: "web" }, ctx)).failed).toBe(false);
    expect(await calls()).toBe("--no-ask-password restart -- web\n");
    const output = await restart.run({ name: "broken" }, ctx);
    expect(output).toEqual({
      text: "Restarting broken failed (exit 1).\nJob failed.",
      failed: true,
    });
  });

  it("counts as restarted only when it runs since after the dispatch", async () => {
    const { options, ctx, say } = await withSystemd(RUNNING);
    const restart = createRestartService(options);
    // Both clocks stand, so that nothing passes between two looks at them. The machine has been up for a while.
    vi.useFakeTimers({ toFake: ["Date", "hrtime"] });
    vi.advanceTimersByTime(1_000_000);
    onTestFinished(() => void vi.useRealTimers());
    const ago = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 100_000 }));
    const state = fc.constantFrom("active", "active", "activating", "failed", "inactive");
    await fc.assert(
      fc.asyncProperty(ago, ago, state, async (startAgo, dispatchAgo, ActiveState) => {
        const now = Date.now();
        await say({
          ...RUNNING,
          ActiveState,
          ActiveEnterTimestampMonotonic: startedMsAgo(startAgo),
        });
        const result = await restart.verify?.({ name: "web" }, ctx, now - dispatchAgo);
        const isAfter = startAgo < dispatchAgo;
        expect(result?.verdict === "done" && !(isAfter && ActiveState === "active")).toBe(false);
        // A margin of some ms is left to the clocks.
        const isClear = ActiveState === "active" && Math.abs(startAgo - dispatchAgo) > 10;
        expect(isClear ? result?.verdict : "").toBe(isClear ? (isAfter ? "done" : "not done") : "");
      }),
      { numRuns: 30 },
    );
  });

  it("is not asked for where systemctl does not answer", async () => {
    const { options, ctx } = await withSystemd(RUNNING);
    const folder = await makeFolder();
    await writeProgram(folder, "systemctl", "echo 'Failed to connect to bus' >&2; exit 1");
    const status = createServiceStatus(options).run({ name: "web" }, hostContext(folder));
    await expect(status).rejects.toMatchObject({ code: "NOT_AVAILABLE" });
    expect(await createServiceStatus({ ...options, path: "/none" }).unavailable?.()).toContain(
      "systemctl",
    );
    expect(await createServiceStatus(options).unavailable?.()).toBeUndefined();
    await ctx.exec(["true"]);
  });
});

describe("a service under SysV init", () => {
  it("is reported as running since its process was started, or as stopped", async () => {
    const { options, ctx, pid } = await withSysv();
    const status = createServiceStatus(options);
    expect((await status.run({ name: "web" }, ctx)).text).toBe(
      "web is not running (SysV init).\nIts script says: web is stopped (exit 3).",
    );
    await ctx.exec(["service", "web", "start"]);
    const { text } = await status.run({ name: "web" }, ctx);
    expect(text).toMatch(
      /^web is running since .+ UTC \([\d.]+ m?s ago\), main process \d+ \(SysV init\)\.$/m,
    );
    expect(text).toContain(`main process ${await pid()} `);
    expect((await status.run({ name: "nope" }, ctx)).failed).toBe(true);
  });

  it("counts as restarted when a new process runs, and not before", async () => {
    const { options, ctx, pid } = await withSysv();
    const restart = createRestartService(options);
    await ctx.exec(["service", "web", "start"]);
    const old = await pid();
    await delay(50);
    const startedAt = Date.now();
    expect(await restart.verify?.({ name: "web" }, ctx, startedAt)).toMatchObject({
      verdict: "not done",
    });
    await delay(50);
    expect(await restart.run({ name: "web" }, ctx)).toEqual({
      text: "SysV init restarted web.",
      failed: false,
    });
    expect(await pid()).not.toBe(old);
    expect(await restart.verify?.({ name: "web" }, ctx, startedAt)).toMatchObject({
      verdict: "done",
    });
    await ctx.exec(["service", "web", "stop"]);
    expect(await restart.verify?.({ name: "web" }, ctx, startedAt)).toMatchObject({
      verdict: "unknown",
    });
  });

  it("never counts as restarted when its process is older than the dispatch, however little", async () => {
    const { options, ctx } = await withSysv();
    const restart = createRestartService(options);
    for (let round = 0; round < 15; round += 1) {
      await ctx.exec(["service", "web", "restart"]);
      const verdict = await restart.verify?.({ name: "web" }, ctx, Date.now());
      expect(verdict?.verdict).not.toBe("done");
    }
  });

  it("stays unknown when its process cannot be found", async () => {
    const { options, ctx } = await withSysv();
    await ctx.exec(["service", "web", "start"]);
    const elsewhere = createRestartService({ ...options, runDir: await makeFolder() });
    expect(await elsewhere.verify?.({ name: "web" }, ctx, 0)).toMatchObject({ verdict: "unknown" });
    const preview = await elsewhere.preview?.({ name: "web" }, ctx);
    expect(preview?.blastRadius).toContain("I don't know what depends on it");
  });

  it("is not asked for where there is no service program", async () => {
    const { options } = await withSysv();
    expect(await createRestartService({ ...options, path: "/none" }).unavailable?.()).toContain(
      "no service",
    );
  });
});

it.each([
  "-x",
  "--version",
  ".",
  "..",
  ".x",
  "a/b",
  "a b",
  "a;b",
  "$(id)",
  "a\nb",
  "*",
  "",
  "ä",
  "x".repeat(129),
])("refuses %j for a service's name", (name) => {
  expect(createServiceStatus().input.safeParse({ name }).success).toBe(false);
  expect(createRestartService().input.safeParse({ name }).success).toBe(false);
});

it.each(["nginx", "getty@tty1.service", "php8.2-fpm", "a_b", "dev-sda:1"])(
  "takes %j for a service's name",
  (name) => {
    expect(createRestartService().input.safeParse({ name }).success).toBe(true);
  },
);
