import { diagnose, type Diagnosis } from "../../../../src/tools/kubernetes/diagnose/diagnose.ts";
import { NOW, type Workload } from "./incident-workload.ts";
import { snapshotOf, type Incident } from "./incident.ts";

export const CRASHING: Omit<Workload, "name"> = {
  state: "waiting",
  restarts: 6,
  waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s" },
  last: { reason: "Error", exitCode: 1, finishedAt: "2026-03-12T09:58:00Z" },
};

export function service(
  name: string,
  ports: { port: number; targetPort?: number }[] = [{ port: 80 }],
) {
  return { kind: "Service", metadata: { name }, spec: { selector: { app: name }, ports } };
}

export async function look(incident: Partial<Incident>, workload?: string): Promise<Diagnosis> {
  return diagnose(snapshotOf({ incident: "", ...incident }), { workload, now: NOW });
}
