import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import type { Finding, Gap } from "../../core/finding.ts";
import { counted, formatBytes } from "../../core/text.ts";
import { idOf, type Item, numberOf, recordsOf, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { tailOf } from "../log-tail.ts";
import { orRefused } from "../refusal.ts";
import { readOr, type Rest } from "../rest.ts";
import { nowOf } from "../since.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { type Forge, loginOf, type Repository, repositoryArgument, shaOf } from "./forge.ts";
import { noSuch } from "./change.ts";
import { agoText, quoted } from "../answer-words.ts";

const MAX_LOG = 16 * 1024 * 1024;
/** Jobs whose logs are fetched: those of a matrix fail alike. */
const MAX_JOBS = 2;
const MAX_NAMED = 10;
const FAILED = ["failure", "timed_out", "startup_failure", "action_required"];

export const runField = z.int().min(1).describe("The run's id, from github_changes");

export function createJobLog(forge: Forge) {
  return defineTool({
    name: "github_job_log",
    summary: "shows why a workflow run failed: its failed jobs and steps, and the end of their log",
    description:
      "Why a workflow run failed: failed jobs with the step, the errors in their log and the lines before the last one. Without run: the newest run that failed.",
    input: z.strictObject({
      repository: repositoryArgument(forge),
      run: runField.optional(),
    }),
    effect: "read",
    doing: ({ repository }) => `Reading why a workflow of ${repository} failed`,
    endpoints: forge.endpoints,
    timeoutMs: 60_000,
    run: ({ repository, run }, ctx) =>
      orRefused(async () => {
        const at = forge.find(repository);
        const rest = forge.rest(at, ctx);
        const found = await runIn(rest, at, run);
        const { items: jobs } = await rest.pages(
          `${at.path}/actions/runs/${idOf(found["id"])}/jobs`,
          { filter: "latest", per_page: 100 },
          { max: 300, key: "jobs" },
        );
        const failed = jobs.filter(({ conclusion }) => FAILED.includes(textOf(conclusion)));
        const told = await Promise.all(
          failed.slice(0, MAX_JOBS).map((job) => jobText(rest, at, job, ctx)),
        );
        const others = failed
          .slice(MAX_JOBS, MAX_JOBS + MAX_NAMED)
          .map(({ name }) => clip(textOf(name), 60, ctx.encoder));
        const more =
          failed.length > MAX_JOBS
            ? [
                `Also failed: ${others.join(", ")}${failed.length > MAX_JOBS + MAX_NAMED ? ", …" : ""}`,
              ]
            : [];
        const head = `${runText(found, ctx)}; ${failed.length} of ${counted(jobs.length, "job")} failed.`;
        return {
          text: [head, ...told.flatMap(({ lines }) => lines), ...more].join("\n"),
          findings: told.flatMap(({ finding }) => finding ?? []),
          gaps: told.flatMap(({ gap }) => gap ?? []),
        };
      }),
  });
}

/** @throws BotError INPUT_INVALID when there is none */
export async function runIn(rest: Rest, { path }: Repository, run?: number): Promise<Item> {
  if (run !== undefined) {
    const found = await rest.find(`${path}/actions/runs/${run}`);
    if (found === undefined) throw noSuch(`run ${run}`);
    return found;
  }
  const newest = await rest.pages(
    `${path}/actions/runs`,
    { status: "failure", per_page: 1 },
    { max: 1, key: "workflow_runs" },
  );
  const [first] = newest.items;
  if (first === undefined) throw new BotError("INPUT_INVALID", "No workflow run has failed.");
  return first;
}

/** `run 123 of CI on main (abc1234), attempt 2, "Faster" by ana: failure, 2026-11-23 01:30:05 UTC (4 min ago)` */
export function runText(run: Item, ctx: ToolContext): string {
  const { encoder } = ctx;
  const outcome = wordOf(run["conclusion"]) || wordOf(run["status"]);
  const attempt = numberOf(run["run_attempt"]) > 1 ? `, attempt ${idOf(run["run_attempt"])}` : "";
  const what = `run ${idOf(run["id"])} of ${clip(textOf(run["name"]), 60, encoder)} on ${clip(textOf(run["head_branch"]), 60, encoder)} (${shaOf(run["head_sha"])})${attempt}`;
  const who = `${quoted(run["display_title"], encoder)} by ${loginOf(run["actor"]) ?? "somebody"}`;
  const when = agoText(run["updated_at"], nowOf(ctx));
  return `${what}, ${who}: ${outcome}, ${when}`;
}

async function jobText(
  rest: Rest,
  { label, path }: Repository,
  job: Item,
  ctx: ToolContext,
): Promise<{ lines: string[]; finding?: Finding; gap?: Gap }> {
  const name = clip(textOf(job["name"]), 80, ctx.encoder);
  const step = recordsOf(job["steps"]).find(({ conclusion }) =>
    FAILED.includes(textOf(conclusion)),
  );
  const where = step === undefined ? "" : `, step ${quoted(step["name"], ctx.encoder)}`;
  const head = `Job ${name}: ${wordOf(job["conclusion"])}${where}.`;
  const read = await readOr(ctx, `the log of job ${name}`, () =>
    rest.text(`${path}/actions/jobs/${idOf(job["id"])}/logs`, MAX_LOG),
  );
  const gap = "gap" in read ? read.gap : longLog(name, read.value.isWhole);
  const tail =
    "value" in read && read.value.isWhole ? await tailOf(read.value.text, ctx.encoder) : undefined;
  const cause = tail?.errors.at(-1) ?? `${wordOf(job["conclusion"])}${where}`;
  const finding: Finding = {
    object: { kind: "Job", namespace: label, name },
    cause,
    severity: "warning",
    evidence: `${head}${(tail?.errors.length ?? 0) > 1 ? ` Errors: ${tail?.errors.join("; ")}` : ""}`,
    since: textOf(job["completed_at"]) || null,
  };
  return {
    lines: [head, ...(tail?.lines ?? []).map((line) => `  ${line}`)],
    finding,
    ...(gap && { gap }),
  };
}

function longLog(name: string, isWhole: boolean): Gap | undefined {
  if (isWhole) return undefined;
  const why = `it is longer than ${formatBytes(MAX_LOG)}`;
  return { what: `the log of job ${name}`, why, help: "Open it on GitHub." };
}
