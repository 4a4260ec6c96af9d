import * as z from "zod";
import type { JsonObject } from "../../core/entry.ts";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import { refused } from "../refusal.ts";
import { defineChange } from "./change-tool.ts";
import { type Clusters, namespaceArgument } from "./cluster-tool.ts";
import { changeLines } from "./differences.ts";
import { nameOf, namespaceOf, objectAt, uidOf } from "./objects.ts";
import {
  currentOf,
  imagesOf,
  type Revision,
  revisionsOf,
  ROLLED_OUT,
  statusText,
} from "./rollout.ts";
import { replacing } from "./surroundings.ts";
import { findWorkload, refText, type Workload, workloadArgument } from "./workloads.ts";

/** The revision to go back to, by default the one before. @throws BotError PRECHECK_FAILED */
async function targetOf(
  api: Api,
  workload: Workload,
  wanted: number | undefined,
): Promise<Revision> {
  const revisions = await revisionsOf(api, workload);
  const current = currentOf(workload, revisions);
  const target = revisions.find((each) =>
    wanted === undefined ? each.number < (current?.number ?? 0) : each.number === wanted,
  );
  const known = revisions.map(({ number }) => number).join(", ") || "none";
  if (target === undefined)
    throw refused(
      `${refText(workload)} has no revision ${wanted ?? "before this one"}; there are ${known}.`,
    );
  if (target === current)
    throw refused(`${refText(workload)} is at revision ${target.number} already.`);
  return target;
}

/** Marks of the history's own format. */
function templateOf({ template }: Revision): JsonObject {
  const { $patch: mark, ...rest } = template;
  void mark;
  return rest;
}

export function createUndoRollout(clusters: Clusters): Tool {
  return defineChange(clusters, {
    name: "kubernetes_undo_rollout",
    summary: "takes a workload back to an earlier revision",
    description:
      "Takes a deployment, stateful set or daemon set back to an earlier revision of its pods' template; kubernetes_rollout lists them.",
    effect: "write",
    title: ({ workload, namespace, revision = "before" }) =>
      `Roll ${workload} in ${namespace} back to revision ${revision}`,
    shape: {
      workload: workloadArgument,
      namespace: namespaceArgument,
      revision: z.int().min(1).optional().describe("Without it: the one before"),
    },
    find: ({ workload, namespace }, api) => findWorkload(api, workload, namespace, ROLLED_OUT),
    async settle({ input, workload, api }) {
      const { number } = await targetOf(api, workload, input.revision);
      return { workload: refText(workload), revision: number };
    },
    async values({ workload, api }) {
      return { revision: currentOf(workload, await revisionsOf(api, workload))?.number ?? 0 };
    },
    async check({ workload }) {
      if (objectAt(workload.object, "spec")["paused"] === true)
        throw refused(`${refText(workload)} is paused; resume its rollout first.`);
    },
    async request({ input, workload, api }) {
      const { kind, object } = workload;
      const target = await targetOf(api, workload, input.revision);
      const body = [
        { op: "test", path: "/metadata/uid", value: uidOf(object) },
        { op: "replace", path: "/spec/template", value: templateOf(target) },
      ];
      const place = { kind, namespace: namespaceOf(object), name: nameOf(object) };
      return { place, write: { method: "PATCH", type: "json", body } };
    },
    async lines({ input, workload, api }) {
      const { number, template } = await targetOf(api, workload, input.revision);
      return [{ label: "Back to", value: `revision ${number}: ${imagesOf(template)}` }];
    },
    blast: async ({ workload }) => replacing(workload),
    async verify({ input, workload, api }) {
      if (workload === undefined)
        return { verdict: "unknown", evidence: `${input.workload} is not there any more.` };
      const revisions = await revisionsOf(api, workload);
      const now = currentOf(workload, revisions);
      // Once the controller has acted, the revision that is returned to has a new number, the highest.
      const { revision: before } = input.before?.values ?? {};
      const template = objectAt(workload.object, "spec", "template");
      const isBack = revisions
        .filter(({ number }) => number === input.revision || number > Number(before))
        .some((each) => changeLines(templateOf(each), template).length === 0);
      const evidence = `It is at revision ${now?.number ?? "unknown"} (${now === undefined ? "" : imagesOf(now.template)}). ${statusText(workload)}`;
      return { verdict: isBack ? "done" : "not done", evidence };
    },
    undoText: ({ before }) =>
      `Goes forward again to revision ${JSON.stringify(before?.values["revision"])}.`,
    undo(_, { revision }) {
      if (typeof revision !== "number") return undefined;
      // What is returned to becomes the newest revision.
      return { args: { revision }, values: { revision: revision + 1 } };
    },
  });
}
