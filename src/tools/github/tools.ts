import type { Tool } from "../tool.ts";
import { createChange } from "./change.ts";
import { createChanges } from "./changes.ts";
import { forgeOf, type GithubSettings } from "./forge.ts";
import { createIssue, createRevert, createSetState } from "./issues.ts";
import { createJobLog } from "./job-log.ts";
import { createCancelRun, createRerun } from "./runs.ts";

/** Every tool of GitHub, for these accounts. */
export function createGithubTools(
  settings: GithubSettings,
  variable: (name: string) => string,
): readonly Tool[] {
  const forge = forgeOf(settings, variable);
  return [
    createChanges(forge),
    createChange(forge),
    createJobLog(forge),
    createRerun(forge),
    createCancelRun(forge),
    createRevert(forge),
    createIssue(forge),
    createSetState(forge),
  ];
}
