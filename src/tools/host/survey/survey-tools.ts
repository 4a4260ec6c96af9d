import * as z from "zod";
import { formatElapsed, showDuration } from "../../../core/instant.ts";
import { counted, formatBytes, percent } from "../../../core/text.ts";
import type { Finding, Gap } from "../../../core/finding.ts";
import {
  defineTool,
  type ExecResult,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from "../../tool.ts";
import { filesystemText, fullness, isShown } from "../disk-usage.ts";
import { hostArgument } from "../host-argument.ts";
import {
  coresText,
  findingsOf,
  gapsOf,
  named,
  processorsText,
  swapText,
  tops,
} from "./findings.ts";
import { createQuestions, SURVEY_LIMITS } from "./script.ts";
import { type Survey, surveyOf } from "./survey.ts";

/** Where a survey is made: this machine, or one that is reached from it. */
export interface Place {
  /** What the tools' names begin with. */
  prefix: string;
  /** What it is called in their descriptions. */
  title: string;
  /** Arguments that say which machine; `host`, where this program runs, is there already. */
  which: z.ZodRawShape;
  /** Runs a script of the Bourne shell on the machine that the arguments name. */
  run(which: unknown, script: string, ctx: ToolContext): Promise<Pick<ExecResult, "stdout">>;
}

/** The tools that tell how a machine is. */
export function createSurveyTools(place: Place): Tool[] {
  async function look(input: unknown, ctx: ToolContext): Promise<Survey> {
    const { script, read } = createQuestions();
    return surveyOf(read(await place.run(input, script, ctx)));
  }
  const machine = (input: Record<string, unknown>) => {
    const { server } = input;
    return typeof server === "string" ? server : place.title;
  };
  const common = { effect: "read", hostBound: true, timeoutMs: 30_000 } as const;
  const overview = defineTool({
    ...common,
    diagnoses: true,
    name: `${place.prefix}_overview`,
    doing: (input) => `Looking for what is wrong with ${machine(input)}`,
    summary: "finds what is wrong with a machine: processors, memory, disks, units, limits",
    description: `Finds what is wrong with ${place.title} now: processors, memory, disks and their waits, failed units, read-only disks, limits, kills for want of memory; then its load and who uses it. Use it first when a machine is slow or a service on it fails.`,
    input: z.strictObject({ ...place.which, host: hostArgument }),
    async run(input, ctx) {
      const survey = await look(input, ctx);
      const findings = findingsOf(survey);
      return { text: overviewText(survey, findings), findings, gaps: gapsOf(survey) };
    },
  });
  const processes = defineTool({
    ...common,
    name: `${place.prefix}_processes`,
    doing: (input) => `Listing the processes of ${machine(input)}`,
    summary: "lists processes by what they use, or by name",
    description: `Lists processes of ${place.title} with user, age, state, memory and the cores that they use now; the greatest users first. Command lines are not shown: they may hold secrets.`,
    input: z.strictObject({
      ...place.which,
      sort: z.enum(["cpu", "memory"]).default("cpu").describe("By what they use most of"),
      name: z.string().min(1).max(64).optional().describe("Only those whose name has this in it"),
      limit: z.int().min(1).max(100).default(20).describe("How many"),
      host: hostArgument,
    }),
    async run(input, ctx) {
      const survey = await look(input, ctx);
      return { text: processText(survey, input), gaps: gapsOf(survey) };
    },
  });
  const ports = defineTool({
    ...common,
    name: `${place.prefix}_ports`,
    doing: (input) => `Listing the ports of ${machine(input)}`,
    summary: "lists the ports that a machine listens on, and who does",
    description: `Lists the TCP and UDP ports that ${place.title} listens on, with the process of each where it may be seen. Use it when a connection is refused.`,
    input: z.strictObject({ ...place.which, host: hostArgument }),
    async run(input, ctx) {
      return portsOf(await look(input, ctx));
    },
  });
  return [overview, processes, ports];
}

/** Without the rows that a finding holds as its evidence. */
function overviewText(survey: Survey, findings: readonly Finding[]): string {
  const { name, system, upSeconds, memory, pressure, disks, processes } = survey;
  const filled = survey.filesystems
    .filter((each) => isShown(each))
    .toSorted((a, b) => fullness(b) - fullness(a));
  const largest = tops(processes, (each) => each.resident, 5).map(
    (each) => `${named(each)} ${formatBytes(each.resident)}`,
  );
  const waits = [...pressure].filter(([, share]) => share >= 1);
  const lines = [
    `${name}: ${system}, up ${formatElapsed(upSeconds * 1_000)}`,
    processorsText(survey),
    `Memory: ${formatBytes(memory.available)} of ${formatBytes(memory.total)} is available, ${swapText(memory)}`,
    coresText(survey),
    `Memory used: ${largest.join(", ") || "none"}`,
    ...(waits.length === 0
      ? []
      : [
          `Waiting over the last minute: ${waits.map(([what, share]) => `${what} ${share} %`).join(", ")}`,
        ]),
    ...disks.map(
      (disk) =>
        `Disk ${disk.name}: ${percent(disk.busy)} busy, reads ${formatBytes(disk.read)}/s, writes ${formatBytes(disk.written)}/s`,
    ),
    ...filled.slice(0, 5).map(filesystemText),
    ...(filled.length > 5 ? [`${filled.length - 5} more filesystems are less full.`] : []),
  ];
  const told = findings.map(({ evidence }) => evidence);
  return lines.filter((line) => !told.some((each) => each.includes(line))).join("\n");
}

function processText(
  { processes, name: machine }: Survey,
  { sort, name, limit }: { sort: string; name?: string | undefined; limit: number },
): string {
  const wanted = name?.toLowerCase();
  const matching = processes.filter(
    (each) => wanted === undefined || each.name.toLowerCase().includes(wanted),
  );
  const by = sort === "cpu" ? "cores" : "resident";
  const shown = matching
    .toSorted((a, b) => b[by] - a[by] || b.resident - a.resident)
    .slice(0, limit);
  const which = name === undefined ? "" : ` with ${JSON.stringify(name)} in their name`;
  const head = `${matching.length} of ${processes.length} processes of ${machine}${which}; shown: ${shown.length}, by ${sort}`;
  const rows = shown.map(
    (each) =>
      `${named(each)}: ${each.cores.toFixed(2)} cores, ${formatBytes(each.resident)}, ${each.user}, state ${each.state}, started ${showDuration(each.seconds * 1_000)} ago`,
  );
  return [head, ...rows].join("\n");
}

function portsOf({ sockets, name, missing }: Survey): ToolOutput {
  const rows = Map.groupBy(sockets, ({ protocol, process }) => `${protocol} ${process}`);
  const lines = [...rows.values()].map((same) => {
    const [{ protocol, process } = { protocol: "", process: "" }] = same;
    const addresses = same.map(({ address }) => address).join(" ");
    return `${protocol} ${addresses}${process === "" ? "" : `: ${process}`}`;
  });
  const head = `${name} listens on ${counted(sockets.length, "socket")}.`;
  return { text: [head, ...lines].join("\n"), gaps: portGaps({ sockets, name, missing }) };
}

function portGaps({ sockets, name, missing }: Pick<Survey, "sockets" | "name" | "missing">): Gap[] {
  if (missing.has("sockets"))
    return [{ what: `ports of ${name}`, why: "there is no ss", help: "Install iproute2 there." }];
  const unknown = sockets.filter(({ process }) => process === "");
  if (unknown.length === 0) return [];
  return [
    {
      what: `who listens on ${unknown.map(({ address }) => address).join(" ")}`,
      why: "only their owners and root are told",
      help: "Run it with the rights of root there, or ask for the service that should have it.",
    },
  ];
}

/** Of the machine that this process runs on. */
export const hostSurvey = createSurveyTools({
  prefix: "host",
  title: "this machine",
  which: {},
  run: (_, script, ctx) => ctx.exec(["sh", "-c", script], SURVEY_LIMITS),
});
