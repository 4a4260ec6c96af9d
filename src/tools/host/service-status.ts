import { hostname } from "node:os";
import * as z from "zod";
import { isBotError } from "../../core/errors.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { hostArgument } from "./host-argument.ts";
import {
  findServiceManager,
  missingServiceManager,
  type ServiceOptions,
  serviceName,
} from "./services.ts";
import { formatMoment } from "../moment.ts";

const input = z.strictObject({ name: serviceName, host: hostArgument });
const LOG_LINES = 10;

/** Tells whether a service runs, since when, and what it logged last. */
export function createServiceStatus(options: ServiceOptions = {}) {
  return defineTool({
    name: "service_status",
    summary: "shows whether a service runs, since when, and what it logged last",
    description:
      "Tells whether a service of this machine (systemd or SysV init) runs, since when, and what it logged last.",
    input,
    effect: "read",
    hostBound: true,
    kinds: { name: "unit" },
    timeoutMs: 20_000,
    doing: ({ name }) => `Looking at ${name}`,
    unavailable: () => missingServiceManager(options),
    async run({ name }, ctx) {
      const manager = await findServiceManager(ctx, options);
      const service = await manager.read(name);
      if (!service.exists)
        return { text: `There's no service called ${name} (${manager.name}).`, failed: true };
      const since = service.since === undefined ? "" : ` since ${formatMoment(service.since.ms)}`;
      const pid = service.mainPid === undefined ? "" : `, main process ${service.mainPid}`;
      const log = manager.name === "systemd" ? await readJournal(name, ctx) : [];
      const conclusion = `${name} is ${service.state}${since}${pid} (${manager.name}).`;
      const text = [conclusion, ...service.facts, ...log].join("\n");
      if (service.running !== false) return { text };
      const object = { kind: "Service", namespace: hostname(), name };
      const evidence = service.facts[0] ?? conclusion;
      return {
        text,
        findings: [
          { object, cause: `it is ${service.state}`, severity: "error", evidence, since: null },
        ],
      };
    },
  });
}

async function readJournal(name: string, ctx: ToolContext): Promise<string[]> {
  const asked = [
    "journalctl",
    "--no-pager",
    "--quiet",
    "--output=short-iso",
    `--lines=${LOG_LINES}`,
  ];
  try {
    const { exitCode, stdout } = await ctx.exec([...asked, `--unit=${name}`]);
    const lines = stdout.trimEnd();
    return exitCode !== 0 || lines === ""
      ? ["Its log could not be read or is empty."]
      : ["Last log lines:", lines];
  } catch (error) {
    if (!isBotError(error, "COMMAND_UNKNOWN")) throw error;
    return ["There is no journalctl here to read its log with."];
  }
}
