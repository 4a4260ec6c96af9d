import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { suggest } from "../../core/suggest.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "../tool.ts";
import { type Api, createApi } from "./client.ts";
import type { Instance } from "./instance.ts";
import { builtIn, type Kind } from "./kinds.ts";
import { namespaceOf } from "./objects.ts";
import { gapOf, isRefusal, refusalText } from "./refusal.ts";

/** What every tool of a cluster is made by: which cluster, its errors in words, names that are checked against what exists. */

/** The clusters that the configuration names. */
export interface Clusters {
  readonly instances: readonly Instance[];
  /** The one that is meant when none is named. */
  readonly current: string;
  /** Who people are to the clusters, by their accounts: what one of them approved is done in that name. */
  readonly users?: Readonly<Record<string, string>>;
}

export type Input<S extends z.ZodRawShape> = z.infer<z.ZodObject<S>> & {
  instance?: string | undefined;
};

/** With the argument `instance` where there are several clusters. */
export function inputOf<S extends z.ZodRawShape>(
  { instances, current }: Clusters,
  shape: S,
): z.ZodType<Input<S>> {
  const names = instances.map(({ name }) => name);
  const which = z.enum(names).default(current).describe("Which cluster (kubeconfig context)");
  const input: z.ZodType = z.strictObject(names.length > 1 ? { ...shape, instance: which } : shape);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler does not see through a spread of a generic
  return input as z.ZodType<Input<S>>;
}

export function endpointsOf({ instances }: Clusters): NonNullable<Tool["endpoints"]> {
  return Object.fromEntries(instances.map(({ name, endpoint }) => [name, endpoint]));
}

/** The API of the cluster that a call is for. `actAs`: a user of the cluster in whose name it is asked. */
export function apiFor(
  clusters: Clusters,
  input: { instance?: string | undefined },
  ctx: ToolContext,
  actAs?: string,
): Api {
  const name = input.instance ?? clusters.current;
  const instance = clusters.instances.find((each) => each.name === name);
  if (instance === undefined) throw new BotError("INPUT_INVALID", `There is no cluster ${name}.`);
  return createApi(instance, ctx, actAs);
}

/**
 * Who the cluster is to see behind a change: whoever approved it, else whoever asked for it. Undefined: the bot itself.
 * @throws BotError NOT_AVAILABLE when they have no user
 */
export function changedBy({ users = {} }: Clusters, { asker }: ToolContext): string | undefined {
  if (Object.keys(users).length === 0 || asker === undefined) return undefined;
  const { approvers = [], account } = asker;
  const people = approvers.length === 0 ? [account] : approvers;
  const user = people.map((each) => users[each]).find((each) => each !== undefined);
  if (user !== undefined) return user;
  const who = people.join(", ");
  throw new BotError(
    "NOT_AVAILABLE",
    `kubernetes.users names no user for ${who}, so nothing was done.`,
  );
}

interface ReadTool<S extends z.ZodRawShape> {
  name: string;
  summary: string;
  description: string;
  shape: S;
  timeoutMs?: number;
  /** As `Tool.doing`. */
  doing(input: Input<S>): string;
  run(input: Input<S>, api: Api, ctx: ToolContext): Promise<ToolOutput>;
}

const READ_MS = 30_000;

/** A tool that only looks. What the cluster refuses is a result, with the permission that would help. */
export function defineRead<S extends z.ZodRawShape>(
  clusters: Clusters,
  tool: ReadTool<S>,
): Tool<Input<S>> {
  const { name, summary, description, shape, timeoutMs = READ_MS, doing, run } = tool;
  return defineTool<Input<S>>({
    name,
    summary,
    description,
    input: inputOf(clusters, shape),
    effect: "read",
    timeoutMs,
    endpoints: endpointsOf(clusters),
    doing,
    async run(input, ctx) {
      try {
        return await run(input, apiFor(clusters, input, ctx), ctx);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return { text: refusalText(error), failed: true, gaps: [gapOf(error)] };
      }
    },
  });
}

/** What the API takes as a name; some, such as `system:node`, are no DNS names. */
export const objectName = z
  .string()
  .max(253)
  .regex(/^[\w:.@-]+$/, "expected a name such as web-5d4f9");

export const namespaceArgument = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, "expected a namespace such as shop");

export const someNamespace = namespaceArgument
  .optional()
  .describe("Without it: all that may be read");

const NAMESPACES = builtIn("namespaces");

/** Why there is no such object, with what was probably meant. */
export async function notThere(
  api: Api,
  { kind, namespace, name }: { kind: Kind; namespace: string | undefined; name: string },
): Promise<BotError> {
  const names = await api.names(kind, namespace);
  if (names.length === 0 && namespace !== undefined) {
    const namespaces = await api.names(NAMESPACES);
    if (namespaces.length > 0 && !namespaces.includes(namespace)) {
      const near = suggest(namespace, namespaces);
      const hint =
        near === undefined ? `They are ${shortList(namespaces)}.` : `Did you mean ${near}?`;
      return new BotError("INPUT_INVALID", `There is no namespace ${namespace}. ${hint}`);
    }
  }
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  const near = suggest(name, names);
  const begins = names.filter((each) => each.startsWith(`${name}-`));
  const known =
    near === undefined ? [...begins, ...names.filter((each) => !begins.includes(each))] : [near];
  const hint =
    known.length === 0
      ? "None exists."
      : near === undefined
        ? `There are ${shortList(known)}.`
        : `Did you mean ${near}?`;
  return new BotError("INPUT_INVALID", `There is no ${kind.kind} ${name}${where}. ${hint}`);
}

export function shortList(names: readonly string[]): string {
  const first = names.slice(0, 15).join(", ");
  return names.length > 15 ? `${first} and ${names.length - 15} more` : first;
}

/** The one object of that name; without a namespace in any. @throws BotError INPUT_INVALID when there is none, or several */
export async function locate(
  api: Api,
  kind: Kind,
  name: string,
  namespace: string | undefined,
): Promise<JsonObject> {
  if (!kind.namespaced || namespace !== undefined) {
    const place = { kind, namespace: kind.namespaced ? namespace : undefined, name };
    return (await api.find(place)) ?? fail(await notThere(api, place));
  }
  try {
    const { items } = await api.list(kind, { fields: `metadata.name=${name}`, max: 50 });
    const [first, ...others] = items;
    if (first === undefined) throw await notThere(api, { kind, namespace, name });
    if (others.length === 0) return first;
    const places = items.map(namespaceOf).join(", ");
    throw new BotError(
      "INPUT_INVALID",
      `${kind.kind} ${name} is in several namespaces: ${places}. Name one.`,
    );
  } catch (error) {
    if (!isRefusal(error, 403)) throw error;
    return locate(api, kind, name, api.namespace || "default");
  }
}

function fail(error: BotError): never {
  throw error;
}
