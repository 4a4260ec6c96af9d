import { access } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import type { ToolContext } from "../tool.ts";
import { isExecutable, resolveExecutable } from "../executable.ts";
import {
  isAlive,
  listProcesses,
  readProcess,
  START_TIME_ERROR_MS,
  startTime,
  tryRead,
} from "./process-table.ts";

/** Where a machine's services are found; the defaults are every Linux distribution's. */
export interface ServiceOptions {
  /** Search path for `systemctl` and `service`; the one that `exec` uses. */
  path?: string;
  /** Exists exactly where systemd runs (sd_booted(3)); `systemctl` alone may be installed anywhere. */
  systemdDir?: string;
  initDir?: string;
  runDir?: string;
}

/** A service's name: no option, no path, no glob. */
export const serviceName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9@_:][A-Za-z0-9@._:-]*$/, "must be a service's name, such as nginx")
  .describe("The service's name, such as nginx");

/** What a service manager says of a service. */
export interface ServiceState {
  exists: boolean;
  /** Undefined when its manager cannot tell. */
  running: boolean | undefined;
  /** The manager's own words: "active (running)". */
  state: string;
  mainPid: number | undefined;
  /** When what runs now was started, ms since 1970, and how far that may be off. */
  since: { ms: number; errorMs: number } | undefined;
  facts: string[];
  /** Other services that a restart of this one restarts, as far as the manager tells. */
  alsoRestarts: string[] | undefined;
}

/** systemd or SysV init, behind one face. */
export interface ServiceManager {
  name: "systemd" | "SysV init";
  read(service: string): Promise<ServiceState>;
  restartCommand(service: string): string[];
}

/** The manager that runs this machine's services. */
export async function findServiceManager(
  ctx: ToolContext,
  options: ServiceOptions,
): Promise<ServiceManager> {
  return (await hasSystemd(options)) ? systemd(ctx) : sysv(ctx, options);
}

/** Why there is nothing here to ask about services, or undefined. */
export async function missingServiceManager(options: ServiceOptions): Promise<string | undefined> {
  const program = (await hasSystemd(options)) ? "systemctl" : "service";
  return resolveExecutable(program, options.path).then(
    () => undefined,
    () => `I know no service manager on this machine: there's no ${program}.`,
  );
}

async function hasSystemd({
  systemdDir = "/run/systemd/system",
}: ServiceOptions): Promise<boolean> {
  return access(systemdDir).then(
    () => true,
    () => false,
  );
}

const PROPERTIES =
  "LoadState ActiveState SubState Result MainPID NRestarts ActiveEnterTimestampMonotonic RequiredBy BoundBy ConsistsOf";

function systemd(ctx: ToolContext): ServiceManager {
  async function read(service: string): Promise<ServiceState> {
    const asked = [
      "systemctl",
      "show",
      "--no-pager",
      `--property=${PROPERTIES.replaceAll(" ", ",")}`,
    ];
    const { exitCode, stdout, stderr } = await ctx.exec([...asked, "--", service]);
    if (exitCode !== 0) {
      throw new BotError(
        "NOT_AVAILABLE",
        `systemctl does not answer: ${(stderr || stdout).trim()}`,
      );
    }
    const lines = stdout.split("\n").map((line) => line.split(/=(.*)/s));
    const properties = new Map(lines.map(([key = "", value = ""]) => [key, value]));
    const text = (key: string) => properties.get(key) ?? "";
    const enteredUs = Number(text("ActiveEnterTimestampMonotonic"));
    const dependents = ["RequiredBy", "BoundBy", "ConsistsOf"].flatMap((key) =>
      text(key).split(" "),
    );
    const isMissing = text("LoadState") === "not-found";
    const pid = Number(text("MainPID"));
    return {
      exists: !isMissing,
      running: text("ActiveState") === "active",
      state: `${text("ActiveState")} (${text("SubState")})`,
      mainPid: pid > 0 ? pid : undefined,
      since: enteredUs > 0 ? { ms: monotonicToDate(enteredUs / 1000), errorMs: 2 } : undefined,
      facts: [
        ...(["", "loaded", "not-found"].includes(text("LoadState"))
          ? []
          : [`Its unit is ${text("LoadState")}.`]),
        `Last result: ${text("Result")}; automatic restarts: ${text("NRestarts") || "0"}.`,
      ],
      alsoRestarts: [...new Set(dependents)].filter((unit) => unit.endsWith(".service")),
    };
  }
  return {
    name: "systemd",
    read,
    restartCommand: (service) => ["systemctl", "--no-ask-password", "restart", "--", service],
  };
}

/** systemd counts on the clock that hrtime shows (CLOCK_MONOTONIC); its dates come in the machine's own time zone. */
function monotonicToDate(ms: number): number {
  return Date.now() - (Number(process.hrtime.bigint()) / 1e6 - ms);
}

function sysv(ctx: ToolContext, options: ServiceOptions): ServiceManager {
  const { initDir = "/etc/init.d", runDir = "/run" } = options;
  async function read(service: string): Promise<ServiceState> {
    const exists = await isExecutable(join(initDir, service));
    const nothing = { mainPid: undefined, since: undefined, facts: [], alsoRestarts: undefined };
    if (!exists) return { exists, running: false, state: "unknown", ...nothing };
    const { exitCode, stdout, stderr } = await ctx.exec(["service", service, "status"]);
    const said = `${stdout}\n${stderr}`.trim().split("\n")[0] ?? "";
    const running = isRunning(exitCode);
    const main = running === false ? undefined : await findMainProcess(service, runDir);
    const since = main === undefined ? undefined : await startTime(main);
    const words = { true: "running", false: "not running", undefined: "unknown" };
    return {
      ...nothing,
      exists,
      running,
      state: words[`${running}`],
      mainPid: main?.pid,
      since: since === undefined ? undefined : { ms: since, errorMs: START_TIME_ERROR_MS },
      facts: [`Its script says: ${said || "nothing"} (exit ${exitCode ?? "by a signal"}).`],
    };
  }
  return { name: "SysV init", read, restartCommand: (service) => ["service", service, "restart"] };
}

/** What a script's `status` means by its exit code (LSB 3.1, "Init Script Actions"): 0 runs, 1 to 3 do not. */
function isRunning(exitCode: number | undefined): boolean | undefined {
  if (exitCode === 0) return true;
  return exitCode !== undefined && exitCode <= 3 ? false : undefined;
}

/**
 * By its pid file, else the oldest process of its name: the oldest, so that one from before a restart is not
 * overlooked.
 */
async function findMainProcess(service: string, runDir: string) {
  for (const file of [`${service}.pid`, `${service}/${service}.pid`]) {
    const pid = Number.parseInt((await tryRead(join(runDir, file))) ?? "", 10);
    const entry = pid > 0 ? await readProcess(pid) : undefined;
    if (isAlive(entry)) return entry;
  }
  const named = (await listProcesses()).filter(
    (entry) => isAlive(entry) && entry.name === service.slice(0, 15),
  );
  return named.toSorted((a, b) => a.startTicks - b.startTicks)[0];
}
