import { addressesOf, type Address } from "./addresses.ts";
import {
  createCluster,
  isReady,
  nameOf,
  timeOf,
  type Cluster,
  type WorkloadView,
} from "./cluster.ts";
import type { ContainerStatus, Pod } from "./objects.ts";
import type { Service } from "./resources.ts";
import type { Snapshot } from "./snapshot.ts";

/** What analyzers look at: the snapshot, joined, with the log lines that tell most. */
export interface Scene extends Cluster {
  /** The last lines of a container of one pod, the sickest: of the run that failed where it was restarted. None: not read. */
  log(workload: { key: string }, container: string): readonly string[];
  addresses(workload: WorkloadView): readonly Address[];
  /** Workloads whose settings name the service. */
  dependents(service: Service): readonly WorkloadView[];
}

export async function createScene(snapshot: Snapshot, now: number): Promise<Scene> {
  const cluster = createCluster(snapshot, takenAt(snapshot, now));
  const logs = await readLogs(cluster);
  const addresses = new Map(
    cluster.workloads.map((workload) => [workload.key, addressesOf(cluster, workload)]),
  );
  const dependents = new Map<Service, Set<WorkloadView>>();
  for (const workload of cluster.workloads)
    for (const { service } of addresses.get(workload.key) ?? [])
      if (service !== undefined)
        dependents.set(service, (dependents.get(service) ?? new Set()).add(workload));
  return {
    ...cluster,
    log: ({ key }, container) => logs.get(`${key} ${container}`) ?? [],
    addresses: ({ key }) => addresses.get(key) ?? [],
    dependents: (service) => [...(dependents.get(service) ?? [])],
  };
}

const HOUR_MS = 3_600_000;

/**
 * When the snapshot was taken: what is "recent" in it counts from then. Kubelets report every five minutes and events are kept
 * for an hour, so where the newest of them is older, this is the past that somebody recorded, or a cluster that stands still.
 */
function takenAt({ lists }: Snapshot, now: number): number {
  const beats = (lists.nodes ?? []).flatMap(({ status }) =>
    (status?.conditions ?? []).map(({ lastHeartbeatTime }) => timeOf(lastHeartbeatTime)),
  );
  const events = [...(lists.events ?? []), ...(lists.systemEvents ?? [])].map((event) =>
    timeOf(event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime),
  );
  let newest = -Infinity;
  for (const time of [...beats, ...events]) if (time > newest) newest = time;
  return newest > 0 && newest < now - HOUR_MS ? newest + LAG_MS : now;
}

/** What was recorded last had happened a while before. */
const LAG_MS = 60_000;

/** Each is a request to the API server, so one pod speaks for its workload. */
const MAX_LOGS = 60;
const PARALLEL = 8;

interface Wanted {
  workload: string;
  pod: string;
  container: string;
  previous: boolean;
  isSick: boolean;
}

async function readLogs(cluster: Cluster): Promise<Map<string, readonly string[]>> {
  const wanted = cluster.workloads
    .flatMap(wantedOf)
    .toSorted((a, b) => Number(b.isSick) - Number(a.isSick))
    .slice(0, MAX_LOGS);
  const lines = new Map<string, readonly string[]>();
  const read = async (pod: string, container: string, previous: boolean) =>
    cluster.snapshot.logs(pod, container, previous).catch(() => undefined);
  const work = async () => {
    for (let one = wanted.shift(); one !== undefined; one = wanted.shift()) {
      const { workload, pod, container, previous } = one;
      const found = await read(pod, container, previous);
      const other = found?.length
        ? found
        : previous
          ? await read(pod, container, false)
          : undefined;
      if (other !== undefined)
        lines.set(
          `${workload} ${container}`,
          other.filter((line) => !isFrame(line)),
        );
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return lines;
}

/** Of a stack trace, whose head and causes say more: dozens of them would push those out of the lines that are read. */
function isFrame(line: string): boolean {
  return /^\s+(?:at .*\(|\.\.\. \d+ (?:more|common frames)|File ".*", line \d+|\S+\.go:\d+)/.test(
    line,
  );
}

/** Of the sickest pod of a workload, what runs or ran. */
function wantedOf({ key, everyPod: pods }: WorkloadView): Wanted[] {
  const sick = pods.find(
    (pod) => !isReady(pod) && statusesOf(pod).some(hasRun) && pod.status?.phase !== "Succeeded",
  );
  const restarted = pods.find((pod) =>
    statusesOf(pod).some(({ restartCount = 0 }) => restartCount > 0),
  );
  const pod = sick ?? restarted ?? pods.find(isReady);
  if (pod === undefined) return [];
  return statusesOf(pod)
    .filter((status) => hasRun(status) && !(status.state?.terminated?.exitCode === 0))
    .slice(0, 4)
    .map((status) => ({
      workload: key,
      pod: nameOf(pod),
      container: status.name ?? "",
      previous: status.lastState?.terminated !== undefined && status.lastState.terminated !== null,
      isSick: status.ready !== true || (status.restartCount ?? 0) > 0,
    }));
}

export function statusesOf(pod: Pod): readonly ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

export function hasRun({ state, lastState, restartCount = 0 }: ContainerStatus): boolean {
  return (
    (state?.running ?? state?.terminated ?? lastState?.terminated ?? undefined) !== undefined ||
    restartCount > 0
  );
}
