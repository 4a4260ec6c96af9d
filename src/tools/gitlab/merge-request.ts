import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import { agoText, quoted } from "../answer-words.ts";
import { isRecord, type Item, recordsOf, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import { readOr } from "../rest.ts";
import { nowOf } from "../since.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { type Projects, userOf } from "./projects.ts";

const MAX_FILES = 25;
const MAX_DIFFS = 200;
const MAX_MESSAGE = 800;

export function createMergeRequest(projects: Projects) {
  return defineTool({
    name: "gitlab_merge_request",
    summary: "shows a merge request: who, when, which files by how much",
    description:
      "One merge request by its number: who wrote, approved and merged it, when, its description, its pipeline, the files it changed with their line counts, the largest first.",
    input: z.strictObject({
      project: projects.argument,
      number: z.int().min(1).describe("12 of !12, from gitlab_changes"),
    }),
    effect: "read",
    endpoints: projects.endpoints,
    timeoutMs: 40_000,
    run: ({ project: written, number }, ctx) =>
      orRefused(async () => {
        const project = projects.find(written);
        const rest = projects.rest(project, ctx);
        const path = `${project.path}/merge_requests/${number}`;
        const item = await rest.find(path);
        if (item === undefined)
          throw new BotError(
            "INPUT_INVALID",
            `There is no merge request !${number}, or the token may not see it.`,
          );
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
  const sha = wordOf(item["merge_commit_sha"]) || wordOf(item["squash_commit_sha"]);
  const by = userOf(item["merge_user"]) ?? userOf(item["merged_by"]) ?? "somebody";
  const state =
    textOf(item["merged_at"]) === ""
      ? `${wordOf(item["state"])}, opened ${agoText(item["created_at"], now)}`
      : `merged ${agoText(item["merged_at"], now)} by ${by}${sha === "" ? "" : ` as ${sha.slice(0, 8)}`}`;
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

/** GitLab gives diffs, not how many lines they are. */
function fileLines(
  { items, isWhole }: { items: readonly Item[]; isWhole: boolean },
  { encoder }: ToolContext,
): string[] {
  const files = items.map((item) => {
    const lines = textOf(item["diff"]).split("\n");
    const of = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
    return { item, added: of("+"), removed: of("-") };
  });
  const sum = (key: "added" | "removed") => files.reduce((all, each) => all + each[key], 0);
  const rows = files
    .toSorted((a, b) => b.added + b.removed - a.added - a.removed)
    .slice(0, MAX_FILES)
    .map(({ item, added, removed }) => {
      const name = clip(textOf(item["new_path"]), 150, encoder);
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
  const head = `${counted(files.length, "file")}${isWhole ? "" : " or more"} changed, +${sum("added")} -${sum("removed")}:`;
  return [head, ...rows, ...more];
}
