import type { Tool } from "../tool.ts";
import { createAccess } from "./access.ts";
import type { Clusters } from "./cluster-tool.ts";
import { createCordon } from "./cordon.ts";
import { createDelete } from "./delete.ts";
import { createDeletePod } from "./delete-pod.ts";
import { createDescribe } from "./describe.ts";
import { createDiagnose } from "./diagnose-tool.ts";
import { createDrain } from "./drain.ts";
import { createEvents } from "./events.ts";
import { createGet } from "./get.ts";
import { createInstance } from "./instance.ts";
import { createLogs } from "./logs.ts";
import { createOverview } from "./overview.ts";
import { createPatch } from "./patch.ts";
import { createRestart } from "./restart.ts";
import { createRollout } from "./rollout.ts";
import { createServiceCheck } from "./service-check.ts";
import { createScale } from "./scale.ts";
import { createSetImage } from "./set-image.ts";
import { createTop } from "./top.ts";
import { createUndoRollout } from "./undo-rollout.ts";
import type { ClusterConfig } from "./kubeconfig.ts";

/** All tools of these clusters. */
export function createClusterTools({
  clusters: configs,
  current,
  users = {},
}: {
  clusters: readonly ClusterConfig[];
  current: string;
  users?: Readonly<Record<string, string>>;
}): readonly Tool[] {
  const clusters: Clusters = {
    instances: configs.map((config) => createInstance(config)),
    current,
    users,
  };
  return [
    createDiagnose(clusters),
    createOverview(clusters),
    createGet(clusters),
    createDescribe(clusters),
    createEvents(clusters),
    createLogs(clusters),
    createTop(clusters),
    createRollout(clusters),
    createServiceCheck(clusters),
    createAccess(clusters),
    createScale(clusters),
    createRestart(clusters),
    createUndoRollout(clusters),
    createSetImage(clusters),
    createDeletePod(clusters),
    createCordon(clusters),
    createPatch(clusters),
    createDrain(clusters),
    createDelete(clusters),
  ];
}
