import type { JsonObject } from "../../core/entry.ts";
import { counted } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import { refused } from "../refusal.ts";
import { defineChange, type ChangeContext } from "./change-tool.ts";
import { type Clusters, locate, namespaceArgument, objectName } from "./cluster-tool.ts";
import { kindArgument } from "./get.ts";
import { builtIn, type Kind, titleOf } from "./kinds.ts";
import { controllerOf, nameOf, namespaceOf, objectAt, textAt, textsAt, uidOf } from "./objects.ts";
import { seen, shareText } from "./surroundings.ts";
import { podsOf, refText, WORKLOADS } from "./workloads.ts";

/** Without them the cluster itself stops. */
const NEVER = new Set(["kube-system", "kube-public", "kube-node-lease", "default"]);
/** What is counted of a namespace. */
const COUNTED: readonly Kind[] = [
  "pods",
  "deployments",
  "statefulsets",
  "services",
  "persistentvolumeclaims",
  "secrets",
].map(builtIn);

export function createDelete(clusters: Clusters): Tool {
  const tool = defineChange(clusters, {
    name: "kubernetes_delete",
    summary: "deletes one object for good, with all that it owns",
    description:
      "Deletes one object of any kind for good, and with it what it owns, such as a deployment's pods.",
    effect: "destructive",
    title: ({ kind, name, namespace }) =>
      `Delete ${titleOf(kind, name)}${namespace === undefined ? "" : ` in ${namespace}`} for good`,
    shape: {
      kind: kindArgument,
      name: objectName,
      namespace: namespaceArgument.optional().describe("Of what is in one"),
    },
    async find({ kind: written, name, namespace }, api) {
      const kind = await api.kind(written);
      return { kind, object: await locate(api, kind, name, namespace) };
    },
    settle: async ({ workload: { kind, object } }) =>
      kind.namespaced ? { namespace: namespaceOf(object) } : {},
    values: async () => ({}),
    async check({ workload: { kind, object } }) {
      if (kind.kind === "Namespace" && NEVER.has(nameOf(object)))
        throw refused(`The cluster needs namespace ${nameOf(object)}.`);
      const since = textAt(object, "metadata", "deletionTimestamp");
      if (since !== "")
        throw refused(
          `${refText({ kind, object })} is being deleted already, since ${since}${finalizersText(object)}.`,
        );
    },
    async request({ workload: { kind, object } }) {
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: "Background",
        preconditions: { uid: uidOf(object) },
      };
      const place = {
        kind,
        namespace: kind.namespaced ? namespaceOf(object) : undefined,
        name: nameOf(object),
      };
      return { place, write: { method: "DELETE", body } };
    },
    async lines({ workload: { object } }) {
      const owner = controllerOf(object);
      if (owner === undefined) return [];
      return [
        {
          label: "Made again by",
          value: `${textAt(owner, "kind")} ${textAt(owner, "name")}, which controls it`,
        },
      ];
    },
    blast: blastOf,
    async verify({ input, workload }) {
      if (workload === undefined || uidOf(workload.object) !== input.before?.uid)
        return { verdict: "done", evidence: `${input.kind} ${input.name} is gone.` };
      const since = textAt(workload.object, "metadata", "deletionTimestamp");
      if (since === "") return { verdict: "not done", evidence: `${input.name} is still there.` };
      return {
        verdict: "unknown",
        evidence: `${input.name} is being deleted${finalizersText(workload.object)}.`,
      };
    },
    undoText: () => "Can't be undone: it has to be made again from where its manifest is kept.",
  });
  return {
    ...tool,
    // What controls a pod makes it again.
    confirm: ({ kind, name, namespace }: { kind: string; name: string; namespace?: string }) =>
      /^(?:po|pods?)$/i.test(kind) ? undefined : [namespace, name].filter(Boolean).join("/"),
  };
}

function finalizersText(object: JsonObject): string {
  const finalizers = [
    ...textsAt(object, "metadata", "finalizers"),
    ...textsAt(object, "spec", "finalizers"),
  ];
  return finalizers.length === 0 ? "" : `; it waits for ${finalizers.join(", ")}`;
}

async function blastOf({
  workload,
  api,
}: Pick<ChangeContext<unknown>, "workload" | "api">): Promise<string> {
  const { kind, object } = workload;
  if (kind.kind === "Namespace") {
    const namespace = nameOf(object);
    const counts = await Promise.all(
      COUNTED.map(async (each) => ({
        each,
        items: await seen(api.list(each, { namespace, max: 1_000 })),
      })),
    );
    const some = counts
      .filter(({ items }) => items.length > 0)
      .map(({ each, items }) => `${items.length} ${each.plural}`);
    return `Everything in namespace ${namespace} goes: ${some.join(", ") || "it looks empty"}.`;
  }
  if (WORKLOADS.includes(kind)) {
    const pods = await podsOf(api, workload);
    return pods.length === 0
      ? "It has no pods."
      : `${counted(pods.length, "pod")} end with it: ${await shareText(api, pods)}.`;
  }
  if (kind.kind === "PersistentVolumeClaim") {
    const { volumeName = "" } = objectAt(object, "spec");
    return `Its volume ${typeof volumeName === "string" ? volumeName : ""} and the data on it may go with it, by the reclaim policy of its class.`;
  }
  return `Only ${refText(workload)}; what uses it fails from then on.`;
}
