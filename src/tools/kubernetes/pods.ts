import type { JsonObject } from "../../core/entry.ts";
import { conditionOf, listAt, numberAt, objectAt, textAt } from "./objects.ts";

/** What is wrong with a pod, as its status says it. */

export interface ContainerTrouble {
  container: string;
  /** `CrashLoopBackOff`, `OOMKilled`, `not ready`. */
  reason: string;
  /** The system's own message, exit code and the like. */
  detail: string;
  /** ISO 8601, or empty. */
  since: string;
  restarts: number;
}

export interface PodState {
  ready: number;
  containers: number;
  restarts: number;
  /** As `kubectl get pods` has it in STATUS. */
  status: string;
  /** Each container that keeps it from being ready, or the pod itself as `""`. */
  troubles: ContainerTrouble[];
  isHealthy: boolean;
}

export function containerStatuses(pod: JsonObject): JsonObject[] {
  return [
    ...listAt(pod, "status", "initContainerStatuses"),
    ...listAt(pod, "status", "containerStatuses"),
  ];
}

export function podState(pod: JsonObject): PodState {
  const phase = textAt(pod, "status", "phase") || "Unknown";
  const main = listAt(pod, "status", "containerStatuses");
  const all = containerStatuses(pod);
  const restarts = all.reduce((sum, status) => sum + numberAt(status, "restartCount"), 0);
  const isOver = phase === "Succeeded";
  const isDeleted = textAt(pod, "metadata", "deletionTimestamp") !== "";
  const troubles = isOver ? [] : all.flatMap((status) => troubleOf(status, pod));
  if (troubles.length === 0 && !isOver) troubles.push(...podTrouble(pod, phase));
  const ready = main.filter((status) => status["ready"] === true).length;
  const containers = listAt(pod, "spec", "containers").length;
  const status = isDeleted
    ? "Terminating"
    : ((textAt(pod, "status", "reason") || troubles[0]?.reason) ?? phase);
  return { ready, containers, restarts, status, troubles, isHealthy: troubles.length === 0 };
}

function troubleOf(status: JsonObject, pod: JsonObject): ContainerTrouble[] {
  const container = textAt(status, "name");
  const restarts = numberAt(status, "restartCount");
  const waiting = objectAt(status, "state", "waiting");
  const ended = objectAt(status, "state", "terminated");
  const last = objectAt(status, "lastState", "terminated");
  const reason = textAt(waiting, "reason");
  if (reason !== "" && reason !== "PodInitializing" && reason !== "ContainerCreating") {
    const detail = [endText(last), textAt(waiting, "message")].filter(Boolean).join("; ");
    return [{ container, reason, detail, since: textAt(last, "finishedAt"), restarts }];
  }
  if (reason === "ContainerCreating") return [];
  if (textAt(ended, "reason") !== "" && numberAt(ended, "exitCode") !== 0) {
    return [
      {
        container,
        reason: textAt(ended, "reason"),
        detail: endText(ended),
        since: textAt(ended, "finishedAt"),
        restarts,
      },
    ];
  }
  const isMain = listAt(pod, "spec", "containers").some((each) => each["name"] === container);
  const isRunning = textAt(status, "state", "running", "startedAt") !== "";
  if (!isMain || !isRunning || status["ready"] === true) return [];
  const since = textAt(conditionOf(pod, "Ready"), "lastTransitionTime");
  const before = endText(last);
  const detail = before === "" ? "its readiness probe does not pass" : `last end: ${before}`;
  return [{ container, reason: "not ready", detail, since, restarts }];
}

/** `OOMKilled, exit 137`, with the container's own last message. */
export function endText(ended: JsonObject): string {
  const reason = textAt(ended, "reason");
  if (reason === "" && ended["exitCode"] === undefined) return "";
  const signal = numberAt(ended, "signal");
  const how = signal > 0 ? `signal ${signal}` : `exit ${numberAt(ended, "exitCode")}`;
  return [reason === "" ? how : `${reason}, ${how}`, textAt(ended, "message")]
    .filter(Boolean)
    .join(": ");
}

/** What keeps the pod as a whole. */
function podTrouble(pod: JsonObject, phase: string): ContainerTrouble[] {
  const own = textAt(pod, "status", "reason");
  const since = textAt(pod, "status", "startTime") || textAt(pod, "metadata", "creationTimestamp");
  const trouble = { container: "", since, restarts: 0 };
  if (phase === "Failed" || own !== "") {
    return [{ ...trouble, reason: own || phase, detail: textAt(pod, "status", "message") }];
  }
  const scheduled = conditionOf(pod, "PodScheduled");
  if (textAt(scheduled, "status") === "False") {
    const at = textAt(scheduled, "lastTransitionTime");
    return [
      {
        ...trouble,
        since: at,
        reason: textAt(scheduled, "reason"),
        detail: textAt(scheduled, "message"),
      },
    ];
  }
  if (phase === "Pending") {
    const where = textAt(pod, "spec", "nodeName");
    const detail =
      where === ""
        ? "no scheduler has bound it to a node yet"
        : `on ${where}, its containers are not started`;
    return [{ ...trouble, reason: "Pending", detail }];
  }
  const ready = conditionOf(pod, "Ready");
  if (textAt(ready, "status") === "False" && phase === "Running") {
    const detail = textAt(ready, "message") || textAt(ready, "reason");
    return [
      { ...trouble, since: textAt(ready, "lastTransitionTime"), reason: "not ready", detail },
    ];
  }
  return phase === "Unknown"
    ? [{ ...trouble, reason: "Unknown", detail: "its node does not report" }]
    : [];
}
