import type { Tool } from "../tool.ts";
import { createChanges } from "./changes.ts";
import { createCancel, createJobLog, createRetry } from "./jobs.ts";
import { createMergeRequest } from "./merge-request.ts";
import { type GitlabSettings, projectsOf } from "./projects.ts";
import { createRevert, createSetState } from "./revert.ts";

/** Every tool of GitLab, for these accounts. */
export function createGitlabTools(
  settings: GitlabSettings,
  variable: (name: string) => string,
): readonly Tool[] {
  const projects = projectsOf(settings, variable);
  return [
    createChanges(projects),
    createMergeRequest(projects),
    createJobLog(projects),
    createRetry(projects),
    createCancel(projects),
    createRevert(projects),
    createSetState(projects),
  ];
}
