import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import { refused } from "../refusal.ts";
import { defineChange, type Request } from "./change-tool.ts";
import { type Clusters, locate, namespaceArgument, objectName } from "./cluster-tool.ts";
import { changeLines, mergePatch } from "./differences.ts";
import { kindArgument } from "./get.ts";
import { findKind, titleOf } from "./kinds.ts";
import { isObject, nameOf, namespaceOf, objectAt, uidOf } from "./objects.ts";
import { replacing } from "./surroundings.ts";
import { refText, type Workload, WORKLOADS } from "./workloads.ts";

interface Input {
  patch: JsonObject;
  type: "merge" | "strategic";
}

/** Kinds by which rights and the rules of the whole cluster change. */
const POWERFUL =
  /^(?:rbac\.authorization|admissionregistration|apiextensions|apiregistration)\.k8s\.io$/;

function requestOf({ patch, type }: Input, { kind, object }: Workload): Request {
  const place = {
    kind,
    namespace: kind.namespaced ? namespaceOf(object) : undefined,
    name: nameOf(object),
  };
  const body = { ...patch, metadata: { ...objectAt(patch, "metadata"), uid: uidOf(object) } };
  return { place, write: { method: "PATCH", type, body } };
}

/** What the server says it would make of the object, as patches there and back. */
async function both(api: Api, input: Input, workload: Workload): Promise<JsonObject> {
  const { place, write } = requestOf(input, workload);
  const after = withoutStatus(await api.write(place, { ...write, dryRun: true }));
  const before = withoutStatus(workload.object);
  return { there: mergePatch(before, after), back: mergePatch(after, before) };
}

/** The status is its controller's, and changes all the time. */
function withoutStatus(object: JsonObject): JsonObject {
  const { status, ...rest } = object;
  void status;
  return rest;
}

export function createPatch(clusters: Clusters): Tool {
  return defineChange(clusters, {
    name: "kubernetes_patch",
    summary: "changes fields of one object",
    description:
      "Changes fields of one object of any kind but Secret, by a merge patch. For replicas, images, restarts and rollbacks use the tools for them.",
    // Rights, webhooks and the like reach far; the rest can be taken back.
    effect: "destructive",
    title: ({ kind, name, namespace }) =>
      `Patch ${titleOf(kind, name)}${namespace === undefined ? "" : ` in ${namespace}`}`,
    effectOf: ({ kind: name }) => {
      const kind = findKind(name);
      return kind !== undefined && kind.namespaced && !POWERFUL.test(kind.group)
        ? "write"
        : "destructive";
    },
    shape: {
      kind: kindArgument,
      name: objectName,
      namespace: namespaceArgument.optional().describe("Of what is in one"),
      patch: z.record(z.string(), z.json()).describe('{"spec":{"paused":true}}'),
      type: z
        .enum(["merge", "strategic"])
        .default("merge")
        .describe("strategic merges lists by their items' names; not for custom kinds"),
    },
    async find({ kind: written, name, namespace }, api) {
      const kind = await api.kind(written);
      if (kind.kind === "Secret")
        throw refused("Secrets are not patched from here: their values would be in the call.");
      return { kind, object: await locate(api, kind, name, namespace) };
    },
    settle: async ({ workload: { kind, object } }) => ({
      kind:
        kind.plural.includes(".") || kind.group === "" || findKind(kind.plural) === kind
          ? kind.plural
          : `${kind.plural}.${kind.group}`,
      ...(kind.namespaced && { namespace: namespaceOf(object) }),
    }),
    values: ({ input, workload, api }) => both(api, input, workload),
    // What the patch back would set is what the object has now.
    changed: (before, now) => changeLines(objectAt(before, "back"), objectAt(now, "back")),
    async check({ input, workload, api }) {
      const meta = Object.keys(objectAt(input.patch, "metadata")).filter(
        (key) => !["labels", "annotations", "finalizers"].includes(key),
      );
      if (meta.length > 0 || ["kind", "apiVersion", "status"].some((key) => key in input.patch))
        throw refused(
          "Of metadata only labels, annotations and finalizers can be patched, and no kind, apiVersion or status.",
        );
      const { there } = await both(api, input, workload);
      if (isObject(there) && Object.keys(there).length === 0)
        throw refused(`${refText(workload)} is like that already.`);
    },
    request: async ({ input, workload }) => requestOf(input, workload),
    blast: async ({ input, workload }) => {
      const rollsOut =
        WORKLOADS.includes(workload.kind) && "template" in objectAt(input.patch, "spec");
      if (rollsOut) return replacing(workload);
      return `Only ${refText(workload)} changes; what watches it acts on the change.`;
    },
    async verify({ input, workload, api }) {
      if (workload === undefined)
        return { verdict: "unknown", evidence: `${input.name} is not there any more.` };
      const { there } = await both(api, input, workload);
      const left = isObject(there) ? changeLines({}, there) : [];
      if (left.length === 0)
        return { verdict: "done", evidence: `${refText(workload)} is as the patch says.` };
      return { verdict: "not done", evidence: `Still to change: ${left.slice(0, 5).join("; ")}.` };
    },
    undoText: ({ before }) =>
      `Patches it back: ${JSON.stringify(before?.values["back"]).slice(0, 300)}`,
    undo(_, { there = null, back = null }) {
      return isObject(back)
        ? { args: { patch: back, type: "merge" }, values: { there: back, back: there } }
        : undefined;
    },
  });
}
