import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import { agoText, time } from "../answer-words.ts";
import { idOf, isRecord, type Item, numberOf, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { tailOf } from "../log-tail.ts";
import { CLOCK_MS, defineWrite, gone } from "../pinned-write.ts";
import { orRefused, refused } from "../refusal.ts";
import { readOr, type Rest } from "../rest.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { type Project, type Projects, serviceOf, shaOf, userOf } from "./projects.ts";

const MAX_TRACE = 16 * 1024 * 1024;
const MAX_JOBS = 2;

/** The jobs of a pipeline as they are now: of those that were retried the newest. */
async function jobsIn(rest: Rest, { path }: Project, pipeline: number): Promise<Item[]> {
  const { items } = await rest.pages(
    `${path}/pipelines/${pipeline}/jobs`,
    { per_page: 100 },
    { max: 300 },
  );
  return items;
}

export function createJobLog(projects: Projects) {
  return defineTool({
    name: "gitlab_job_log",
    summary: "shows why a pipeline failed: its failed jobs and the end of their log",
    description:
      "Why a pipeline failed: its failed jobs, the errors in their log and the lines before the last one. Without pipeline: the newest that failed.",
    input: z.strictObject({ project: projects.argument, pipeline: z.int().min(1).optional() }),
    effect: "read",
    doing: ({ project }) => `Reading why a pipeline of ${project} failed`,
    endpoints: projects.endpoints,
    timeoutMs: 60_000,
    run: (input, ctx) =>
      orRefused(async () => {
        const project = projects.find(input.project);
        const rest = projects.rest(project, ctx);
        const pipeline = input.pipeline ?? (await newestFailed(rest, project));
        const jobs = await jobsIn(rest, project, pipeline);
        const failed = jobs.filter(
          ({ status, allow_failure: mayFail }) => status === "failed" && mayFail !== true,
        );
        const told = await Promise.all(
          failed.slice(0, MAX_JOBS).map((job) => jobText(rest, project, job, ctx)),
        );
        const head = `Pipeline ${pipeline} of ${project.name}: ${failed.length} of ${counted(jobs.length, "job")} failed.`;
        const more =
          failed.length > MAX_JOBS
            ? [
                `Also failed: ${failed
                  .slice(MAX_JOBS, 12)
                  .map(({ name }) => clip(textOf(name), 60, ctx.encoder))
                  .join(", ")}`,
              ]
            : [];
        return {
          text: [head, ...told.flatMap(({ lines }) => lines), ...more].join("\n"),
          findings: told.map(({ finding }) => finding),
          gaps: told.flatMap(({ gap }) => gap ?? []),
        };
      }),
  });
}

async function newestFailed(rest: Rest, { path }: Project): Promise<number> {
  const { items } = await rest.pages(
    `${path}/pipelines`,
    { status: "failed", per_page: 1 },
    { max: 1 },
  );
  const id = Number(idOf(items[0]?.["id"]));
  if (id > 0) return id;
  throw new BotError("INPUT_INVALID", "No pipeline has failed.");
}

async function jobText(rest: Rest, { name: project, path }: Project, job: Item, ctx: ToolContext) {
  const name = clip(textOf(job["name"]), 80, ctx.encoder);
  const read = await readOr(ctx, `the log of job ${name}`, () =>
    rest.text(`${path}/jobs/${idOf(job["id"])}/trace`, MAX_TRACE),
  );
  const tail =
    "value" in read && read.value.isWhole ? await tailOf(read.value.text, ctx.encoder) : undefined;
  const reason = clip(textOf(job["failure_reason"]), 60, ctx.encoder) || "failed";
  const head = `Job ${idOf(job["id"])} ${name} (stage ${clip(textOf(job["stage"]), 60, ctx.encoder)}): ${reason}.`;
  const long = {
    what: `the log of job ${name}`,
    why: "it is longer than 16 MiB",
    help: "Open it on GitLab.",
  };
  return {
    lines: [head, ...(tail?.lines ?? []).map((line) => `  ${line}`)],
    finding: {
      object: { kind: "Job", namespace: project, name },
      cause: tail?.errors.at(-1) ?? reason,
      severity: "warning" as const,
      evidence: `${head}${(tail?.errors.length ?? 0) > 1 ? ` Errors: ${tail?.errors.join("; ")}` : ""}`,
      since: textOf(job["finished_at"]) || null,
    },
    gap: "gap" in read ? read.gap : read.value.isWhole ? undefined : long,
  };
}

const jobField = z.int().min(1).describe("The job's id, from gitlab_job_log");

async function jobIn(rest: Rest, { path }: Project, job: number): Promise<Item> {
  const found = await rest.find(`${path}/jobs/${job}`);
  if (found === undefined)
    throw new BotError("INPUT_INVALID", `There is no job ${job}, or the token may not see it.`);
  return found;
}

/** The job that took its place in its pipeline, where it was retried. */
async function successorOf(rest: Rest, project: Project, job: Item): Promise<Item | undefined> {
  const pipeline = isRecord(job["pipeline"]) ? Number(idOf(job["pipeline"]["id"])) : 0;
  const jobs = await jobsIn(rest, project, pipeline);
  return jobs.find(
    (each) => each["name"] === job["name"] && numberOf(each["id"]) > numberOf(job["id"]),
  );
}

function cardLines(job: Item, ctx: ToolContext, now: number) {
  const { encoder } = ctx;
  const commit = isRecord(job["commit"]) ? shaOf(job["commit"]["id"]) : "?";
  return [
    {
      label: "Job",
      value: `${idOf(job["id"])} ${clip(textOf(job["name"]), 80, encoder)}, ${wordOf(job["status"])}`,
    },
    {
      label: "Commit",
      value: `${commit} on ${clip(textOf(job["ref"]), 80, encoder)} by ${userOf(job["user"]) ?? "somebody"}`,
    },
    { label: "Ended", value: agoText(job["finished_at"], now) },
  ];
}

const cancelling = (project: string, job: number) => ({
  tool: "gitlab_cancel_job",
  args: { project, job },
});

export function createRetry(projects: Projects): Tool {
  return defineWrite(serviceOf(projects), {
    name: "gitlab_retry_job",
    summary: "runs a job of a pipeline again",
    description: "Runs a job that has ended again, on the same commit.",
    shape: { job: jobField },
    title: ({ job }) => `Run job ${job} again`,
    resource: ({ job }, { name }) => `${name} job ${job}`,
    find: ({ job }, at, rest) => jobIn(rest, at, job),
    before: ({ status, id }) => ({ id: Number(idOf(id)), status: textOf(status) }),
    async check(_, { item, at, rest }) {
      if (!["failed", "success", "canceled"].includes(textOf(item["status"])))
        throw refused(`The job is ${wordOf(item["status"])}.`);
      const next = await successorOf(rest, at, item);
      if (next !== undefined)
        throw refused(`It was run again already, as job ${idOf(next["id"])}.`);
    },
    preview: (_, { item, ctx, now }) => ({
      lines: cardLines(item, ctx, now),
      blastRadius:
        "The job does again whatever it does, with the secrets that it has: one that deploys deploys this commit.",
      undo: "Can be undone while it runs: the new job is cancelled. What it did by then stays.",
    }),
    async run({ job }, { at, rest }) {
      const made = await rest.write("POST", `${at.path}/jobs/${job}/retry`);
      const id = isRecord(made) ? Number(idOf(made["id"])) : 0;
      if (id === 0) throw new BotError("ABORTED", "GitLab did not say which job it started.");
      return { text: `Started job ${id} in the place of ${job}.`, undo: cancelling(at.name, id) };
    },
    async verify(_, { item, at, rest, startedAt }) {
      if (item === undefined) return gone;
      const next = await successorOf(rest, at, item);
      if (next === undefined || time(next["created_at"]) < startedAt - CLOCK_MS)
        return { verdict: "not done", evidence: "its pipeline has no newer job of that name." };
      const id = Number(idOf(next["id"]));
      return {
        verdict: "done",
        evidence: `job ${id} is ${wordOf(next["status"])}.`,
        undo: cancelling(at.name, id),
      };
    },
  });
}

export function createCancel(projects: Projects): Tool {
  return defineWrite(serviceOf(projects), {
    name: "gitlab_cancel_job",
    summary: "cancels a job that is going on",
    description: "Cancels a job of a pipeline that is waiting or running.",
    shape: { job: jobField },
    title: ({ job }) => `Cancel job ${job}`,
    resource: ({ job }, { name }) => `${name} job ${job}`,
    find: ({ job }, at, rest) => jobIn(rest, at, job),
    before: ({ id }) => ({ id: Number(idOf(id)) }),
    check(_, { item }) {
      if (["failed", "success", "canceled", "skipped"].includes(textOf(item["status"])))
        throw refused(`The job has ended: ${wordOf(item["status"])}.`);
    },
    preview: (_, { item, ctx, now }) => ({
      lines: cardLines(item, ctx, now),
      blastRadius: "It ends where it is: a deployment may stay half done.",
      undo: "Can't be undone exactly: gitlab_retry_job runs it again from its beginning.",
    }),
    async run({ job }, { at, rest }) {
      await rest.write("POST", `${at.path}/jobs/${job}/cancel`);
      return { text: `GitLab is cancelling job ${job}.` };
    },
    async verify({ job }, { item }) {
      if (item === undefined) return gone;
      const status = wordOf(item["status"]);
      const evidence = `job ${job} is ${status}.`;
      if (status === "canceled") return { verdict: "done", evidence };
      return {
        verdict: status === "failed" || status === "success" ? "not done" : "unknown",
        evidence,
      };
    },
  });
}
