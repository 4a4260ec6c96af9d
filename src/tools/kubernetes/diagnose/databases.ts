import type { Finding } from "../../../core/finding.ts";
import type { WorkloadView } from "./cluster.ts";
import type { LogReason } from "./log-reasons.ts";
import type { Scene } from "./scene.ts";

/** What a server tells all its clients alike, by how its own workload is called. */
const REFUSALS: readonly [said: RegExp, server: RegExp][] = [
  [/too many connections|--(?:super-)?read-only option/i, /mysql|mariadb|percona/i],
  [
    /too many clients|remaining connection slots|read-only transaction|pooler error/i,
    /postgres|pgbouncer|timescale|\bpg\b/i,
  ],
  [/READONLY You can't write|max number of clients reached/i, /redis|valkey|keydb/i],
];

/** The server of the namespace that refuses what the log line tells of; undefined: none, or it could be several. */
export function refusingServer(
  scene: Scene,
  workload: WorkloadView,
  { line }: LogReason,
): Finding["object"] | undefined {
  const server = REFUSALS.find(([said]) => said.test(line))?.[1];
  if (server === undefined) return undefined;
  const isServer = (one: WorkloadView) =>
    one.key !== workload.key &&
    [one.name, ...(one.spec.containers ?? []).map(({ image = "" }) => image)].some((text) =>
      server.test(text),
    );
  const named = scene
    .addresses(workload)
    .flatMap(({ service }) => (service === undefined ? [] : scene.selectedBy(service)))
    .filter(isServer);
  const all = new Set(named.length > 0 ? named : scene.workloads.filter(isServer));
  // One that is called after another workload, as `shopdb` after `shop`, is that one's own.
  const isOthers = ({ key, name }: WorkloadView) =>
    scene.workloads.some(
      (one) => one.key !== key && one.key !== workload.key && name.startsWith(one.name),
    );
  const [only, ...others] = all.size > 1 ? [...all].filter((one) => !isOthers(one)) : all;
  return only === undefined || others.length > 0 ? undefined : scene.object(only.kind, only.name);
}
