import type { JsonObject } from "../../core/entry.ts";
import type { Gap } from "../../core/finding.ts";
import { counted } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import { type Clusters, defineRead, someNamespace } from "./cluster-tool.ts";
import { changeLines } from "./differences.ts";
import { cell, firstLines, moment, tableText } from "./format.ts";
import { builtIn, type Kind } from "./kinds.ts";
import {
  conditionOf,
  controllerOf,
  listAt,
  mapAt,
  namespaceOf,
  numberAt,
  objectAt,
  selectorText,
  textAt,
  uidOf,
} from "./objects.ts";
import {
  findWorkload,
  refText,
  replicaSetsOf,
  revisionOf,
  type Workload,
  wantedPods,
  workloadArgument,
} from "./workloads.ts";

const CONTROLLER_REVISIONS = builtIn("controllerrevisions");
/** What is rolled out in revisions. */
export const ROLLED_OUT: readonly Kind[] = ["deployments", "statefulsets", "daemonsets"].map(
  builtIn,
);
const MAX_REVISIONS = 10;

/** One state of a workload's template that its history keeps. */
export interface Revision {
  number: number;
  /** Of the pods. */
  template: JsonObject;
  created: string;
  /** As whoever changed it wrote it down. */
  cause: string;
  /** How many it has now; undefined: its history does not say. */
  replicas: number | undefined;
}

/** Newest first. */
export async function revisionsOf(api: Api, { kind, object }: Workload): Promise<Revision[]> {
  if (kind.kind === "Deployment") {
    return (await replicaSetsOf(api, object)).map((set) => ({
      ...commonOf(set),
      template: withoutHash(objectAt(set, "spec", "template")),
      replicas: numberAt(set, "status", "replicas"),
    }));
  }
  const labels = selectorText(objectAt(object, "spec", "selector"));
  const { items } = await api.list(CONTROLLER_REVISIONS, {
    namespace: namespaceOf(object),
    labels,
  });
  return items
    .filter((each) => textAt(controllerOf(each), "uid") === uidOf(object))
    .toSorted((a, b) => revisionOf(b) - revisionOf(a))
    .map((each) => ({
      ...commonOf(each),
      template: objectAt(each, "data", "spec", "template"),
      replicas: undefined,
    }));
}

function commonOf(object: JsonObject): Pick<Revision, "number" | "created" | "cause"> {
  return {
    number: revisionOf(object),
    created: textAt(object, "metadata", "creationTimestamp"),
    cause: textAt(object, "metadata", "annotations", "kubernetes.io/change-cause"),
  };
}

/** The controller puts its own label into each replica set's template. */
function withoutHash(template: JsonObject): JsonObject {
  const { "pod-template-hash": hash, ...labels } = mapAt(template, "metadata", "labels");
  void hash;
  return { ...template, metadata: { ...objectAt(template, "metadata"), labels } };
}

export function imagesOf(template: JsonObject): string {
  return listAt(template, "spec", "containers")
    .map((container) => textAt(container, "image"))
    .join(", ");
}

export function createRollout(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_rollout",
    summary: "shows how far a rollout is, its history, and what the last one changed",
    description:
      "How far a workload's rollout is and why it is stuck, its revisions, and what the newest one changed.",
    shape: { workload: workloadArgument, namespace: someNamespace },
    doing: ({ workload }) => `Looking at the rollout of ${workload}`,
    async run(input, api) {
      const workload = await findWorkload(api, input.workload, input.namespace, ROLLED_OUT);
      const gaps: Gap[] = [];
      const revisions = await revisionsOf(api, workload);
      const current = currentOf(workload, revisions);
      const before = revisions.find((each) => each.number < (current?.number ?? 0));
      const rows = revisions
        .slice(0, MAX_REVISIONS)
        .map((each) => [
          `${each.number}${each === current ? " (now)" : ""}`,
          moment(each.created),
          imagesOf(each.template),
          each.replicas === undefined ? "" : String(each.replicas),
          cell(each.cause, 80),
        ]);
      const changes =
        current === undefined || before === undefined
          ? []
          : changeLines(before.template, current.template);
      const text = [
        statusText(workload),
        rows.length === 0
          ? "No history is kept."
          : tableText(["REVISION", "CREATED", "IMAGES", "REPLICAS", "CAUSE"], rows),
        ...(changes.length === 0
          ? []
          : [
              `Changed from revision ${before?.number} to ${current?.number}:`,
              ...firstLines(changes, 20, "changes"),
            ]),
      ];
      return { text: text.join("\n"), gaps };
    },
  });
}

/** Which revision the workload's own template is. */
export function currentOf(
  { kind, object }: Workload,
  revisions: readonly Revision[],
): Revision | undefined {
  if (kind.kind === "Deployment") {
    const number = revisionOf(object);
    return revisions.find((each) => each.number === number) ?? revisions[0];
  }
  return revisions[0];
}

/** What `kubectl rollout status` counts. */
const REPLICAS = {
  updated: "updatedReplicas",
  up: "availableReplicas",
  word: "available",
  of: "replica",
};
const COUNTED: Readonly<Record<string, typeof REPLICAS>> = {
  StatefulSet: { ...REPLICAS, up: "readyReplicas", word: "ready" },
  DaemonSet: {
    updated: "updatedNumberScheduled",
    up: "numberAvailable",
    word: "available",
    of: "pod",
  },
};

/** As `kubectl rollout status` says it. */
export function statusText(workload: Workload): string {
  const { object, kind } = workload;
  const wanted = wantedPods(workload);
  const { status } = object;
  const { word, of, ...fields } = COUNTED[kind.kind] ?? REPLICAS;
  const updated = numberAt(status, fields.updated);
  const up = numberAt(status, fields.up);
  const old = kind.kind === "Deployment" ? numberAt(status, "replicas") - updated : 0;
  const left = old > 0 ? `, ${counted(old, "old replica")} still to end` : "";
  const counts = `${updated} of ${counted(wanted, of)} updated, ${up} ${word}${left}`;
  const where = `${namespaceOf(object)}/${refText(workload)}`;
  if (objectAt(object, "spec")["paused"] === true) return `${where} is paused: ${counts}.`;
  if (numberAt(status, "observedGeneration") < numberAt(object, "metadata", "generation"))
    return `${where}: its controller has not seen the newest change yet.`;
  const progress = conditionOf(object, "Progressing");
  const failure = conditionOf(object, "ReplicaFailure");
  const isStuck = textAt(progress, "status") === "False";
  const why = [failure, isStuck ? progress : undefined]
    .map((each) => textAt(each, "message"))
    .filter(Boolean)
    .join(" ");
  if (isStuck)
    return `${where} is STUCK since ${moment(textAt(progress, "lastTransitionTime"))}: ${counts}. ${cell(why, 400)}`;
  if (updated >= wanted && up >= wanted && left === "")
    return `${where} is rolled out: ${counted(wanted, of)}, ${up} ${word}.`;
  return `${where} is rolling out: ${counts}. ${cell(why, 400)}`.trim();
}
