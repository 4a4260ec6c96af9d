import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { idOf, isRecord, type Item, numberOf, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import type { Rest } from "../rest.ts";
import type { Tool } from "../tool.ts";
import { noSuch } from "./change.ts";
import { type Forge, loginOf, type Repository, serviceOf, shaOf } from "./forge.ts";
import { agoText, iso, quoted, time } from "../answer-words.ts";
import { refused } from "../refusal.ts";
import { CLOCK_MS, defineWrite, gone } from "../pinned-write.ts";

const numberField = z.int().min(1);

async function pullIn(rest: Rest, { path }: Repository, number: number): Promise<Item> {
  const pull = await rest.find(`${path}/pulls/${number}`);
  if (pull === undefined) throw noSuch(`pull request #${number}`);
  return pull;
}

/** The reverse of what opened it. */
const closing = (repository: string, number: number) => ({
  tool: "github_set_state",
  args: { repository, number, state: "closed", before: { state: "open" } },
});

/** The newest that takes this one back, opened since. GitHub says so in its text. */
async function revertOf(
  rest: Rest,
  { path, name }: Repository,
  number: number,
  since: number,
): Promise<Item | undefined> {
  const { items } = await rest.pages(
    `${path}/pulls`,
    { state: "all", sort: "created", direction: "desc", per_page: 100 },
    { max: 300, isEnough: (page) => time(page.at(-1)?.["created_at"]) < since },
  );
  const words = `reverts ${name}#${number}`.toLowerCase();
  const isIn = (text: string) =>
    text
      .split(words)
      .slice(1)
      .some((behind) => !/^\d/.test(behind));
  return items.find((pull) => {
    const head = isRecord(pull["head"]) ? textOf(pull["head"]["ref"]) : "";
    const body = textOf(pull["body"]).toLowerCase();
    const isIt = head.startsWith(`revert-${number}-`) || isIn(body);
    return isIt && time(pull["created_at"]) >= since;
  });
}

export function createRevert(forge: Forge): Tool {
  return defineWrite(serviceOf(forge), {
    name: "github_revert",
    summary: "opens the pull request that takes a merged one back",
    description:
      "Opens a pull request that reverts a merged one, as GitHub's own Revert button does. It is not merged: somebody reviews and merges it.",
    shape: { pull: numberField.describe("The merged pull request's number") },
    title: ({ pull }) => `Open a pull request that reverts #${pull}`,
    resource: ({ pull }, { label }) => `${label} revert of #${pull}`,
    find: ({ pull }, at, rest) => pullIn(rest, at, pull),
    before: (pull) => ({ sha: textOf(pull["merge_commit_sha"]), id: textOf(pull["node_id"]) }),
    async check({ pull }, { item, at, rest }) {
      if (textOf(item["merged_at"]) === "") throw refused(`#${pull} is not merged.`);
      const revert = await revertOf(rest, at, pull, time(item["merged_at"]));
      if (revert === undefined) return;
      const state = textOf(revert["merged_at"]) === "" ? wordOf(revert["state"]) : "merged";
      if (state !== "closed")
        throw refused(`#${idOf(revert["number"])} reverts it already, and is ${state}.`);
    },
    preview({ pull }, { item, ctx, now }) {
      const base = isRecord(item["base"]) ? textOf(item["base"]["ref"]) : "";
      const size = `${numberOf(item["changed_files"])} files, +${numberOf(item["additions"])} -${numberOf(item["deletions"])}`;
      return {
        lines: [
          {
            label: "Reverts",
            value: `#${pull} ${quoted(item["title"], ctx.encoder)} by ${loginOf(item["user"]) ?? "somebody"}`,
          },
          {
            label: "Merged",
            value: `${agoText(item["merged_at"], now)} as ${shaOf(item["merge_commit_sha"])} into ${clip(base, 80, ctx.encoder)}`,
          },
          { label: "Changed", value: size },
        ],
        blastRadius:
          "A branch and a pull request are made; nothing is merged or deployed by it. Checks run on it, and reviewers are told.",
        undo: "Can be undone: the pull request is closed.",
      };
    },
    async run({ pull }, { item, at, ctx }) {
      const data = await forge.mutate(at, ctx, {
        query:
          "mutation($id: ID!) { revertPullRequest(input: { pullRequestId: $id }) { revertPullRequest { number url } } }",
        variables: { id: textOf(item["node_id"]) },
      });
      const payload = isRecord(data["revertPullRequest"]) ? data["revertPullRequest"] : {};
      const made = isRecord(payload["revertPullRequest"]) ? payload["revertPullRequest"] : {};
      const number = Number(idOf(made["number"]));
      if (number === 0)
        throw new BotError("ABORTED", "GitHub did not say which pull request it opened.");
      return {
        text: `Opened #${number}, which reverts #${pull}: ${clip(textOf(made["url"]), 200, ctx.encoder)}`,
        undo: closing(at.label, number),
      };
    },
    async verify({ pull }, { at, rest, startedAt }) {
      const made = await revertOf(rest, at, pull, startedAt - CLOCK_MS);
      if (made === undefined)
        return {
          verdict: "unknown",
          evidence: `no pull request that reverts #${pull} was opened since.`,
        };
      const number = Number(idOf(made["number"]));
      const evidence = `#${number} reverts #${pull} and is ${wordOf(made["state"])}.`;
      return { verdict: "done", evidence, undo: closing(at.label, number) };
    },
  });
}

export function createIssue(forge: Forge): Tool {
  const find = async (
    { title }: { title: string },
    { path }: Repository,
    rest: Rest,
    since: number,
  ): Promise<Item | undefined> => {
    const { items } = await rest.pages(
      `${path}/issues`,
      { state: "all", since: iso(since), sort: "created", direction: "desc", per_page: 100 },
      { max: 100 },
    );
    return items.find(
      (issue) =>
        issue["title"] === title &&
        issue["pull_request"] === undefined &&
        time(issue["created_at"]) >= since,
    );
  };
  return defineWrite(serviceOf(forge), {
    name: "github_open_issue",
    summary: "opens an issue",
    description: "Opens an issue in a repository, with the text that the card shows.",
    shape: {
      title: z.string().regex(/\S/, "is empty").max(200),
      body: z.string().max(8_000).default("").describe("Markdown"),
      labels: z.array(z.string().min(1).max(50)).max(10).default([]),
    },
    title: ({ title }) => `Open issue ${JSON.stringify(title)}`,
    resource: ({ title }, { label }) => `${label} issue ${title}`,
    find: async (_, { path }, rest) => (await rest.find(path)) ?? {},
    before: ({ node_id: id }) => ({ id: textOf(id) }),
    async check(input, { item, at, rest, now }) {
      if (item["has_issues"] === false) throw refused(`${at.label} has no issues.`);
      const same = await find(input, at, rest, now - 86_400_000);
      if (same?.["state"] === "open")
        throw refused(`#${String(same["number"])} with this title is open already.`);
    },
    preview({ title, body, labels }, { item }) {
      const mentioned = [...new Set(body.match(/(?<![\w`])@[\w-]+(?:\/[\w-]+)?/g))];
      const told = mentioned.length === 0 ? "" : ` GitHub tells ${mentioned.join(", ")}.`;
      const readers =
        item["private"] === false ? "Everybody in the world" : "Whoever sees the repository";
      return {
        lines: [
          { label: "Title", value: title },
          { label: "Text", value: body === "" ? "(none)" : body },
          ...(labels.length === 0 ? [] : [{ label: "Labels", value: labels.join(", ") }]),
        ],
        blastRadius: `${readers} can read it.${told}`,
        undo: "Can be undone: the issue is closed. Its text stays to be read.",
      };
    },
    async run({ title, body, labels }, { at, rest, ctx }) {
      const made = await rest.write("POST", `${at.path}/issues`, { title, body, labels });
      const { number, html_url: url } = isRecord(made) ? made : {};
      if (typeof number !== "number")
        throw new BotError("ABORTED", "GitHub did not say which issue it opened.");
      return {
        text: `Opened #${number}: ${clip(textOf(url), 200, ctx.encoder)}`,
        undo: closing(at.label, number),
      };
    },
    async verify(input, { at, rest, startedAt }) {
      const made = await find(input, at, rest, startedAt - CLOCK_MS);
      if (made === undefined)
        return { verdict: "unknown", evidence: "no issue with this title was opened since." };
      const number = Number(idOf(made["number"]));
      const evidence = `#${number} is ${wordOf(made["state"])}.`;
      return { verdict: "done", evidence, undo: closing(at.label, number) };
    },
  });
}

export function createSetState(forge: Forge): Tool {
  return defineWrite(serviceOf(forge), {
    name: "github_set_state",
    summary: "closes an issue or a pull request, or opens it again",
    description: "Closes an issue or a pull request without merging it, or opens it again.",
    shape: {
      number: numberField,
      state: z.enum(["closed", "open"]).default("closed"),
    },
    title: ({ number, state }) => `${state === "closed" ? "Close" : "Reopen"} #${number}`,
    resource: ({ number }, { label }) => `${label} #${number}`,
    async find({ number }, { path }, rest) {
      const issue = await rest.find(`${path}/issues/${number}`);
      if (issue === undefined) throw noSuch(`issue #${number}`);
      return issue;
    },
    before: ({ state, title }) => ({ state: textOf(state), title: textOf(title) }),
    check({ state, number }, { item }) {
      if (item["state"] === state) throw refused(`#${number} is ${state} already.`);
      const pull = item["pull_request"];
      if (isRecord(pull) && textOf(pull["merged_at"]) !== "")
        throw refused(`#${number} is merged.`);
    },
    preview: ({ number, state }, { item, ctx, now }) => ({
      lines: [
        {
          label: item["pull_request"] === undefined ? "Issue" : "Pull request",
          value: `#${number} ${quoted(item["title"], ctx.encoder)} by ${loginOf(item["user"]) ?? "somebody"}`,
        },
        { label: "Opened", value: agoText(item["created_at"], now) },
        { label: "State", value: `${wordOf(item["state"])} → ${state}` },
      ],
      blastRadius: "Whoever follows it is told.",
      undo: `Can be undone: it is set back to ${wordOf(item["state"])}.`,
    }),
    async run({ number, state }, { at, rest }) {
      await rest.write("PATCH", `${at.path}/issues/${number}`, { state });
      return { text: `#${number} is ${state}.`, undo: setting(at.label, number, state) };
    },
    async verify({ number, state }, { item, at }) {
      if (item === undefined) return gone;
      const evidence = `#${number} is ${wordOf(item["state"])}.`;
      if (item["state"] !== state) return { verdict: "not done", evidence };
      return { verdict: "done", evidence, undo: setting(at.label, number, state) };
    },
  });
}

function setting(repository: string, number: number, now: "closed" | "open") {
  const state = now === "closed" ? "open" : "closed";
  return { tool: "github_set_state", args: { repository, number, state, before: { state: now } } };
}
