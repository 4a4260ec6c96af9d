import * as z from "zod";
import { idOf, type Item, numberOf, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import type { Tool } from "../tool.ts";
import { type Forge, type Repository, serviceOf, shaOf } from "./forge.ts";
import { agoText, quoted } from "../answer-words.ts";
import { runField, runIn, runText } from "./job-log.ts";
import { refused } from "../refusal.ts";
import { type Before, defineWrite, gone, type WriteContext } from "../pinned-write.ts";

const before = (run: Item): Before => ({
  sha: textOf(run["head_sha"]),
  attempt: numberOf(run["run_attempt"]) || 1,
});

function lines({ item, ctx, now }: WriteContext<Repository>) {
  const { encoder } = ctx;
  return [
    {
      label: "Run",
      value: `${idOf(item["id"])}, ${wordOf(item["conclusion"]) || wordOf(item["status"])}`,
    },
    { label: "Workflow", value: clip(textOf(item["name"]), 100, encoder) },
    {
      label: "Commit",
      value: `${shaOf(item["head_sha"])} on ${clip(textOf(item["head_branch"]), 100, encoder)}, ${quoted(item["display_title"], encoder)}`,
    },
    {
      label: "Last",
      value: `attempt ${idOf(item["run_attempt"])}, ${agoText(item["updated_at"], now)}`,
    },
  ];
}

export function createRerun(forge: Forge): Tool {
  return defineWrite(serviceOf(forge), {
    name: "github_rerun",
    summary: "runs a workflow run again, or only its failed jobs",
    description:
      "Runs a completed workflow run again on the same commit: only the jobs that failed, or all of them.",
    shape: {
      run: runField,
      jobs: z.enum(["failed", "all"]).default("failed"),
    },
    title: ({ run, jobs }) =>
      `Run ${jobs === "failed" ? "the failed jobs" : "all jobs"} of run ${run} again`,
    resource: ({ run }, { label }) => `${label} run ${run}`,
    find: ({ run }, at, rest) => runIn(rest, at, run),
    before,
    check({ jobs }, { item }) {
      if (item["status"] !== "completed") throw refused(`The run is ${wordOf(item["status"])}.`);
      if (jobs === "failed" && item["conclusion"] === "success")
        throw refused("No job of the run failed.");
    },
    preview: ({ jobs }, step) => ({
      lines: [
        ...lines(step),
        { label: "Jobs", value: jobs === "failed" ? "those that failed" : "all" },
      ],
      blastRadius:
        "The jobs do again whatever they do, with the secrets that they have: a deploying workflow deploys this commit.",
      undo: "Can be undone while it runs: the new attempt is cancelled. What its jobs did by then stays.",
    }),
    async run({ run, jobs, repository }, { at, rest, item, ctx }) {
      const what = jobs === "failed" ? "rerun-failed-jobs" : "rerun";
      await rest.write("POST", `${at.path}/actions/runs/${run}/${what}`);
      const attempt = (numberOf(item["run_attempt"]) || 1) + 1;
      return {
        text: `Started attempt ${attempt} of ${runText(item, ctx)}`,
        undo: cancelling(repository ?? at.label, run, { ...before(item), attempt }),
      };
    },
    async verify({ run, repository, before: was }, { item, at }) {
      if (item === undefined) return gone;
      const attempt = numberOf(item["run_attempt"]) || 1;
      const evidence = `run ${run} is at attempt ${attempt}, ${wordOf(item["status"])}.`;
      if (attempt <= Number(was?.["attempt"])) return { verdict: "not done", evidence };
      const undo = cancelling(repository ?? at.label, run, before(item));
      return { verdict: "done", evidence, undo };
    },
  });
}

const cancelling = (repository: string, run: number, was: Before) => ({
  tool: "github_cancel_run",
  args: { repository, run, before: was },
});

export function createCancelRun(forge: Forge): Tool {
  return defineWrite(serviceOf(forge), {
    name: "github_cancel_run",
    summary: "cancels a workflow run that is going on",
    description: "Cancels a workflow run that is queued or in progress.",
    shape: { run: runField },
    title: ({ run }) => `Cancel run ${run}`,
    resource: ({ run }, { label }) => `${label} run ${run}`,
    find: ({ run }, at, rest) => runIn(rest, at, run),
    before,
    check(_, { item }) {
      if (item["status"] === "completed")
        throw refused(`The run has ended: ${wordOf(item["conclusion"])}.`);
    },
    preview: (_, step) => ({
      lines: lines(step),
      blastRadius: "Its jobs end where they are: a deployment may stay half done.",
      undo: "Can't be undone exactly: github_rerun starts the run again from its beginning.",
    }),
    async run({ run }, { at, rest }) {
      await rest.write("POST", `${at.path}/actions/runs/${run}/cancel`);
      return { text: `GitHub is cancelling run ${run}.` };
    },
    async verify({ run }, { item }) {
      if (item === undefined) return gone;
      const state = wordOf(item["conclusion"]) || wordOf(item["status"]);
      const evidence = `run ${run} is ${state}.`;
      if (item["conclusion"] === "cancelled") return { verdict: "done", evidence };
      // Its jobs get time to end.
      return { verdict: item["status"] === "completed" ? "not done" : "unknown", evidence };
    },
  });
}
