import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { defineTool, type Verdict } from "../tool.ts";
import { hostArgument } from "./host-argument.ts";
import {
  findServiceManager,
  missingServiceManager,
  type ServiceOptions,
  type ServiceState,
  serviceName,
} from "./services.ts";
import { formatMoment } from "../moment.ts";

const input = z.strictObject({ name: serviceName, host: hostArgument });

/** Restarts a service. Its read-back concludes "done" only when what runs now was started after the dispatch. */
export function createRestartService(options: ServiceOptions = {}) {
  return defineTool({
    name: "restart_service",
    summary: "restarts a service and checks that it came back",
    description:
      "Restarts a service of this machine (systemd or SysV init); its open connections are lost.",
    input,
    effect: "destructive",
    title: ({ name }) => `Restart ${name}`,
    hostBound: true,
    kinds: { name: "unit" },
    // systemd waits 90 s for the stop and 90 s for the start before it gives up (DefaultTimeoutStopSec, …StartSec).
    timeoutMs: 200_000,
    unavailable: () => missingServiceManager(options),
    async precheck({ name }, ctx) {
      const manager = await findServiceManager(ctx, options);
      if ((await manager.read(name)).exists) return;
      throw new BotError("PRECHECK_FAILED", `There's no service called ${name} (${manager.name}).`);
    },
    async preview({ name }, ctx) {
      const manager = await findServiceManager(ctx, options);
      const service = await manager.read(name);
      return {
        command: manager.restartCommand(name).join(" "),
        lines: [
          { label: "State", value: service.state },
          {
            label: "Runs since",
            value: service.since ? formatMoment(service.since.ms) : "unknown",
          },
          { label: "Service", value: `${name} (${manager.name})`, detail: true },
          {
            label: "Main process",
            value: String(service.mainPid ?? "none found"),
            detail: true,
          },
        ],
        blastRadius: `Connections to ${name} drop and requests fail while it restarts. ${alsoRestarted(service)}`,
        undo: "Can't be undone. In-memory data and open connections are lost; if it fails to start, it stays down.",
      };
    },
    async verify({ name }, ctx, startedAt) {
      const manager = await findServiceManager(ctx, options);
      return judge(name, await manager.read(name), startedAt);
    },
    async run({ name }, ctx) {
      const manager = await findServiceManager(ctx, options);
      const { exitCode, signal, stdout, stderr } = await ctx.exec(manager.restartCommand(name));
      const said = `${stdout}\n${stderr}`.trim();
      const conclusion =
        exitCode === 0
          ? `${manager.name} restarted ${name}.`
          : `Restarting ${name} failed (${signal ?? `exit ${exitCode}`}).`;
      return { text: [conclusion, said].filter(Boolean).join("\n"), failed: exitCode !== 0 };
    },
  });
}

function alsoRestarted({ alsoRestarts }: ServiceState): string {
  if (alsoRestarts === undefined) {
    return "I don't know what depends on it.";
  }
  return alsoRestarts.length === 0
    ? "No other service is restarted with it."
    : `Restarted with it: ${alsoRestarts.join(", ")}.`;
}

function judge(name: string, service: ServiceState, startedAt: number): Verdict {
  const { running, since, mainPid } = service;
  const seen = `${name} is ${service.state}${mainPid === undefined ? "" : `, main process ${mainPid}`}`;
  if (running !== true) return { verdict: "unknown", evidence: `${seen}.` };
  if (since === undefined) {
    return { verdict: "unknown", evidence: `${seen}; since when could not be found.` };
  }
  const dispatched = `the restart was dispatched ${formatMoment(startedAt)}`;
  const evidence = `${seen}, since ${formatMoment(since.ms)}; ${dispatched}.`;
  if (since.ms - since.errorMs >= startedAt) return { verdict: "done", evidence };
  return { verdict: since.ms + since.errorMs < startedAt ? "not done" : "unknown", evidence };
}
