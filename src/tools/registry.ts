import { BotError } from "../core/errors.ts";
import type { Ledger } from "../incidents/incident.ts";
import type { Skill } from "../skills/skill.ts";
import { diskUsage } from "./host/disk-usage.ts";
import { killProcess } from "./host/kill-process.ts";
import { createReadLog } from "./host/read-log.ts";
import { createRestartService } from "./host/restart-service.ts";
import { createRunCommand } from "./host/run-command.ts";
import { createServiceStatus } from "./host/service-status.ts";
import { createIncidentGet } from "./incidents/incident-get.ts";
import { createIncidentOpen } from "./incidents/incident-open.ts";
import { createIncidentResolve } from "./incidents/incident-resolve.ts";
import { createIncidentSearch } from "./incidents/incident-search.ts";
import { createIncidentStats } from "./incidents/incident-stats.ts";
import { createIncidentUpdate } from "./incidents/incident-update.ts";
import { httpCheck } from "./network/http-check.ts";
import { tcpCheck } from "./network/tcp-check.ts";
import { createActivateSkill } from "./skills/activate-skill.ts";
import { createReadSkillFile } from "./skills/read-skill-file.ts";
import { askUser } from "./thread/ask-user.ts";
import { readArtifact } from "./thread/read-artifact.ts";
import type { Tool } from "./tool.ts";

/** Every tool there is, in the order that lists show them. A new tool is its file and one line here. */
export function createTools({
  logRoots,
  skills = [],
  ledger = noLedger,
}: {
  logRoots: readonly string[];
  /** Without any there are no tools for them. */
  skills?: readonly Skill[];
  /** Asked when a call needs it. Left out where tools are listed and none is run. */
  ledger?: (() => Ledger) | undefined;
}): readonly Tool[] {
  return [
    httpCheck,
    tcpCheck,
    diskUsage,
    createReadLog({ roots: logRoots }),
    createServiceStatus(),
    createRestartService(),
    createRunCommand(),
    killProcess,
    readArtifact,
    askUser,
    createIncidentOpen(ledger),
    createIncidentUpdate(ledger),
    createIncidentResolve(ledger),
    createIncidentSearch(ledger),
    createIncidentGet(ledger),
    createIncidentStats(ledger),
    ...(skills.length > 0 ? [createActivateSkill(skills), createReadSkillFile(skills)] : []),
  ];
}

function noLedger(): never {
  throw new BotError("NOT_AVAILABLE", "There is no record of incidents here.");
}
