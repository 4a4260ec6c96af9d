import * as z from "zod";
import type { Gap } from "../../core/finding.ts";
import { formatUtc } from "../../core/instant.ts";
import { counted, formatBytes, oneLine, percent, shortened } from "../../core/text.ts";
import { type Item, numberOf, recordsOf, textOf, textsOf } from "../decode.ts";
import type { Encoder } from "../../security/encoder.ts";
import { instanceArgument } from "../instances.ts";
import { clip } from "../labels.ts";
import { searchLines } from "../line-search.ts";
import { orRefused } from "../refusal.ts";
import { sinceArgument, sinceMs } from "../since.ts";
import { defineTool, type Tool } from "../tool.ts";
import {
  byTrouble,
  composeOf,
  type Container,
  containerOf,
  networksOf,
  portsOf,
  stateText,
} from "./container.ts";
import { type Endpoints, type Engine, nameOf, openEngine, orElse, partOf } from "./engine.ts";

/** Containers, one of them, what it wrote, what it uses, what happened. */

export const containerArgument = z
  .string()
  .regex(/^\w[\w.-]{0,127}$/, "expected a container's name or id")
  .describe("A container's name or id");

const TIMEOUT_MS = 30_000;
/** Looked at one by one. */
const MAX_CONTAINERS = 60;

/** Every container with what only its inspection says. */
export async function seeContainers(engine: Engine): Promise<{ seen: Container[]; gaps: Gap[] }> {
  const gaps: Gap[] = [];
  const all = await engine.list("containers/json", { all: "true" });
  const looked = all.slice(0, MAX_CONTAINERS);
  const seen = await Promise.all(
    looked.map(async (raw) => {
      const failed = (why: string) =>
        void gaps.push({ what: `container ${nameOf(raw)}`, why, help: "Ask again." });
      return orElse(engine.inspect(textOf(raw["Id"])), undefined, failed);
    }),
  );
  const left = all.length - looked.length;
  if (left > 0)
    gaps.push({
      what: counted(left, "container"),
      why: "there are more than are looked at",
      help: "docker_inspect shows one.",
    });
  return { seen: seen.filter((raw) => raw !== undefined).map(containerOf), gaps };
}

function createList(endpoints: Endpoints) {
  return defineTool({
    name: "docker_containers",
    summary: "lists containers of Docker or podman, those in trouble first",
    description:
      "Lists the containers of a Docker Engine or podman with state, restarts, health, image and ports, those in trouble first. docker_diagnose says what is wrong with them.",
    input: z.strictObject({ ...instanceArgument(endpoints) }),
    effect: "read",
    doing: () => "Listing the containers",
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const engine = await openEngine(endpoints, input, ctx);
        const { seen, gaps } = await seeContainers(engine);
        return { text: listText(engine, seen), gaps };
      }),
  });
}

export function listText({ words }: Engine, seen: readonly Container[]): string {
  const running = seen.filter(({ isRunning }) => isRunning).length;
  const head = `${words}: ${counted(seen.length, "container")}, ${running} running`;
  const rows = seen.toSorted(byTrouble).map((one) => {
    const ports = portsOf(one);
    return `${one.name} ${stateText(one)}, ${one.image}${ports.length === 0 ? "" : `, ${ports.join(" ")}`}`;
  });
  return [head, ...rows].join("\n");
}

function createInspect(endpoints: Endpoints) {
  return defineTool({
    name: "docker_inspect",
    summary: "shows one container: state, image, limits, mounts, names of its variables, health",
    description:
      "Shows one container of Docker or podman: state, image, command, restart policy, limits, mounts, networks, ports, health checks, and the names of its environment variables, never their values.",
    input: z.strictObject({ container: containerArgument, ...instanceArgument(endpoints) }),
    effect: "read",
    doing: ({ container }) => `Looking at container ${container}`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const engine = await openEngine(endpoints, input, ctx);
        const one = containerOf(await engine.inspect(input.container));
        return { text: inspectText(one, ctx.encoder) };
      }),
  });
}

function inspectText(one: Container, encoder: Encoder): string {
  const { raw } = one;
  const [config, host] = [partOf(raw, "Config"), partOf(raw, "HostConfig")];
  const policy = partOf(host, "RestartPolicy");
  const memory = numberOf(host["Memory"]);
  const cpus = numberOf(host["NanoCpus"]) / 1e9;
  const { project, service } = composeOf(one);
  const names = textsOf(config["Env"]).map((each) => oneLine(each.split("=", 1)[0] ?? ""));
  const mounts = recordsOf(raw["Mounts"]).map(
    (each) =>
      `${textOf(each["Type"])} ${textOf(each["Name"]) || textOf(each["Source"])} at ${textOf(each["Destination"])}${each["RW"] === false ? " read-only" : ""}`,
  );
  const probes = recordsOf(partOf(raw, "State", "Health")["Log"]).slice(-3);
  const rows: [string, string][] = [
    [
      "state",
      `${stateText(one)}${one.isOutOfMemory ? ", out of memory" : ""}${one.error === "" ? "" : `: ${one.error}`}`,
    ],
    ["id", one.id.slice(0, 12)],
    ["image", `${one.image} (${textOf(raw["Image"]).replace("sha256:", "").slice(0, 12)})`],
    ["command", clip([textOf(raw["Path"]), ...textsOf(raw["Args"])].join(" "), 300, encoder)],
    ["restart", `${textOf(policy["Name"]) || "no"}, ${one.restarts} so far`],
    [
      "limits",
      `memory ${memory > 0 ? formatBytes(memory) : "none"}, CPUs ${cpus > 0 ? cpus : "none"}`,
    ],
    ["ports", portsOf(one).join(", ")],
    ["networks", networksOf(one).join(", ") || textOf(host["NetworkMode"])],
    ["mounts", mounts.join("; ")],
    ["variables", names.toSorted().join(", ")],
    ["user", textOf(config["User"])],
    ["compose", project === "" ? "" : `${project}, service ${service}`],
    ...probes.map((probe): [string, string] => [
      "health",
      `${textOf(probe["Start"]).slice(0, 19)} exit ${numberOf(probe["ExitCode"])}: ${clip(textOf(probe["Output"]), 200, encoder)}`,
    ]),
  ];
  const shown = rows.filter(([, value]) => value !== "");
  return [one.name, ...shown.map(([label, value]) => `${label}: ${oneLine(value)}`)].join("\n");
}

/** Looked through for a pattern. */
const SEARCHED_LINES = 10_000;
const MAX_LINE = 400;

function createLogs(endpoints: Endpoints) {
  return defineTool({
    name: "docker_logs",
    summary: "shows a container's log lines, searched, the same lines folded",
    description:
      "The newest log lines of one container of Docker or podman, in order of time; same lines are folded (×N). pattern searches up to 10 000 lines.",
    input: z.strictObject({
      container: containerArgument,
      since: sinceArgument.optional(),
      pattern: z.string().min(1).max(500).optional().describe("RE2, case does not count"),
      lines: z.int().min(1).max(1_000).default(100),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ container }) => `Reading the logs of container ${container}`,
    endpoints,
    timeoutMs: 60_000,
    run: (input, ctx) =>
      orRefused(async () => {
        const engine = await openEngine(endpoints, input, ctx);
        const raw = await engine.inspect(input.container);
        const since = input.since === undefined ? undefined : await sinceMs(input.since, ctx);
        const tail = input.pattern === undefined ? input.lines : SEARCHED_LINES;
        const log = await engine.log(raw, { tail, since, timestamps: true });
        const lines = log.split("\n").filter((line) => line !== "");
        const found =
          input.pattern === undefined ? lines : await matching(lines, input.pattern, ctx.signal);
        const rows = folded(found);
        const shown = rows.slice(-input.lines);
        const match = input.pattern === undefined ? "" : `, ${found.length} match`;
        const older = rows.length - shown.length;
        const head = `${nameOf(raw)}, ${stateText(containerOf(raw))}: ${counted(lines.length, "line")}${match}${older > 0 ? `; ${older} older ones are left out` : ""}. Times are UTC.`;
        return { text: [head, ...shown].join("\n") };
      }),
  });
}

async function matching(
  lines: readonly string[],
  pattern: string,
  signal: AbortSignal,
): Promise<string[]> {
  const texts = lines.map((line) => parted(line).text);
  const wanted = { pattern, ignoreCase: true, wanted: texts.length };
  const { indices } = await searchLines(texts, wanted, signal);
  return indices.flatMap((index) => lines[index] ?? []);
}

/** The engine writes the time before each line. */
function parted(line: string): { time: string; text: string } {
  const [, time = "", text = line] =
    /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s.exec(line) ?? [];
  return { time: time.slice(0, 19).replace("T", " "), text };
}

/** The same line, whenever it came, is one; it stands where it came last. */
function folded(lines: readonly string[]): string[] {
  const rows = new Map<string, { count: number; first: string; last: string }>();
  for (const line of lines) {
    const { time, text } = parted(line);
    const known = rows.get(text);
    rows.delete(text);
    rows.set(text, { count: (known?.count ?? 0) + 1, first: known?.first ?? time, last: time });
  }
  return [...rows].map(([text, { count, first, last }]) => {
    return `${last} ${shortened(text, MAX_LINE)}${count > 1 ? ` (×${count} since ${first})` : ""}`.trim();
  });
}

/** Between two readings, where the engine gives only one. */
const READING_MS = 1_000;
const MAX_MEASURED = 20;

export function createStats(endpoints: Endpoints, { readingMs = READING_MS } = {}) {
  return defineTool({
    name: "docker_stats",
    summary: "shows what containers use now: CPU, memory against their limit, processes",
    description:
      "Shows what one container, or each that runs, uses now: CPU (100 % is one core), memory against its limit, processes, network.",
    input: z.strictObject({
      container: containerArgument.optional(),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ container }) => `Looking at what ${container ?? "each container"} uses now`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const engine = await openEngine(endpoints, input, ctx);
        const gaps: Gap[] = [];
        const all =
          input.container === undefined
            ? await engine.list("containers/json")
            : [await engine.inspect(input.container)];
        const uses = await Promise.all(
          all.slice(0, MAX_MEASURED).map(async (raw) => {
            const name = nameOf(raw);
            const failed = (why: string) =>
              void gaps.push({ what: `use of ${name}`, why, help: "Ask again." });
            const use = await orElse(
              useOf(engine, textOf(raw["Id"]), readingMs),
              undefined,
              failed,
            );
            return use && { name, ...use };
          }),
        );
        const rows = uses.filter((use) => use !== undefined).toSorted((a, b) => b.cpu - a.cpu);
        const left = all.length - MAX_MEASURED;
        const rest = left > 0 ? [`… ${counted(left, "more container")}`] : [];
        const lines = rows.map(({ name, words }) => `${name} ${words}`);
        return { text: [engine.words, ...lines, ...rest].join("\n"), gaps };
      }),
  });
}

/** As the API's documentation computes it, for one container's statistics. */
async function useOf(engine: Engine, id: string, readingMs: number) {
  const stats = await engine.stats(id);
  let before = partOf(stats, "precpu_stats");
  let now = stats;
  if (numberOf(before["system_cpu_usage"]) === 0) {
    // Podman gives no reading before this one.
    await new Promise((resolve) => setTimeout(resolve, readingMs));
    before = partOf(stats, "cpu_stats");
    now = await engine.stats(id);
  }
  const cpu = cpuPercent(before, partOf(now, "cpu_stats"));
  const memory = partOf(now, "memory_stats");
  const limit = numberOf(memory["limit"]);
  // What the kernel keeps of files it gives back when it is needed.
  const cache = numberOf(
    partOf(memory, "stats")["inactive_file"] ?? partOf(memory, "stats")["cache"],
  );
  const used = Math.max(0, numberOf(memory["usage"]) - cache);
  const share = limit > 0 ? ` (${percent(used, limit)} of ${formatBytes(limit)})` : "";
  const processes = numberOf(partOf(now, "pids_stats")["current"]);
  const throttled = numberOf(partOf(now, "cpu_stats", "throttling_data")["throttled_periods"]);
  const words = `CPU ${cpu.toFixed(1)} %, memory ${formatBytes(used)}${share}, ${processes} processes${throttled > 0 ? `, CPU throttled in ${throttled} periods` : ""}`;
  return { cpu, words };
}

function cpuPercent(before: Item, now: Item): number {
  const total = (raw: Item) => numberOf(partOf(raw, "cpu_usage")["total_usage"]);
  const system = numberOf(now["system_cpu_usage"]) - numberOf(before["system_cpu_usage"]);
  const each = partOf(now, "cpu_usage")["percpu_usage"];
  const cores = numberOf(now["online_cpus"]) || (Array.isArray(each) ? each.length : 1);
  return system > 0 ? ((total(now) - total(before)) / system) * cores * 100 : 0;
}

const MAX_EVENTS = 60;

function createEvents(endpoints: Endpoints) {
  return defineTool({
    name: "docker_events",
    summary: "shows what happened to containers, images and networks in a time",
    description:
      "Shows what happened in a Docker Engine or podman within a time: starts, ends with their codes, kills, out of memory, health changes, pulls. The engine keeps only the newest events.",
    input: z.strictObject({
      since: sinceArgument.default("1h"),
      container: containerArgument.optional(),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ container = "the containers" }) => `Reading what happened to ${container}`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const engine = await openEngine(endpoints, input, ctx);
        const since = await sinceMs(input.since, ctx);
        const filters = input.container === undefined ? {} : { container: [input.container] };
        const events = await engine.events(since, filters);
        const rows = events.map(eventText).filter((row) => !/ exec_(?:create|start|die)/.test(row));
        const shown = rows.slice(-MAX_EVENTS);
        const left = rows.length - shown.length;
        const head = `${counted(rows.length, "event")} since ${formatUtc(since, "second")}${left > 0 ? `; the first ${left} are left out` : ""}`;
        return { text: [head, ...shown].join("\n") };
      }),
  });
}

function eventText(event: Item): string {
  const at = numberOf(event["time"]) * 1_000 || Number.NaN;
  const attributes = partOf(event, "Actor", "Attributes");
  const name = textOf(attributes["name"]) || textOf(partOf(event, "Actor")["ID"]).slice(0, 12);
  const code = textOf(attributes["exitCode"]) || textOf(attributes["containerExitCode"]);
  const words = `${textOf(event["Type"])} ${name} ${textOf(event["Action"])}${code === "" ? "" : ` (code ${code})`}`;
  return `${formatUtc(at, "second")} ${oneLine(words)}`;
}

export function createReads(endpoints: Endpoints): readonly Tool[] {
  return [
    createList(endpoints),
    createInspect(endpoints),
    createLogs(endpoints),
    createStats(endpoints),
    createEvents(endpoints),
  ];
}
