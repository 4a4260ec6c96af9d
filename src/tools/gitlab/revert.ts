import * as z from "zod";
import type { Preview } from "../../core/entry.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import { agoText, iso, quoted, time } from "../answer-words.ts";
import { idOf, isRecord, type Item, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { CLOCK_MS, defineWrite, gone, type WriteContext } from "../pinned-write.ts";
import { Refusal, refused } from "../refusal.ts";
import { readOr, type Rest } from "../rest.ts";
import type { Tool, ToolOutput } from "../tool.ts";
import { filesOf, mergeRequestIn, mergedAs, numberField, sizeText } from "./merge-request.ts";
import { type Project, type Projects, serviceOf, shaOf, userOf } from "./projects.ts";

/** The merge request that takes a merged one back, by https://docs.gitlab.com/api/commits/#revert-a-commit */

const MAX_REVERTS = 300;
const MAX_DIFFS = 200;
const MAX_NAMED = 5;

/** As GitLab's own Revert button calls it. */
const branchOf = (sha: string) => `revert-${shaOf(sha)}`;

const branchPath = ({ path }: Project, branch: string) => `${path}/repository/branches/${branch}`;

/** The reverse of what opened it. */
const closing = (project: string, number: number) => ({
  tool: "gitlab_set_state",
  args: { project, number, state: "closed", before: { state: "opened" } },
});

/** Those that take it back, opened since, the newest first. GitLab's own say so in their text. */
async function revertsOf(
  rest: Rest,
  { path }: Project,
  { iid, sha }: { iid: number; sha: string },
  since: number,
): Promise<Item[]> {
  const { items } = await rest.pages(
    `${path}/merge_requests`,
    {
      state: "all",
      created_after: iso(since),
      order_by: "created_at",
      sort: "desc",
      per_page: 100,
    },
    { max: MAX_REVERTS },
  );
  const words = new RegExp(`reverts merge request !${iid}(?!\\d)`, "i");
  return items.filter(
    (item) =>
      textOf(item["source_branch"]) === branchOf(sha) || words.test(textOf(item["description"])),
  );
}

interface Trial {
  outcome: "applies" | "conflicts" | "unknown";
  words: string;
}

/** What comes of it, as GitLab tries it on the target branch. */
async function tried(rest: Rest, { path }: Project, item: Item): Promise<Trial> {
  const branch = textOf(item["target_branch"]);
  try {
    const [major = 0, minor = 0] = textOf((await rest.find("api/v4/version"))?.["version"])
      .split(".")
      .map(Number);
    // An older one does not know `dry_run`, and would revert it on the target branch.
    if (!(major > 13 || (major === 13 && minor >= 3)))
      return { outcome: "unknown", words: "not known: GitLab tries it from 13.3 on" };
    const url = `${path}/repository/commits/${mergedAs(item)}/revert`;
    const body = await rest.write("POST", url, { branch, dry_run: true });
    if (isRecord(body) && body["dry_run"] === "success")
      return { outcome: "applies", words: "yes, GitLab has tried it" };
    return { outcome: "unknown", words: "not known: GitLab did not say" };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Whoever may not push to the target branch may not try it there, but may revert on a branch of their own.
    if (error.gap !== undefined)
      return { outcome: "unknown", words: `not known: ${error.gap.why}` };
    return { outcome: "conflicts", words: error.message };
  }
}

type Step = WriteContext<Project>;

/** @throws BotError PRECHECK_FAILED */
async function checkRevert(number: number, { item, at, rest }: Step): Promise<void> {
  if (textOf(item["merged_at"]) === "") throw refused(`!${number} is not merged.`);
  const sha = mergedAs(item);
  if (sha === "")
    throw refused(
      `!${number} was merged without a commit of its own, and GitLab reverts one commit: revert its commits on GitLab.`,
    );
  const [reverts, branch, trial] = await Promise.all([
    revertsOf(rest, at, { iid: number, sha }, time(item["merged_at"])),
    rest.find(branchPath(at, branchOf(sha))),
    tried(rest, at, item),
  ]);
  const standing = reverts.find(({ state }) => state !== "closed");
  if (standing !== undefined)
    throw refused(
      `!${idOf(standing["iid"])} reverts it already, and is ${wordOf(standing["state"])}.`,
    );
  const [closed] = reverts;
  const again = closed === undefined ? "" : `open !${idOf(closed["iid"])} again, or `;
  if (branch !== undefined)
    throw refused(`The branch ${branchOf(sha)} is there already: ${again}delete it.`);
  if (trial.outcome === "conflicts") throw refused(trial.words);
}

async function previewRevert(number: number, { item, at, rest, ctx, now }: Step): Promise<Preview> {
  const [trial, diffs] = await Promise.all([
    tried(rest, at, item),
    readOr(ctx, "its files", () =>
      rest.pages(
        `${at.path}/merge_requests/${number}/diffs`,
        { per_page: 100 },
        { max: MAX_DIFFS },
      ),
    ),
  ]);
  const files = "value" in diffs ? filesOf(diffs.value.items) : [];
  const named = files.slice(0, MAX_NAMED).map(({ name }) => clip(name, 100, ctx.encoder));
  const size =
    "value" in diffs
      ? `${sizeText(files, diffs.value.isWhole)}: ${named.join(", ")}${files.length > named.length ? ", …" : ""}`
      : `not known: ${diffs.gap.why}`;
  const target = clip(textOf(item["target_branch"]), 80, ctx.encoder);
  return {
    lines: [
      {
        label: "Reverts",
        value: `!${number} ${quoted(item["title"], ctx.encoder)} by ${userOf(item["author"]) ?? "somebody"}`,
      },
      {
        label: "Merged",
        value: `${agoText(item["merged_at"], now)} as ${shaOf(mergedAs(item))} into ${target}`,
      },
      { label: "Changed", value: size },
      { label: "Applies", value: trial.words },
      { label: "Branch", value: branchOf(mergedAs(item)) },
    ],
    blastRadius:
      "A branch and a merge request are made; nothing is merged or deployed by it. Its pipeline runs, and reviewers are told.",
    undo: "Can be undone: the merge request is closed. Its branch stays.",
  };
}

async function runRevert(number: number, { item, at, rest, ctx }: Step): Promise<ToolOutput> {
  const sha = mergedAs(item);
  const branch = branchOf(sha);
  const target = textOf(item["target_branch"]);
  await rest.write("POST", `${at.path}/repository/branches`, { branch, ref: target });
  try {
    await rest.write("POST", `${at.path}/repository/commits/${sha}/revert`, { branch });
    const made = await rest.write("POST", `${at.path}/merge_requests`, {
      source_branch: branch,
      target_branch: target,
      title: `Revert "${clip(textOf(item["title"]), 200, ctx.encoder)}"`,
      description: `This reverts merge request !${number}`,
      remove_source_branch: true,
    });
    const { iid, web_url: url } = isRecord(made) ? made : {};
    const opened = Number(idOf(iid));
    if (opened === 0)
      throw new BotError("ABORTED", "GitLab did not say which merge request it opened.");
    return {
      text: `Opened !${opened}, which reverts !${number}: ${clip(textOf(url), 200, ctx.encoder)}`,
      undo: closing(at.name, opened),
    };
  } catch (error) {
    throw await withBranch(error, branch, () => rest.write("DELETE", branchPath(at, branch)));
  }
}

export function createRevert(projects: Projects): Tool {
  return defineWrite(serviceOf(projects), {
    name: "gitlab_revert",
    summary: "opens the merge request that takes a merged one back",
    description:
      "Opens a merge request that reverts a merged one, on a branch of its own. It is not merged: somebody reviews and merges it.",
    shape: { number: numberField },
    title: ({ number }) => `Open a merge request that reverts !${number}`,
    resource: ({ number }, { name }) => `${name} revert of !${number}`,
    find: ({ number }, at, rest) => mergeRequestIn(rest, at, number),
    before: (item) => ({ sha: mergedAs(item), id: idOf(item["id"]) }),
    check: ({ number }, step) => checkRevert(number, step),
    preview: ({ number }, step) => previewRevert(number, step),
    run: ({ number }, step) => runRevert(number, step),
    async verify({ number }, { item, at, rest, startedAt }) {
      if (item === undefined) return gone;
      const sha = mergedAs(item);
      const since = startedAt - CLOCK_MS;
      const [made] = await revertsOf(rest, at, { iid: number, sha }, since);
      if (made === undefined) {
        const branch = await rest.find(branchPath(at, branchOf(sha)));
        const left = `the branch ${branchOf(sha)} is there without a merge request: open one, or delete it.`;
        const none = `no merge request that reverts !${number} was opened since.`;
        return { verdict: "not done", evidence: branch === undefined ? none : left };
      }
      const opened = Number(idOf(made["iid"]));
      const evidence = `!${opened} reverts !${number} and is ${wordOf(made["state"])}.`;
      return { verdict: "done", evidence, undo: closing(at.name, opened) };
    },
  });
}

async function isDone(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch {
    return false;
  }
}

/** What went wrong, and what became of the branch: what GitLab surely refused leaves none. */
async function withBranch(error: unknown, branch: string, remove: () => Promise<unknown>) {
  if (error instanceof Refusal) {
    const isGone = await isDone(remove);
    const rest = isGone
      ? `The branch ${branch} was deleted again: nothing is left of it.`
      : `The branch ${branch} was made and could not be deleted: delete it on GitLab.`;
    return new Refusal(`${error.message} ${rest}`, error.gap);
  }
  if (!isBotError(error)) return error;
  const words = `${error.message} The branch ${branch} was made; it may hold the revert.`;
  return new BotError(error.code, words, { cause: error });
}

export function createSetState(projects: Projects): Tool {
  const turned = (project: string, number: number, now: "closed" | "opened") => ({
    tool: "gitlab_set_state",
    args: {
      project,
      number,
      state: now === "closed" ? "opened" : "closed",
      before: { state: now },
    },
  });
  return defineWrite(serviceOf(projects), {
    name: "gitlab_set_state",
    summary: "closes a merge request, or opens it again",
    description: "Closes a merge request without merging it, or opens it again.",
    shape: { number: numberField, state: z.enum(["closed", "opened"]).default("closed") },
    title: ({ number, state }) => `${state === "closed" ? "Close" : "Reopen"} !${number}`,
    resource: ({ number }, { name }) => `${name} !${number}`,
    find: ({ number }, at, rest) => mergeRequestIn(rest, at, number),
    before: ({ state, title }) => ({ state: textOf(state), title: textOf(title) }),
    check({ number, state }, { item }) {
      const from = state === "closed" ? "opened" : "closed";
      if (item["state"] !== from) throw refused(`!${number} is ${wordOf(item["state"])}.`);
    },
    preview: ({ number, state }, { item, ctx, now }) => ({
      lines: [
        {
          label: "Merge request",
          value: `!${number} ${quoted(item["title"], ctx.encoder)} by ${userOf(item["author"]) ?? "somebody"}`,
        },
        { label: "Opened", value: agoText(item["created_at"], now) },
        { label: "State", value: `${wordOf(item["state"])} → ${state}` },
      ],
      blastRadius: "Whoever follows it is told.",
      undo: `Can be undone: it is set back to ${wordOf(item["state"])}.`,
    }),
    async run({ number, state }, { at, rest }) {
      const event = state === "closed" ? "close" : "reopen";
      await rest.write("PUT", `${at.path}/merge_requests/${number}`, { state_event: event });
      return { text: `!${number} is ${state}.`, undo: turned(at.name, number, state) };
    },
    async verify({ number, state }, { item, at }) {
      if (item === undefined) return gone;
      const evidence = `!${number} is ${wordOf(item["state"])}.`;
      if (item["state"] !== state) return { verdict: "not done", evidence };
      return { verdict: "done", evidence, undo: turned(at.name, number, state) };
    },
  });
}
