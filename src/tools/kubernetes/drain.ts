import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import type { Tool, ToolOutput } from "../tool.ts";
import type { Api, Place } from "./client.ts";
import { refused } from "../refusal.ts";
import { defineChange, type ChangeContext } from "./change-tool.ts";
import { type Clusters, locate, objectName } from "./cluster-tool.ts";
import { isCordoned, NODES } from "./cordon.ts";
import { cell, firstLines } from "./format.ts";
import { builtIn } from "./kinds.ts";
import { controllerOf, listAt, mapAt, nameOf, namespaceOf, textAt, uidOf } from "./objects.ts";
import { isRefusal } from "./refusal.ts";
import { budgetsText, localVolumes, shareText } from "./surroundings.ts";

const PODS = builtIn("pods");
/** For all pods together; what a budget holds back longer is left. */
const DRAIN_MS = 240_000;
const AGAIN_MS = 5_000;
const AT_ONCE = 10;

export function createDrain(clusters: Clusters): Tool {
  return defineChange(clusters, {
    name: "kubernetes_drain",
    summary: "moves all pods off a node, as their budgets allow",
    description:
      "Cordons a node and evicts its pods as their disruption budgets allow, as `kubectl drain` does; pods of daemon sets stay.",
    effect: "destructive",
    title: ({ node }) => `Drain node ${node}`,
    timeoutMs: DRAIN_MS + 30_000,
    shape: {
      node: objectName,
      deleteLocalData: z
        .boolean()
        .default(false)
        .describe("Also pods with emptyDir volumes, whose content is lost"),
      force: z.boolean().default(false).describe("Also pods that no controller replaces"),
    },
    find: async ({ node }, api) => ({
      kind: NODES,
      object: await locate(api, NODES, node, undefined),
    }),
    values: async ({ workload }) => ({ unschedulable: isCordoned(workload) }),
    check: checkHeld,
    async request({ workload: { kind, object } }) {
      const body = { metadata: { uid: uidOf(object) }, spec: { unschedulable: true } };
      return {
        place: { kind, name: nameOf(object) },
        write: { method: "PATCH", type: "merge", body },
      };
    },
    async lines({ input, api }) {
      const { evicted, kept } = await podsOn(api, input.node);
      const names = evicted.map((pod) => `${namespaceOf(pod)}/${nameOf(pod)}`);
      return [
        { label: "Evicted", value: names.length === 0 ? "no pod" : names.join(", ") },
        {
          label: "Stay",
          value: `${counted(kept.length, "pod")} of daemon sets or of the node itself`,
        },
      ];
    },
    blast: blastOf,
    carryOut: drain,
    async verify({ input, workload, api }) {
      if (workload === undefined)
        return { verdict: "unknown", evidence: `${input.node} is not there any more.` };
      const { evicted } = await podsOn(api, input.node);
      const left = evicted.filter((pod) => textAt(pod, "metadata", "deletionTimestamp") === "");
      const isDone = isCordoned(workload) && left.length === 0;
      const ending = evicted.length - left.length;
      const evidence = `${input.node} is ${isCordoned(workload) ? "" : "not "}cordoned; ${counted(left.length, "pod")} to evict, ${ending} ending.`;
      return { verdict: isDone ? "done" : "not done", evidence };
    },
    undoText: () => "Uncordons the node; its pods do not come back to it by themselves.",
    undo: ({ node }, { unschedulable }) =>
      unschedulable === true
        ? undefined
        : {
            tool: "kubernetes_cordon",
            args: { node, action: "uncordon" },
            values: { unschedulable: true },
          },
  });
}

async function checkHeld({ input, workload, api }: ChangeContext<Given>): Promise<void> {
  const { evicted, kept } = await podsOn(api, input.node);
  const held = evicted.flatMap((pod) => whyHeld(pod, input));
  if (held.length > 0)
    throw refused(`Not without asking for it: ${firstLines(held, 5, "pods").join("; ")}.`);
  if (evicted.length > 0 || !isCordoned(workload)) return;
  const stay = counted(kept.length, "pod");
  throw refused(
    `${input.node} is drained: it is cordoned, and only ${stay} of daemon sets are there.`,
  );
}

async function blastOf({ input, api }: ChangeContext<Given>): Promise<string> {
  const { evicted } = await podsOn(api, input.node);
  if (evicted.length === 0) return "No pod goes.";
  const [share, budgets] = await Promise.all([shareText(api, evicted), budgetsText(api, evicted)]);
  const bound = budgets.length === 0 ? "" : ` Budgets: ${budgets.slice(0, 8).join("; ")}.`;
  return `${counted(evicted.length, "pod")} go: ${share}.${bound}`;
}

/** A daemon set's pod would come back at once; a mirror pod is a file on the node. */
async function podsOn(
  api: Api,
  node: string,
): Promise<{ evicted: JsonObject[]; kept: JsonObject[] }> {
  const { items } = await api.list(PODS, { fields: `spec.nodeName=${node}` });
  const isKept = (pod: JsonObject) =>
    textAt(controllerOf(pod), "kind") === "DaemonSet" ||
    mapAt(pod, "metadata", "annotations")["kubernetes.io/config.mirror"] !== undefined;
  return { evicted: items.filter((pod) => !isKept(pod)), kept: items.filter(isKept) };
}

function whyHeld(
  pod: JsonObject,
  { deleteLocalData, force }: { deleteLocalData: boolean; force: boolean },
): string[] {
  const name = `${namespaceOf(pod)}/${nameOf(pod)}`;
  const isOver = ["Succeeded", "Failed"].includes(textAt(pod, "status", "phase"));
  if (isOver) return [];
  if (!force && controllerOf(pod) === undefined) return [`${name} has no controller (force=true)`];
  const local = localVolumes(pod);
  return !deleteLocalData && local.length > 0
    ? [`${name} keeps data in ${local.join(", ")} (deleteLocalData=true)`]
    : [];
}

interface Given {
  node: string;
  deleteLocalData: boolean;
  force: boolean;
}

async function drain(step: ChangeContext<Given>): Promise<ToolOutput> {
  const { api, input, workload } = step;
  const body = { metadata: { uid: uidOf(workload.object) }, spec: { unschedulable: true } };
  await api.write({ kind: NODES, name: input.node }, { method: "PATCH", type: "merge", body });
  const { evicted } = await podsOn(api, input.node);
  const version = await evictionVersion(api);
  const deadline = performance.now() + DRAIN_MS;
  const waiting = evicted.filter((pod) => whyHeld(pod, input).length === 0);
  const left: string[] = [];
  const gone: string[] = [];
  const work = async () => {
    for (let pod = waiting.shift(); pod !== undefined; pod = waiting.shift()) {
      const why = await evict(api, pod, version, deadline);
      const name = `${namespaceOf(pod)}/${nameOf(pod)}`;
      if (why === undefined) gone.push(name);
      else left.push(`${name}: ${why}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const text = [
    `${input.node} is cordoned; ${counted(gone.length, "pod")} evicted${left.length === 0 ? "" : `, ${left.length} left`}.`,
    ...firstLines(left, 20, "pods"),
  ].join("\n");
  return { text, failed: left.length > 0 };
}

/** Why it is still there, or undefined. A budget that says no is asked again until the time is up. */
async function evict(
  api: Api,
  pod: JsonObject,
  version: string,
  deadline: number,
): Promise<string | undefined> {
  const place: Place = {
    kind: PODS,
    namespace: namespaceOf(pod),
    name: nameOf(pod),
    subresource: "eviction",
  };
  const metadata = { name: nameOf(pod), namespace: namespaceOf(pod) };
  const deleteOptions = { preconditions: { uid: uidOf(pod) } };
  const body = { apiVersion: `policy/${version}`, kind: "Eviction", metadata, deleteOptions };
  for (;;) {
    try {
      await api.write(place, { method: "POST", body });
      return undefined;
    } catch (error) {
      if (isRefusal(error, 404, 409)) return undefined;
      if (!isRefusal(error)) throw error;
      if (error.status !== 429 || performance.now() + AGAIN_MS > deadline)
        return cell(error.message);
    }
    await pause(api.signal);
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  try {
    await delay(AGAIN_MS, undefined, { signal });
  } catch (error) {
    throw new BotError("ABORTED", "Some pods were evicted, others not.", { cause: error });
  }
}

/** Which version of evictions the server takes: v1 from Kubernetes 1.22 on. */
async function evictionVersion(api: Api): Promise<string> {
  const resources = listAt(await api.raw("api/v1"), "resources");
  return (
    textAt(
      resources.find((each) => each["name"] === "pods/eviction"),
      "version",
    ) || "v1"
  );
}
