import type { Finding, Gap } from "../../core/finding.ts";
import { counted } from "../../core/text.ts";
import type { Change, Window } from "../change.ts";
import { idOf, isRecord, type Item, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { readOr, type Rest } from "../rest.ts";
import { iso, quoted, time } from "../answer-words.ts";
import type { ToolContext } from "../tool.ts";
import { loginOf, type Repository, shaOf } from "./forge.ts";

/** What happened in a repository in a time: commits, merges, releases, deployments and workflow runs. */

const MAX = 300;
const PAGE = 100;
/** Deployments whose statuses are asked for: each costs a request. */
const MAX_DEPLOYMENTS = 15;
/** A run of these changes what runs; other runs that went well are only counted. */
const DEPLOYING = /deploy|release|publish|roll|promot|ship/i;

interface Seen {
  changes: Change[];
  gaps: Gap[];
  findings: Finding[];
  /** What was left out, in a line. */
  notes: string[];
  /** Nothing at all could be read. */
  isBlind: boolean;
}

export async function historyOf(
  { label, path }: Repository,
  { from, to }: Window,
  { rest, ctx }: { rest: Rest; ctx: ToolContext },
): Promise<Seen> {
  const [since, until] = [iso(from), iso(to)];
  const isOld = (field: string) => (page: Item[]) => time(page.at(-1)?.[field]) < from;
  const list = (what: string, read: () => Promise<{ items: Item[]; isWhole: boolean }>) =>
    readOr(ctx, `${what} of ${label}`, read);
  const [commits, pulls, releases, deployments, runs] = await Promise.all([
    list("commits", () =>
      rest.pages(`${path}/commits`, { since, until, per_page: PAGE }, { max: MAX }),
    ),
    list("merged pull requests", () => {
      const newest = { state: "closed", sort: "updated", direction: "desc", per_page: PAGE };
      return rest.pages(`${path}/pulls`, newest, { max: MAX, isEnough: isOld("updated_at") });
    }),
    list("releases", () =>
      rest.pages(
        `${path}/releases`,
        { per_page: PAGE },
        { max: MAX, isEnough: isOld("created_at") },
      ),
    ),
    list("deployments", () => deploymentsIn(rest, path, { from, to })),
    list("workflow runs", () =>
      rest.pages(
        `${path}/actions/runs`,
        { created: `${since}..${until}`, per_page: PAGE },
        { max: MAX, key: "workflow_runs" },
      ),
    ),
  ]);
  const all = { commits, pulls, releases, deployments, runs };
  const gaps = Object.entries(all).flatMap(([what, each]) => {
    if ("gap" in each) return [each.gap];
    if (each.value.isWhole) return [];
    const why = `there are more than ${MAX} in this time`;
    return [{ what: `older ${what} of ${label}`, why, help: "Ask for a shorter time." }];
  });
  const [refused] = gaps;
  if (refused !== undefined && Object.values(all).every((each) => "gap" in each)) {
    const gap = { ...refused, what: label };
    return { changes: [], gaps: [gap], findings: [], notes: [], isBlind: true };
  }
  const itemsOf = (each: (typeof all)[keyof typeof all]) =>
    "value" in each ? each.value.items : [];
  const within = ({ at }: Change) => at >= from && at <= to;
  const about = [label.replace(/^.*[:/]/, "")];
  const place = { where: `github ${label}`, about };
  const merged = itemsOf(pulls).filter((pull) => textOf(pull["merged_at"]) !== "");
  const merges = new Set(merged.map((pull) => textOf(pull["merge_commit_sha"])));
  const alone = itemsOf(commits).filter(({ sha }) => !merges.has(textOf(sha)));
  const told = runsOf(itemsOf(runs), place, ctx);
  const changes = [
    ...merged.map((pull) => mergeOf(pull, place, ctx)),
    ...alone.map((commit) => commitOf(commit, place, ctx)),
    ...itemsOf(releases).flatMap((release) => releaseOf(release, place, ctx)),
    ...itemsOf(deployments).map((deployment) => deploymentOf(deployment, place, ctx)),
    ...told.changes,
  ].filter(within);
  const findings = brokenOf(itemsOf(deployments), label);
  return { changes, gaps, findings, notes: told.notes, isBlind: false };
}

type Place = Pick<Change, "where" | "about">;

/** Each with `status`, its newest that is not only superseded. */
async function deploymentsIn(rest: Rest, path: string, { from, to }: Window) {
  const { items, isWhole } = await rest.pages(
    `${path}/deployments`,
    { per_page: PAGE },
    { max: MAX, isEnough: (page) => time(page.at(-1)?.["created_at"]) < from },
  );
  const recent = items.filter(({ created_at: at }) => time(at) >= from && time(at) <= to);
  const some = recent.slice(0, MAX_DEPLOYMENTS);
  const withStatus = await Promise.all(
    some.map(async (deployment) => {
      const id = idOf(deployment["id"]);
      const statuses = await rest.list(`${path}/deployments/${id}/statuses`, { per_page: 10 });
      const status = statuses.find(
        ({ state, created_at: at }) => state !== "inactive" && time(at) <= to,
      );
      return { ...deployment, status };
    }),
  );
  return { items: [...withStatus, ...recent.slice(MAX_DEPLOYMENTS)], isWhole };
}

function mergeOf(pull: Item, place: Place, { encoder }: ToolContext): Change {
  const base = isRecord(pull["base"]) ? textOf(pull["base"]["ref"]) : "";
  const title = quoted(pull["title"], encoder);
  const text = `merged #${idOf(pull["number"])} ${title} into ${clip(base, 60, encoder)} (${shaOf(pull["merge_commit_sha"])})`;
  return { ...place, at: time(pull["merged_at"]), text, by: loginOf(pull["user"]), isLive: false };
}

function commitOf(item: Item, place: Place, { encoder }: ToolContext): Change {
  const commit = isRecord(item["commit"]) ? item["commit"] : {};
  const author = isRecord(commit["author"]) ? commit["author"] : {};
  const committer = isRecord(commit["committer"]) ? commit["committer"] : author;
  const [first = ""] = textOf(commit["message"]).split("\n");
  return {
    ...place,
    at: time(committer["date"]),
    text: `commit ${shaOf(item["sha"])} ${quoted(first, encoder)}`,
    by: loginOf(item["author"]) ?? (clip(textOf(author["name"]), 60, encoder) || undefined),
    isLive: false,
  };
}

function releaseOf(release: Item, place: Place, { encoder }: ToolContext): Change[] {
  const { draft, prerelease, tag_name: tag, published_at: at, author } = release;
  if (draft === true || textOf(at) === "") return [];
  const kind = prerelease === true ? "prerelease" : "release";
  const text = `${kind} ${clip(textOf(tag), 60, encoder)} ${quoted(release["name"], encoder)}`;
  return [{ ...place, at: time(at), text, by: loginOf(author), isLive: true }];
}

function deploymentOf(deployment: Item, place: Place, { encoder }: ToolContext): Change {
  const { sha, ref, environment, creator, created_at: created } = deployment;
  const { state, at, why } = statusOf(deployment);
  const what = clip(`${shaOf(sha)} (${textOf(ref)}) to ${textOf(environment)}`, 120, encoder);
  const words = why === "" ? "" : ` ${quoted(why, encoder)}`;
  return {
    ...place,
    at: at || time(created),
    text: `deployed ${what}: ${state}${words}`,
    by: loginOf(creator),
    isLive: true,
  };
}

function statusOf({ status }: Item): { state: string; at: number; why: string } {
  const { state, created_at: at, description } = isRecord(status) ? status : {};
  return {
    state: wordOf(state) || "no status",
    at: time(at),
    why: textOf(description),
  };
}

/** Environments whose newest deployment did not work. */
function brokenOf(deployments: readonly Item[], label: string): Finding[] {
  const newest = new Map<string, Item>();
  for (const each of deployments) {
    const environment = textOf(each["environment"]);
    const known = newest.get(environment);
    if (known === undefined || time(each["created_at"]) > time(known["created_at"]))
      newest.set(environment, each);
  }
  return [...newest].flatMap(([environment, deployment]) => {
    const { state, at, why } = statusOf(deployment);
    if (state !== "failure" && state !== "error") return [];
    const evidence = `${shaOf(deployment["sha"])} (${textOf(deployment["ref"])}), the newest deployment there, has the status ${state}.`;
    return [
      {
        object: { kind: "Deployment", namespace: label, name: environment },
        cause: why || `deployment ${state}`,
        severity: "error" as const,
        evidence,
        since: at === 0 ? null : iso(at),
      },
    ];
  });
}

/** Runs that failed and those that deploy are told, the same ones once; the others are counted. */
function runsOf(
  runs: readonly Item[],
  place: Place,
  { encoder }: ToolContext,
): { changes: Change[]; notes: string[] } {
  const isTold = (run: Item) =>
    !["success", "skipped", "neutral"].includes(textOf(run["conclusion"])) ||
    DEPLOYING.test(textOf(run["name"]));
  const groups = Map.groupBy(runs.filter(isTold), (run) =>
    [run["name"], run["head_branch"], run["conclusion"]].join("\0"),
  );
  const changes = [...groups.values()].map((same) => {
    const [newest = {}] = same.toSorted((a, b) => time(b["updated_at"]) - time(a["updated_at"]));
    const outcome = wordOf(newest["conclusion"]) || wordOf(newest["status"]) || "unknown";
    const times = same.length > 1 ? ` ×${same.length}` : "";
    const name = clip(textOf(newest["name"]), 60, encoder);
    const branch = clip(textOf(newest["head_branch"]), 60, encoder);
    return {
      ...place,
      at: time(newest["updated_at"]),
      text: `workflow ${name} on ${branch} (${shaOf(newest["head_sha"])}): ${outcome}${times}, run ${idOf(newest["id"])}`,
      by: loginOf(newest["actor"]),
      isLive: outcome === "success",
    };
  });
  const others = runs.filter((run) => !isTold(run));
  const names = [...Map.groupBy(others, (run) => clip(textOf(run["name"]), 40, encoder))]
    .map(([name, same]) => `${name} ×${same.length}`)
    .slice(0, 6);
  const notes =
    others.length === 0
      ? []
      : [`${counted(others.length, "other run")} went well: ${names.join(", ")}`];
  return { changes, notes: notes.map((note) => `${place.where}: ${note}`) };
}
