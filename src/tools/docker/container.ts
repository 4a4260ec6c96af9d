import { formatElapsed } from "../../core/instant.ts";
import { oneLine } from "../../core/text.ts";
import { type Item, numberOf, recordsOf, textOf } from "../decode.ts";
import { nameOf, partOf } from "./engine.ts";

/** A container, as an inspection of it says. */
export interface Container {
  raw: Item;
  id: string;
  name: string;
  image: string;
  /** `running`, `exited`, `restarting`, `paused`, `created`, `dead` */
  status: string;
  isRunning: boolean;
  exitCode: number;
  /** Why it could not be started, in the engine's words. */
  error: string;
  isOutOfMemory: boolean;
  restarts: number;
  /** `unhealthy`, or empty where nothing probes it. */
  health: string;
  /** As the engine wrote it; empty: never. */
  startedAt: string;
  finishedAt: string;
}

export function containerOf(raw: Item): Container {
  const state = partOf(raw, "State");
  return {
    raw,
    id: textOf(raw["Id"]),
    name: nameOf(raw),
    image: oneLine(textOf(partOf(raw, "Config")["Image"]) || textOf(raw["ImageName"])),
    status: textOf(state["Status"]),
    isRunning: state["Running"] === true,
    exitCode: numberOf(state["ExitCode"]),
    error: oneLine(textOf(state["Error"])),
    isOutOfMemory: state["OOMKilled"] === true,
    restarts: numberOf(raw["RestartCount"]),
    health: textOf(partOf(state, "Health")["Status"]).replace("none", ""),
    startedAt: timeOf(state["StartedAt"]),
    finishedAt: timeOf(state["FinishedAt"]),
  };
}

/** The engine writes the year 1 where something never happened. */
function timeOf(value: unknown): string {
  const text = textOf(value);
  return text.startsWith("0001-") ? "" : text;
}

/** `4 min`; empty where the time is not known. */
export function sinceText(time: string): string {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? "" : formatElapsed(Math.max(0, Date.now() - ms));
}

/** `running for 2 h, unhealthy`, `exited (3) 4 min ago` */
export function stateText({ status, health, ...one }: Container): string {
  const ran = sinceText(one.startedAt);
  const ended = sinceText(one.finishedAt);
  const words =
    status === "exited" || status === "restarting"
      ? `${status} (${one.exitCode})${ended === "" ? "" : ` ${ended} ago`}`
      : one.isRunning
        ? `${status} for ${ran || "an unknown time"}`
        : status;
  const restarts = one.restarts > 0 ? `, ${one.restarts} restarts` : "";
  return `${words}${health === "" || !one.isRunning ? "" : `, ${health}`}${restarts}`;
}

/** `0.0.0.0:8080→80/tcp`, of what it is set to publish. */
export function portsOf({ raw }: Container): string[] {
  return Object.entries(partOf(raw, "HostConfig", "PortBindings")).flatMap(([inner, bindings]) =>
    recordsOf(bindings).map((each) => {
      const address = textOf(each["HostIp"]) || "0.0.0.0";
      return oneLine(`${address}:${textOf(each["HostPort"]) || "any"}→${inner}`);
    }),
  );
}

export function networksOf({ raw }: Container): string[] {
  return Object.keys(partOf(raw, "NetworkSettings", "Networks"));
}

/** The project and service of `docker compose`. */
export function composeOf({ raw }: Container): { project: string; service: string } {
  const labels = partOf(raw, "Config", "Labels");
  return {
    project: oneLine(textOf(labels["com.docker.compose.project"])),
    service: oneLine(textOf(labels["com.docker.compose.service"])),
  };
}

/** The probe's newest output, and how it ended. */
export function lastProbe({ raw }: Container): { output: string; exitCode: number } | undefined {
  const last = recordsOf(partOf(raw, "State", "Health")["Log"]).at(-1);
  if (last === undefined) return undefined;
  return { output: oneLine(textOf(last["Output"])), exitCode: numberOf(last["ExitCode"]) };
}

/** In trouble first, then the newest. */
export function byTrouble(a: Container, b: Container): number {
  return troubleOf(b) - troubleOf(a) || b.startedAt.localeCompare(a.startedAt);
}

/** A program that ends by SIGTERM did as it was told. */
const ENDED_AS_TOLD: ReadonlySet<number> = new Set([0, 143]);

export function endedBadly({ status, exitCode, error }: Container): boolean {
  if (status === "created") return error !== "";
  return status === "exited" && (error !== "" || !ENDED_AS_TOLD.has(exitCode));
}

function troubleOf(one: Container): number {
  if (["restarting", "dead"].includes(one.status)) return 5;
  if (endedBadly(one)) return 4;
  if (one.health === "unhealthy") return 3;
  return one.status === "paused" ? 2 : one.isRunning ? 1 : 0;
}
