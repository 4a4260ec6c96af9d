import { characterEnd } from "../../../core/characters.ts";
import type { Finding } from "../../../core/finding.ts";
import { oneLine } from "../../../core/text.ts";
import { nameOf, type Cluster, type WorkloadView } from "./cluster.ts";
import type { Scene } from "./scene.ts";
import type { Pod } from "./objects.ts";

/** A finding before it is ranked. */
export interface Found extends Finding {
  /** How surely it all began here, from 0 to 100. */
  weight: number;
  /** Keys of what this breaks besides its own object. */
  breaks?: readonly string[];
  /** Keys of what would explain this if it were broken itself; also its own where a more telling cause of the same object would. */
  restsOn?: readonly string[];
  /** Where it lies if other workloads suffer from the same: then that is told first, and each of theirs follows from it. */
  shared?: Finding["object"];
  /** Says nothing that its cause does not: left out beside it. */
  isGeneral?: true;
}

/** One family of causes. */
export interface Analyzer {
  name: string;
  look(scene: Scene): Found[];
}

/** What one pod suffers from; those of one workload with the same `id` are one finding. */
export interface Problem extends Omit<Found, "object" | "severity" | "fix"> {
  id: string;
  severity?: Finding["severity"];
  fix?: string | undefined;
}

/** Asks of every pod that should be running, and rolls the answers up to workloads. */
export function perWorkload(
  cluster: Cluster,
  look: (pod: Pod, workload: WorkloadView) => readonly Problem[],
  podsOf: (workload: WorkloadView) => readonly Pod[] = ({ pods }) => pods,
): Found[] {
  return cluster.workloads.flatMap((workload) => {
    const groups = new Map<string, { problem: Problem; pods: Pod[] }>();
    const pods = podsOf(workload);
    for (const pod of pods)
      for (const problem of look(pod, workload)) {
        const group = groups.get(problem.id);
        if (group === undefined) groups.set(problem.id, { problem, pods: [pod] });
        else {
          group.pods.push(pod);
          if ((problem.since ?? "~") < (group.problem.since ?? "~"))
            group.problem = { ...group.problem, since: problem.since };
        }
      }
    return [...groups.values()].map((group) =>
      found(cluster, workload, {
        ...group.problem,
        evidence: `${affected(workload, group.pods, pods.length)}. ${group.problem.evidence}`,
      }),
    );
  });
}

/** A problem as a finding of its workload. */
export function found(
  cluster: Cluster,
  { kind, name }: { kind: string; name: string },
  problem: Omit<Problem, "id">,
): Found {
  const {
    cause,
    evidence,
    fix,
    severity = "error",
    since,
    weight,
    breaks,
    restsOn,
    shared,
    isGeneral,
  } = problem;
  return {
    object: cluster.object(kind, name),
    cause: cut(cause, 300),
    severity,
    evidence: cut(evidence, 360),
    ...(fix !== undefined && { fix: cut(fix, 200) }),
    since,
    weight,
    ...(breaks !== undefined && { breaks }),
    ...(restsOn !== undefined && { restsOn }),
    ...(shared !== undefined && { shared }),
    ...(isGeneral !== undefined && { isGeneral }),
  };
}

/** `2 of 3 pods (web-abc and 1 more)` */
export function affected({ kind }: { kind: string }, pods: readonly Pod[], total: number): string {
  const [first] = pods;
  if (kind === "Pod" || first === undefined) return "The pod itself";
  const rest = pods.length > 1 ? ` and ${pods.length - 1} more` : "";
  return `${pods.length} of ${total} pods (${nameOf(first)}${rest})`;
}

/** On one line, its end cut. */
export function cut(text: string, maxLength: number): string {
  const line = oneLine(text.length > 4 * maxLength ? text.slice(0, 4 * maxLength) : text);
  return line.length > maxLength ? `${line.slice(0, characterEnd(line, maxLength - 1))}…` : line;
}
