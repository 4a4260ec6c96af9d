import * as z from "zod";
import { bySeverity, type Finding, type Gap } from "../../core/finding.ts";
import { formatBytes, oneLine, shortened } from "../../core/text.ts";
import { numberOf, textOf } from "../decode.ts";
import type { Encoder } from "../../security/encoder.ts";
import { instanceArgument } from "../instances.ts";
import { clip } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import { defineTool } from "../tool.ts";
import {
  byTrouble,
  type Container,
  endedBadly,
  lastProbe,
  portsOf,
  sinceText,
  stateText,
} from "./container.ts";
import { type Endpoints, type Engine, openEngine, orElse, partOf } from "./engine.ts";
import { listText, seeContainers } from "./reads.ts";

/** Whose logs are read. */
const MAX_LOGS = 8;
const LOG_LINES = 40;
const MAX_LINE = 300;
const MAX_CAUSE = 400;
/** What ended long ago is over. */
const LONG_AGO_MS = 24 * 3_600_000;
/** A container that started so often, and last so lately, is not well though it runs now. */
const MANY_RESTARTS = 3;
const LATELY_MS = 10 * 60_000;

const LIKE_ERROR =
  /\b(?:error|fatal|panic|exception|failed|cannot|could not|denied|refused|not set|no such|no space)\b/i;

export function createDiagnose(endpoints: Endpoints) {
  return defineTool({
    name: "docker_diagnose",
    summary: "finds what is wrong with containers of Docker or podman, and why",
    description:
      "Finds what is wrong with the containers of a Docker Engine or podman now, with the reason: ended with a code and the last words of the log, out of memory, restarting again and again, unhealthy with its probe's answer, not startable (port taken, program missing, disk full), image gone. Use it first when a service in a container is down.",
    input: z.strictObject({ ...instanceArgument(endpoints) }),
    diagnoses: true,
    effect: "read",
    doing: () => "Looking for what is wrong with the containers",
    endpoints,
    timeoutMs: 45_000,
    run: (input, ctx) =>
      orRefused(async () => {
        const engine = await openEngine(endpoints, input, ctx);
        const { seen, gaps } = await seeContainers(engine);
        const ids = await imageIds(engine, gaps);
        const sick = seen.toSorted(byTrouble).filter(isSick);
        const found = await Promise.all(
          sick.map(async (one, at) => {
            const said = at < MAX_LOGS ? await lastWords(engine, one, gaps) : "";
            return findingOf(one, said, seen, ctx.encoder);
          }),
        );
        const findings = [
          ...found.toSorted(bySeverity),
          ...seen.flatMap((one) => imageGone(one, ids)),
        ];
        return { text: listText(engine, seen), findings, gaps };
      }),
  });
}

function isSick(one: Container): boolean {
  return (
    ["restarting", "dead", "paused"].includes(one.status) ||
    endedBadly(one) ||
    one.health === "unhealthy" ||
    restartsLately(one)
  );
}

function restartsLately({ isRunning, restarts, startedAt }: Container): boolean {
  return isRunning && restarts >= MANY_RESTARTS && Date.now() - Date.parse(startedAt) < LATELY_MS;
}

/** Of all images; undefined: not seen. */
async function imageIds(engine: Engine, gaps: Gap[]): Promise<ReadonlySet<string> | undefined> {
  const failed = (why: string) => void gaps.push({ what: "images", why, help: "Ask again." });
  const images = await orElse(engine.list("images/json", { all: "true" }), undefined, failed);
  return images && new Set(images.map((image) => bare(textOf(image["Id"]))));
}

/** Podman leaves out what Docker writes before it. */
function bare(id: string): string {
  return id.replace(/^sha256:/, "");
}

/** The line of its log that says why, or its last one. */
async function lastWords(engine: Engine, one: Container, gaps: Gap[]): Promise<string> {
  const failed = (why: string) =>
    void gaps.push({
      what: `the log of ${one.name}`,
      why,
      help: "Use a log driver that the engine can read.",
    });
  const log = await orElse(engine.log(one.raw, { tail: LOG_LINES, timestamps: false }), "", failed);
  const lines = log
    .split("\n")
    .map(oneLine)
    .filter((line) => line !== "");
  const telling = lines.findLast((line) => LIKE_ERROR.test(line)) ?? lines.at(-1) ?? "";
  return shortened(telling, MAX_LINE);
}

interface Cause {
  cause: string;
  severity: Finding["severity"];
  evidence: string;
  fix?: string;
}

function findingOf(
  one: Container,
  said: string,
  seen: readonly Container[],
  encoder: Encoder,
): Finding {
  const since = one.isRunning ? one.startedAt : one.finishedAt;
  const { cause, ...found } = causeOf(one, said, seen);
  return {
    object: { kind: "Container", namespace: "", name: one.name },
    cause: clip(cause, MAX_CAUSE, encoder),
    ...found,
    since: since === "" ? null : `${since.slice(0, 19)}Z`,
  };
}

function causeOf(one: Container, said: string, seen: readonly Container[]): Cause {
  const evidence = [stateText(one), one.image, said === "" ? "" : `its log: ${said}`]
    .filter((part) => part !== "")
    .join("; ");
  const isOld = one.status === "exited" && Date.now() - Date.parse(one.finishedAt) > LONG_AGO_MS;
  const severity = isOld ? "info" : "error";
  if (one.error !== "") return notStarted(one, evidence, severity, seen);
  if (one.isOutOfMemory) {
    const limit = numberOf(partOf(one.raw, "HostConfig")["Memory"]);
    const at = limit > 0 ? `its limit of ${formatBytes(limit)}` : "the machine's memory";
    const fix = "Find what needs so much, or raise its memory limit.";
    return { cause: `it was killed out of memory, at ${at}`, severity, evidence, fix };
  }
  if (one.health === "unhealthy" && one.isRunning) return unhealthy(one);
  if (one.status === "paused")
    return { cause: "it is paused", severity: "warning", evidence, fix: "docker unpause" };
  const words = said === "" ? "" : `: ${said}`;
  if (one.status === "restarting") {
    const cause = `it ends again and again with code ${one.exitCode}${words}`;
    return { cause, severity, evidence };
  }
  if (one.isRunning)
    return { cause: `it was restarted ${one.restarts} times`, severity: "warning", evidence };
  if (one.exitCode === 137) {
    // Also how a stop ends that takes too long.
    const cause = "it was killed (SIGKILL), not for its own memory limit";
    return { cause, severity: isOld ? "info" : "warning", evidence };
  }
  return { cause: `it ended with code ${one.exitCode}${words}`, severity, evidence };
}

function notStarted(
  one: Container,
  evidence: string,
  severity: Finding["severity"],
  seen: readonly Container[],
): Cause {
  const cause = one.error;
  if (/no space left on device/i.test(cause))
    return {
      cause,
      severity,
      evidence,
      fix: "Free space on the engine's disk: disk_usage, docker system prune.",
    };
  const [, port = ""] =
    /:(\d{1,5})\D*(?:failed: port is already allocated|.*address already in use)/i.exec(cause) ??
    [];
  const holder = seen.find(
    (other) => other.isRunning && portsOf(other).some((each) => each.includes(`:${port}→`)),
  );
  if (port === "") return { cause, severity, evidence };
  const by = holder === undefined ? "a program outside of containers" : `container ${holder.name}`;
  return { cause, severity, evidence: `Port ${port} is held by ${by}; ${evidence}` };
}

function unhealthy(one: Container): Cause {
  const probe = lastProbe(one);
  const streak = numberOf(partOf(one.raw, "State", "Health")["FailingStreak"]);
  const words = probe === undefined || probe.output === "" ? "" : `: ${probe.output}`;
  const ended = probe === undefined ? "" : `, the last with code ${probe.exitCode}`;
  return {
    cause: `it is unhealthy${words}`,
    severity: "error",
    evidence: `${streak} probes failed in a row${ended}; it runs for ${sinceText(one.startedAt)}`,
  };
}

/** It cannot be made again from what the machine has. */
function imageGone(one: Container, ids: ReadonlySet<string> | undefined): Finding[] {
  if (ids === undefined || ids.has(bare(textOf(one.raw["Image"])))) return [];
  return [
    {
      object: { kind: "Container", namespace: "", name: one.name },
      cause: `its image ${one.image} is gone from the engine`,
      severity: "warning",
      evidence: "It runs on, but cannot be made again without pulling the image.",
      since: null,
    },
  ];
}
