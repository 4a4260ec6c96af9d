import * as z from "zod";
import type { ChangeSource, Window } from "../change.ts";
import { aroundFields, changesAround, lookAtEach } from "../changes-around.ts";
import { orRefused } from "../refusal.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { type Forge, repositoryArgument } from "./forge.ts";
import { historyOf } from "./history.ts";

export function createChanges(forge: Forge) {
  return defineTool({
    name: "github_changes",
    summary: "shows what was merged, released and deployed around a time, and which runs failed",
    description:
      "What changed in repositories around a time, the last change before it first: deployments with their status, releases, merged pull requests, commits, failed and deploying workflow runs. Without a repository: all that are configured.",
    input: z.strictObject({ repository: repositoryArgument(forge), ...aroundFields }),
    effect: "read",
    doing: ({ repository }) => `Looking for what changed in ${repository}`,
    endpoints: forge.endpoints,
    timeoutMs: 60_000,
    run: ({ repository, ...times }, ctx) =>
      orRefused(() =>
        changesAround(times, ctx, (window) => lookAt(forge, repository, window, ctx)),
      ),
  });
}

function lookAt(forge: Forge, written: string | undefined, window: Window, ctx: ToolContext) {
  const all = written === undefined ? forge.repositories : [forge.find(written)];
  const words = { kind: "repositories", nameOf: ({ label }: (typeof all)[number]) => label };
  return lookAtEach(all, words, (each) =>
    historyOf(each, window, { rest: forge.rest(each, ctx), ctx }),
  );
}

/** What `what_changed` asks. */
export function changeSource(forge: Forge): ChangeSource {
  return {
    name: "github",
    endpoints: forge.endpoints,
    changes: (window, ctx) => lookAt(forge, undefined, window, ctx),
  };
}
