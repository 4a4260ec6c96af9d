import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import { agoText, quoted } from "../answer-words.ts";
import { isRecord, type Item, recordsOf, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import { readOr, type Rest } from "../rest.ts";
import { nowOf } from "../since.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { type Project, type Projects, shaOf, userOf } from "./projects.ts";

const MAX_FILES = 25;
const MAX_DIFFS = 200;
const MAX_MESSAGE = 800;

export const numberField = z.int().min(1).describe("12 of !12, from gitlab_changes");

/** @throws BotError INPUT_INVALID */
export async function mergeRequestIn(rest: Rest, { path }: Project, number: number): Promise<Item> {
  const found = await rest.find(`${path}/merge_requests/${number}`);
  if (found !== undefined) return found;
  throw new BotError(
    "INPUT_INVALID",
    `There is no merge request !${number}, or the token may not see it.`,
  );
}

/** The commit that it was merged as; empty: none, since it was fast-forwarded. */
export function mergedAs(item: Item): string {
  const sha = textOf(item["merge_commit_sha"]) || textOf(item["squash_commit_sha"]);
  return /^[0-9a-f]{40,64}$/.test(sha) ? sha : "";
}

export function createMergeRequest(projects: Projects) {
  return defineTool({
    name: "gitlab_merge_request",
    summary: "shows a merge request: who, when, which files by how much",
    description:
      "One merge request by its number: who wrote, approved and merged it, when, its description, its pipeline, the files it changed with their line counts, the largest first.",
    input: z.strictObject({
      project: projects.argument,
      number: numberField,
    }),
    effect: "read",
    doing: ({ number, project }) => `Reading merge request !${number} of ${project}`,
    endpoints: projects.endpoints,
    timeoutMs: 40_000,
    run: ({ project: written, number }, ctx) =>
      orRefused(async () => {
        const project = projects.find(written);
        const rest = projects.rest(project, ctx);
        const path = `${project.path}/merge_requests/${number}`;
        const item = await mergeRequestIn(rest, project, number);
        const [approvals, diffs] = await Promise.all([
          readOr(ctx, "who approved it", () => rest.find(`${path}/approvals`)),
          readOr(ctx, "its files", () =>
            rest.pages(`${path}/diffs`, { per_page: 100 }, { max: MAX_DIFFS }),
          ),
        ]);
        const approved = "value" in approvals ? recordsOf(approvals.value?.["approved_by"]) : [];
        const approvers = approved.map(({ user }) => userOf(user) ?? "somebody");
        return {
          text: [
            ...headLines(number, item, approvers, ctx),
            ...("value" in diffs ? fileLines(diffs.value, ctx) : []),
          ].join("\n"),
          gaps: [approvals, diffs].flatMap((each) => ("gap" in each ? [each.gap] : [])),
        };
      }),
  });
}

function headLines(number: number, item: Item, approvers: readonly string[], ctx: ToolContext) {
  const { encoder } = ctx;
  const now = nowOf(ctx);
  const sha = shaOf(mergedAs(item));
  const by = userOf(item["merge_user"]) ?? userOf(item["merged_by"]) ?? "somebody";
  const state =
    textOf(item["merged_at"]) === ""
      ? `${wordOf(item["state"])}, opened ${agoText(item["created_at"], now)}`
      : `merged ${agoText(item["merged_at"], now)} by ${by}${sha === "" ? "" : ` as ${sha}`}`;
  const branch = (key: string) => clip(textOf(item[key]), 80, encoder);
  const pipeline = isRecord(item["head_pipeline"])
    ? `, pipeline ${wordOf(item["head_pipeline"]["status"])}`
    : "";
  const words = clip(textOf(item["description"]), MAX_MESSAGE, encoder);
  return [
    `!${number} ${quoted(item["title"], encoder)} by ${userOf(item["author"]) ?? "somebody"}: ${state}; approved by ${approvers.join(", ") || "nobody"}.`,
    `From ${branch("source_branch")} into ${branch("target_branch")}${pipeline}.`,
    ...(words === "" ? [] : [`Description: ${JSON.stringify(words)}`]),
  ];
}

interface ChangedFile {
  item: Item;
  name: string;
  added: number;
  removed: number;
}

/** The largest first. GitLab gives diffs, not how many lines they are. */
export function filesOf(diffs: readonly Item[]): ChangedFile[] {
  const files = diffs.map((item) => {
    const lines = textOf(item["diff"]).split("\n");
    const of = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
    return { item, name: textOf(item["new_path"]), added: of("+"), removed: of("-") };
  });
  return files.toSorted((a, b) => b.added + b.removed - a.added - a.removed);
}

/** `3 files changed, +4 -1` */
export function sizeText(files: readonly ChangedFile[], isWhole: boolean): string {
  const sum = (key: "added" | "removed") => files.reduce((all, each) => all + each[key], 0);
  return `${counted(files.length, "file")}${isWhole ? "" : " or more"} changed, +${sum("added")} -${sum("removed")}`;
}

function fileLines(
  { items, isWhole }: { items: readonly Item[]; isWhole: boolean },
  { encoder }: ToolContext,
): string[] {
  const files = filesOf(items);
  const rows = files.slice(0, MAX_FILES).map(({ item, name: whole, added, removed }) => {
    const name = clip(whole, 150, encoder);
    const was = clip(textOf(item["old_path"]), 150, encoder);
    const how = [
      item["new_file"] === true ? " added" : "",
      item["deleted_file"] === true ? " removed" : "",
      item["renamed_file"] === true ? ` renamed from ${was}` : "",
      // GitLab leaves out what is large.
      textOf(item["diff"]) === "" ? " (lines not given)" : "",
    ];
    return `- ${name} +${added} -${removed}${how.join("")}`;
  });
  const more = files.length > rows.length ? [`and ${files.length - rows.length} more`] : [];
  return [`${sizeText(files, isWhole)}:`, ...rows, ...more];
}
