import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Effect, JsonObject, Preview } from "../../core/entry.ts";
import type { ReverseCall } from "../../core/tool-call.ts";
import { absent, refused } from "../refusal.ts";
import { nowOf } from "../since.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput, type Verdict } from "../tool.ts";
import type { Api, Place, Write } from "./client.ts";
import { apiFor, changedBy, type Clusters, endpointsOf, inputOf } from "./cluster-tool.ts";
import { changeLines } from "./differences.ts";
import { moment } from "./format.ts";
import { isObject, nameOf, namespaceOf, textAt, uidOf } from "./objects.ts";
import { gapOf, isRefusal, type Refusal, refusalText } from "./refusal.ts";
import { refText, type Workload } from "./workloads.ts";

/** The object as it was when the call was pinned: what is approved is done to this one, and as it then was. */
const pinned = z
  .strictObject({ uid: z.string(), values: z.record(z.string(), z.json()) })
  .optional()
  .meta({ internal: true });
type Pinned = NonNullable<z.infer<typeof pinned>>;

export type ChangeInput<S extends z.ZodRawShape> = z.infer<z.ZodObject<S>> & {
  instance?: string | undefined;
  before?: Pinned | undefined;
};

/** What the call replaces, for its title: ` from 2`. */
export function fromBefore({ before }: { before?: Pinned | undefined }, field: string): string {
  const value = before?.values[field];
  return value === undefined
    ? ""
    : ` from ${typeof value === "string" ? value : JSON.stringify(value)}`;
}

export interface Request {
  place: Place;
  write: Write;
}

/** Everything that a step of a change has at hand. */
export interface ChangeContext<I> {
  input: I;
  workload: Workload;
  api: Api;
  /** When the call was started, or now, ms since 1970. */
  now: number;
}

export interface ClusterChange<S extends z.ZodRawShape, I = ChangeInput<S>> {
  name: string;
  summary: string;
  description: string;
  shape: S;
  effect: Effect;
  effectOf?(input: I): Effect;
  title(input: I): string;
  timeoutMs?: number;
  /** The object that it changes. @throws BotError INPUT_INVALID */
  find(input: I, api: Api): Promise<Workload>;
  /** The arguments with what was left out filled in. */
  settle?(step: ChangeContext<I>): Promise<Partial<I>>;
  /** What the change replaces. While it is no longer so, the call is refused. */
  values(step: ChangeContext<I>): Promise<JsonObject>;
  /** How these differ, in the object's own fields, where `values` are not fields of it themselves. */
  changed?(before: JsonObject, now: JsonObject): string[];
  /** Why it may not be. @throws BotError PRECHECK_FAILED */
  check?(step: ChangeContext<I>): Promise<void>;
  /** What is sent, and as a dry run before. */
  request(step: ChangeContext<I>): Promise<Request>;
  /** What else would be touched. */
  blast(step: ChangeContext<I>): Promise<string>;
  /** Lines of the card besides the differences. */
  lines?(step: ChangeContext<I>): Promise<{ label: string; value: string }[]>;
  /** Sends something else than the one request. */
  carryOut?(step: ChangeContext<I>, ctx: ToolContext): Promise<ToolOutput>;
  /** What a read-back saw; `workload` undefined: it is not there any more. */
  verify(
    step: Omit<ChangeContext<I>, "workload"> & {
      workload: Workload | undefined;
      startedAt: number;
    },
  ): Promise<Verdict>;
  /** How it can be taken back, in a sentence. */
  undoText(input: I): string;
  /** What is other in the call that is the exact reverse, and what of the object that will replace; undefined: there is none. */
  undo?(
    input: I,
    before: JsonObject,
  ): { args: JsonObject; values: JsonObject; tool?: string } | undefined;
}

const CHANGE_MS = 30_000;

/** A tool that changes one object: shown by the server's own dry run, done to the very object that was shown, read back. */
export function defineChange<S extends z.ZodRawShape>(
  clusters: Clusters,
  change: ClusterChange<S>,
): Tool<ChangeInput<S>> {
  type I = ChangeInput<S>;
  const { name, summary, description, effect, timeoutMs = CHANGE_MS, effectOf } = change;
  const input = inputOf(clusters, { ...change.shape, before: pinned });
  async function begin(given: I, ctx: ToolContext, actAs?: string): Promise<ChangeContext<I>> {
    const api = apiFor(clusters, given, ctx, actAs);
    const workload = await change.find(given, api);
    return { input: given, workload, api, now: nowOf(ctx) };
  }

  async function checkSame(step: ChangeContext<I>): Promise<void> {
    const { input: given, workload } = step;
    const what = `${refText(workload)}${namespaceOf(workload.object) === "" ? "" : ` in ${namespaceOf(workload.object)}`}`;
    if (given.before !== undefined) {
      if (uidOf(workload.object) !== given.before.uid)
        throw refused(`${what} is another one by now: the one that was shown is gone.`);
      const now = await change.values(step);
      if (!isDeepStrictEqual(jsonOf(now), given.before.values)) {
        const { values } = given.before;
        const lines = change.changed?.(values, now) ?? changeLines(values, now);
        const other = lines.slice(0, 3).join("; ");
        throw refused(`${what} has changed since it was shown: ${other}.`);
      }
    }
    await change.check?.(step);
    await tried(clusters, async () => {
      const { place, write } = await change.request(step);
      return step.api.write(place, { ...write, dryRun: true });
    });
  }

  return defineTool<I>({
    name,
    summary,
    description,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler does not see through a spread of a generic
    input: input as z.ZodType<I>,
    effect,
    ...(effectOf && { effectOf: (given: I) => effectOf(given) }),
    title: (given) => change.title(given),
    timeoutMs,
    endpoints: endpointsOf(clusters),
    resource: (given) => resourceOf(clusters, given),
    pin: (given, ctx) =>
      orRefused(async () => {
        const step = await begin(given, ctx);
        if (given.before !== undefined) return given;
        const settled: I = Object.assign({}, given, await change.settle?.(step));
        const values = await change.values({ ...step, input: settled });
        return Object.assign(settled, { before: { uid: uidOf(step.workload.object), values } });
      }),
    precheck: (given, ctx) => orRefused(async () => checkSame(await begin(given, ctx))),
    preview: (given, ctx) =>
      orRefused(async () => previewOf(clusters, change, await begin(given, ctx))),
    async run(given, ctx) {
      try {
        const step = await begin(given, ctx, changedBy(clusters, ctx));
        const undo = reverseOf(change, given);
        if (change.carryOut !== undefined) return { ...(await change.carryOut(step, ctx)), undo };
        const { place, write } = await change.request(step);
        const before = write.method === "DELETE" ? step.workload.object : await step.api.get(place);
        const after = await step.api.write(place, write);
        const changes = write.method === "DELETE" ? ["deleted"] : changeLines(before, after);
        return {
          text: `${refText(step.workload)}: ${changes.slice(0, 10).join("; ") || "nothing changed"}`,
          undo,
        };
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return { text: refusalText(error), failed: true, gaps: [gapOf(error)] };
      }
    },
    async verify(given, ctx, startedAt) {
      const api = apiFor(clusters, given, ctx);
      const workload = await change.find(given, api).catch(absent);
      const seen = await change.verify({ input: given, api, workload, startedAt, now: Date.now() });
      return seen.verdict === "done" ? { ...seen, undo: reverseOf(change, given) } : seen;
    },
  });
}

/** What the server refuses before anything is done is a reason not to ask. */
async function orRefused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw refused(refusalWithHelp(error));
  }
}

function refusalWithHelp(refusal: Refusal): string {
  const { help } = gapOf(refusal);
  return refusal.status === 403 ? `${refusalText(refusal)}. ${help}` : `${refusalText(refusal)}.`;
}

/** As it is stored: without what is undefined. */
function jsonOf(value: object): JsonObject {
  const stored: unknown = JSON.parse(JSON.stringify(value));
  return isObject(stored) ? stored : {};
}

/** The call that takes it back. It is refused when the object is no longer as this call leaves it. */
function reverseOf<S extends z.ZodRawShape>(
  { name, undo }: ClusterChange<S>,
  given: ChangeInput<S>,
): ReverseCall | undefined {
  const { before } = given;
  const reverse = before === undefined ? undefined : undo?.(given, before.values);
  if (before === undefined || reverse === undefined) return undefined;
  const { tool = name, args, values } = reverse;
  const rest = tool === name ? given : { instance: given.instance };
  return { tool, args: jsonOf({ ...rest, ...args, before: { uid: before.uid, values } }) };
}

/** Changes of one object never run side by side. */
function resourceOf({ current }: Clusters, given: { instance?: string | undefined }): string {
  const { instance = current, ...rest } = given;
  const text = (key: string) => textAt(jsonOf(rest), key);
  const target =
    text("workload") || `${text("kind")}/${text("name") || text("node") || text("pod")}`;
  return `kubernetes ${instance} ${text("namespace")} ${target}`;
}

/** The bot itself may lack the right for what is done in the name of whoever approves it: then it is not tried before. */
async function tried<T>({ users = {} }: Clusters, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error, 403) && Object.keys(users).length > 0) return undefined;
    throw error;
  }
}

async function previewOf<S extends z.ZodRawShape>(
  clusters: Clusters,
  change: ClusterChange<S>,
  step: ChangeContext<ChangeInput<S>>,
): Promise<Preview> {
  const { workload, api } = step;
  const [blastRadius, extra = [], changes] = await Promise.all([
    change.blast(step),
    change.lines?.(step),
    tried(clusters, async () => differences(api, await change.request(step))),
  ]);
  const { object, kind } = workload;
  const where = namespaceOf(object);
  return {
    lines: [
      ...(clusters.instances.length > 1 ? [{ label: "Cluster", value: api.instance }] : []),
      { label: kind.kind, value: where === "" ? nameOf(object) : `${where}/${nameOf(object)}` },
      { label: "Created", value: moment(textAt(object, "metadata", "creationTimestamp")) },
      ...extra,
      ...(changes ?? []).slice(0, MAX_CHANGES).map((value) => ({ label: "Change", value })),
      { label: "Tried", value: triedText(changes) },
    ],
    blastRadius,
    undo: change.undoText(step.input),
  };
}

const MAX_CHANGES = 20;

function triedText(changes: readonly string[] | undefined): string {
  if (changes === undefined) return "not yet: it is done in the name of whoever approves it";
  const more = changes.length - MAX_CHANGES;
  return `the API server takes it (dry run)${more > 0 ? `; ${more} more changes` : ""}`;
}

/** What the server's dry run says would change; of a deletion nothing but that. */
async function differences(api: Api, { place, write }: Request): Promise<string[]> {
  if (write.method !== "PATCH" && write.method !== "PUT") return [];
  const [before, after] = await Promise.all([
    api.get(place),
    api.write(place, { ...write, dryRun: true }),
  ]);
  return changeLines(before, after);
}
