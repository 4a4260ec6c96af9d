import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import type { Gap } from "../../core/finding.ts";
import { BotError } from "../../core/errors.ts";
import { noSuch } from "../../core/suggest.ts";
import { counted } from "../../core/text.ts";
import type { HttpResponse } from "../http.ts";
import { searchLines } from "../line-search.ts";
import type { Tool, ToolContext } from "../tool.ts";
import type { Api } from "./client.ts";
import { type Clusters, defineRead, someNamespace } from "./cluster-tool.ts";
import { cell } from "./format.ts";
import { refOf } from "./kinds.ts";
import { listAt, nameOf, namespaceOf, objectAt, textAt } from "./objects.ts";
import { containerStatuses, podState } from "./pods.ts";
import { gapFrom, isRefusal } from "./refusal.ts";
import { sinceArgument, sinceMs } from "../since.ts";
import { findWorkload, PODS, podsOf, refText, workloadArgument } from "./workloads.ts";

const MAX_PODS = 10;
/** Read of one container: to look through, and without a pattern only to show. */
const SEARCHED_LINES = 10_000;
const MAX_LOG_BYTES = 1024 * 1024;
const MAX_LINE = 400;

export function createLogs(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_logs",
    summary: "shows logs of a pod or of all pods of a workload, searched, the same lines folded",
    description:
      "The newest log lines of a pod, or of all pods and containers of a workload, in order of time; same lines are folded (×N). pattern searches up to 10 000 lines of each container. Of a crashed container it shows the run before the crash by itself.",
    timeoutMs: 60_000,
    shape: {
      workload: workloadArgument,
      namespace: someNamespace,
      container: z.string().max(63).optional(),
      previous: z.boolean().optional().describe("Of the run before the last restart"),
      since: sinceArgument.optional(),
      pattern: z.string().min(1).max(500).optional().describe("RE2, case does not count"),
      lines: z.int().min(1).max(1_000).default(100),
    },
    doing: ({ workload }) => `Reading the logs of ${workload}`,
    async run(input, api, ctx) {
      const workload = await findWorkload(api, input.workload, input.namespace);
      const pods = await podsOf(api, workload);
      const name = refText(workload);
      if (pods.length === 0) return { text: `${name} has no pods, so there are no logs.` };
      const gaps: Gap[] = [];
      // Those in trouble say most.
      const sorted = pods.toSorted(
        (a, b) => Number(podState(a).isHealthy) - Number(podState(b).isHealthy),
      );
      const sources = sorted.slice(0, MAX_PODS).flatMap((pod) => sourcesOf(pod, input));
      if (sources.length === 0) throw noContainer(pods, input.container ?? "");
      const isMany = sources.length > 1;
      const from = input.since === undefined ? undefined : await sinceMs(input.since, ctx);
      const read = await Promise.all(
        sources.map((source) => readSource(api, source, { ...input, from }, gaps, ctx)),
      );
      const lines = read
        .flat()
        .toSorted((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
      const found =
        input.pattern === undefined ? lines : await matching(lines, input.pattern, ctx.signal);
      const folded = fold(found);
      const shown = folded.slice(-input.lines);
      const head = headText(name, pods, sources, {
        read: lines.length,
        found: found.length,
        left: folded.length - shown.length,
        input,
      });
      return { text: [head, ...shown.map((line) => lineText(line, isMany))].join("\n"), gaps };
    },
  });
}

interface Source {
  pod: JsonObject;
  container: string;
  previous: boolean;
}

function sourcesOf(
  pod: JsonObject,
  { container, previous }: { container?: string | undefined; previous?: boolean | undefined },
): Source[] {
  const names = containerNames(pod);
  const statuses = new Map(
    containerStatuses(pod).map((status) => [textAt(status, "name"), status]),
  );
  return names
    .filter((name) => (container === undefined ? hasRun(name, pod, statuses) : name === container))
    .map((name) => {
      const status = statuses.get(name);
      const isDown =
        textAt(status, "state", "waiting", "reason") !== "" &&
        textAt(status, "lastState", "terminated", "finishedAt") !== "";
      return { pod, container: name, previous: previous ?? isDown };
    });
}

function containerNames(pod: JsonObject): string[] {
  const spec = objectAt(pod, "spec");
  return [...listAt(spec, "initContainers"), ...listAt(spec, "containers")].map((each) =>
    textAt(each, "name"),
  );
}

/** An init container that ended well has nothing to say about what is wrong now. */
function hasRun(name: string, pod: JsonObject, statuses: ReadonlyMap<string, JsonObject>): boolean {
  const isInit = listAt(pod, "spec", "initContainers").some(
    (each) => textAt(each, "name") === name,
  );
  const ended = objectAt(statuses.get(name), "state", "terminated");
  return !isInit || ended["exitCode"] !== 0;
}

function noContainer(pods: readonly JsonObject[], container: string): BotError {
  const names = [...new Set(pods.flatMap(containerNames))];
  return new BotError("INPUT_INVALID", noSuch("container", container, names));
}

interface Line {
  /** As the container runtime wrote it, or empty. */
  time: string;
  pod: string;
  container: string;
  text: string;
}

interface Asked {
  lines: number;
  pattern?: string | undefined;
  from: number | undefined;
}

async function readSource(
  api: Api,
  { pod, container, previous }: Source,
  { lines, pattern, from }: Asked,
  gaps: Gap[],
  ctx: ToolContext,
): Promise<Line[]> {
  const place = { kind: PODS, namespace: namespaceOf(pod), name: nameOf(pod), subresource: "log" };
  const query = {
    container,
    timestamps: true,
    limitBytes: MAX_LOG_BYTES,
    ...(previous && { previous }),
    ...(from !== undefined && { sinceTime: new Date(from).toISOString() }),
  };
  try {
    let tailLines = pattern === undefined ? lines : SEARCHED_LINES;
    let answer = await api.text(place, { ...query, tailLines }, 2 * MAX_LOG_BYTES);
    // What is over the limit is cut from its newest end, so fewer lines are asked for.
    while (isCut(answer) && tailLines > 1) {
      tailLines = Math.ceil(tailLines / 8);
      answer = await api.text(place, { ...query, tailLines }, 2 * MAX_LOG_BYTES);
    }
    const { aside } = ctx.encoder;
    const { text } = answer;
    const clean = await (isCut(answer)
      ? aside.encodeCut(text, { before: false, behind: true })
      : aside.encode(text));
    return clean
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => parsedLine(line, nameOf(pod), container));
  } catch (error) {
    const asked = {
      verb: "get",
      resource: "pods/log",
      namespace: namespaceOf(pod),
      name: `${nameOf(pod)} container ${container}`,
    };
    // A container that has not run yet has no log; the head says its state.
    if (!isRefusal(error, 400)) gaps.push(gapFrom(error, asked));
    else if (!/waiting to start|not found|is terminated/.test(error.message))
      gaps.push(gapFrom(error, asked));
    return [];
  }
}

function isCut({ text, isWhole }: HttpResponse): boolean {
  return !isWhole || Buffer.byteLength(text) >= MAX_LOG_BYTES;
}

function parsedLine(line: string, pod: string, container: string): Line {
  const [, time = "", text = line] =
    /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s.exec(line) ?? [];
  return { time, pod, container, text };
}

async function matching(
  lines: readonly Line[],
  pattern: string,
  signal: AbortSignal,
): Promise<Line[]> {
  const texts = lines.map(({ text }) => text);
  const { indices } = await searchLines(
    texts,
    { pattern, ignoreCase: true, wanted: texts.length },
    signal,
  );
  return indices.flatMap((index) => lines[index] ?? []);
}

interface Folded extends Line {
  count: number;
  last: string;
  pods: Set<string>;
}

/** The same line, whenever and from whichever pod, is one; it stands where it came last. */
function fold(lines: readonly Line[]): Folded[] {
  const folded = new Map<string, Folded>();
  for (const line of lines) {
    const key = `${line.container}\0${line.text}`;
    const known = folded.get(key);
    folded.delete(key);
    if (known === undefined)
      folded.set(key, { ...line, count: 1, last: line.time, pods: new Set([line.pod]) });
    else {
      known.pods.add(line.pod);
      folded.set(key, { ...known, count: known.count + 1, last: line.time });
    }
  }
  return [...folded.values()];
}

function lineText(
  { time, last, pods, pod, container, text, count }: Folded,
  isMany: boolean,
): string {
  const who = isMany ? ` ${pods.size > 1 ? counted(pods.size, "pod") : pod}/${container}` : "";
  const times = count > 1 ? ` (×${count} since ${clock(time)})` : "";
  return `${clock(last)}${who} ${cell(text, MAX_LINE)}${times}`.trim();
}

function clock(time: string): string {
  return time.slice(0, 19).replace("T", " ");
}

interface Counts {
  read: number;
  found: number;
  left: number;
  input: { pattern?: string | undefined; since?: string | undefined };
}

function headText(
  name: string,
  pods: readonly JsonObject[],
  sources: readonly Source[],
  { read, found, left, input }: Counts,
): string {
  const { pattern, since } = input;
  const used = new Set(sources.map(({ pod }) => nameOf(pod))).size;
  const among =
    pods.length > used
      ? ` (${used} of ${pods.length} pods)`
      : pods.length > 1
        ? ` (${pods.length} pods)`
        : "";
  const from = since === undefined ? "" : ` since ${since}`;
  const searched =
    pattern === undefined
      ? counted(read, "line")
      : `${found} of ${counted(read, "line")} match ${JSON.stringify(pattern)}`;
  const before = [
    ...new Set(sources.filter(({ previous }) => previous).map(({ container }) => container)),
  ];
  const run =
    before.length === 0 ? "" : `; of ${before.join(", ")} the run before the last restart`;
  const more = left > 0 ? `; ${left} older ones are left out` : "";
  const states = sources.flatMap(({ pod }) => {
    const { isHealthy, troubles } = podState(pod);
    const [first] = troubles;
    return isHealthy
      ? []
      : [
          `${refOf("pod", nameOf(pod))} ${first?.container ?? ""} ${first?.reason ?? ""}`.replaceAll(
            / +/g,
            " ",
          ),
        ];
  });
  const state =
    states.length === 0 ? "" : `\nNot well: ${[...new Set(states)].slice(0, 5).join("; ")}`;
  return `${name}${among}${from}: ${searched}${run}${more}. Times are UTC.${state}`;
}
