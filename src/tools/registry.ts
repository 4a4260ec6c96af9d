import type { Skill } from "../skills/skill.ts";
import { diskUsage } from "./host/disk-usage.ts";
import { killProcess } from "./host/kill-process.ts";
import { createReadLog } from "./host/read-log.ts";
import { createRestartService } from "./host/restart-service.ts";
import { createRunCommand } from "./host/run-command.ts";
import { createServiceStatus } from "./host/service-status.ts";
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
}: {
  logRoots: readonly string[];
  /** Without any there are no tools for them. */
  skills?: readonly Skill[];
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
    ...(skills.length > 0 ? [createActivateSkill(skills), createReadSkillFile(skills)] : []),
  ];
}
