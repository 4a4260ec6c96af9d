import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import { idOf, isRecord, type Item, numberOf, recordsOf, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import type { Rest } from "../rest.ts";
import { nowOf } from "../since.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";
import { type Forge, loginOf, repositoryArgument, shaOf } from "./forge.ts";
import { agoText, quoted } from "../answer-words.ts";

const MAX_FILES = 25;
const MAX_MESSAGE = 800;

export function createChange(forge: Forge) {
  return defineTool({
    name: "github_change",
    summary: "shows a pull request or a commit: who, when, which files by how much",
    description:
      "One pull request (12 or #12) or commit (its SHA): who wrote, approved and merged it, when, its message, the files it changed with their line counts, the largest first.",
    input: z.strictObject({
      repository: repositoryArgument(forge),
      change: z
        .string()
        .regex(/^(?:#?\d{1,9}|[0-9a-fA-F]{7,40})$/, "expected #12 or a commit's SHA")
        .describe("#12, or a SHA"),
    }),
    effect: "read",
    doing: ({ change, repository }) => `Reading ${change} of ${repository}`,
    endpoints: forge.endpoints,
    timeoutMs: 40_000,
    run: ({ repository, change }, ctx) =>
      orRefused(async () => {
        const at = forge.find(repository);
        const rest = forge.rest(at, ctx);
        // Seven digits alone are a pull request's number rather than a SHA of digits only.
        const number = /^#?(\d{1,9})$/.exec(change)?.[1];
        if (number === undefined) return commitText(rest, at.path, change, ctx);
        return pullText(rest, at.path, number, ctx);
      }),
  });
}

async function pullText(
  rest: Rest,
  path: string,
  number: string,
  ctx: ToolContext,
): Promise<ToolOutput> {
  const pull = await rest.find(`${path}/pulls/${number}`);
  if (pull === undefined) throw noSuch(`pull request #${number}`);
  const [files, reviews] = await Promise.all([
    rest.pages(`${path}/pulls/${number}/files`, { per_page: 100 }, { max: 300 }),
    rest.pages(`${path}/pulls/${number}/reviews`, { per_page: 100 }, { max: 100 }),
  ]);
  const now = nowOf(ctx);
  const approvers = reviews.items
    .filter(({ state }) => state === "APPROVED")
    .map(({ user }) => loginOf(user) ?? "somebody");
  const base = isRecord(pull["base"]) ? textOf(pull["base"]["ref"]) : "";
  const head = isRecord(pull["head"]) ? textOf(pull["head"]["ref"]) : "";
  const isMerged = textOf(pull["merged_at"]) !== "";
  const state = isMerged
    ? `merged ${agoText(pull["merged_at"], now)} by ${loginOf(pull["merged_by"]) ?? "somebody"} as ${shaOf(pull["merge_commit_sha"])}`
    : `${wordOf(pull["state"])}, opened ${agoText(pull["created_at"], now)}`;
  const approved =
    approvers.length === 0
      ? "approved by nobody"
      : `approved by ${[...new Set(approvers)].join(", ")}`;
  return {
    text: [
      `#${number} ${quoted(pull["title"], ctx.encoder)} by ${loginOf(pull["user"]) ?? "somebody"}: ${state}; ${approved}.`,
      `From ${clip(head, 80, ctx.encoder)} into ${clip(base, 80, ctx.encoder)}, ${counted(numberOf(pull["commits"]), "commit")}.`,
      ...messageLines(textOf(pull["body"]), ctx),
      ...fileLines(files.items, numberOf(pull["changed_files"]) || files.items.length, ctx),
    ].join("\n"),
  };
}

async function commitText(
  rest: Rest,
  path: string,
  sha: string,
  ctx: ToolContext,
): Promise<ToolOutput> {
  const commit = await rest.find(`${path}/commits/${sha}`);
  if (commit === undefined) throw noSuch(`commit ${sha}`);
  const pulls = await rest.list(`${path}/commits/${sha}/pulls`);
  const now = nowOf(ctx);
  const inner = isRecord(commit["commit"]) ? commit["commit"] : {};
  const committer = isRecord(inner["committer"]) ? inner["committer"] : {};
  const author = isRecord(inner["author"]) ? textOf(inner["author"]["name"]) : "";
  const who = loginOf(commit["author"]) ?? clip(author, 60, ctx.encoder);
  const [title = "", ...message] = textOf(inner["message"]).split("\n");
  const files = recordsOf(commit["files"]);
  const of = pulls.map((pull) => `#${idOf(pull["number"])} ${quoted(pull["title"], ctx.encoder)}`);
  return {
    text: [
      `${shaOf(commit["sha"])} ${quoted(title, ctx.encoder)} by ${who}, ${agoText(committer["date"], now)}.`,
      ...(of.length === 0 ? [] : [`Of pull request ${of.join(", ")}.`]),
      ...messageLines(message.join("\n"), ctx),
      ...fileLines(files, files.length, ctx),
    ].join("\n"),
  };
}

function messageLines(text: string, { encoder }: ToolContext): string[] {
  const words = clip(text, MAX_MESSAGE, encoder);
  return words === "" ? [] : [`Message: ${JSON.stringify(words)}`];
}

function fileLines(files: readonly Item[], total: number, { encoder }: ToolContext): string[] {
  const count = (file: Item, key: string) => numberOf(file[key]);
  const sum = (key: string) => files.reduce((all, file) => all + count(file, key), 0);
  const rows = files
    .toSorted((a, b) => count(b, "changes") - count(a, "changes"))
    .slice(0, MAX_FILES)
    .map((file) => {
      const status = wordOf(file["status"]);
      const renamed = textOf(file["previous_filename"]);
      const from = renamed === "" ? "" : ` from ${clip(renamed, 150, encoder)}`;
      const how = status === "modified" ? "" : ` ${status}${from}`;
      const name = clip(textOf(file["filename"]), 150, encoder);
      return `- ${name} +${count(file, "additions")} -${count(file, "deletions")}${how}`;
    });
  const more = total > rows.length ? [`and ${counted(total - rows.length, "more file")}`] : [];
  const head = `${counted(total, "file")} changed, +${sum("additions")} -${sum("deletions")}:`;
  return [head, ...rows, ...more];
}

export function noSuch(what: string): BotError {
  return new BotError("INPUT_INVALID", `There is no ${what}, or the token may not see it.`);
}
