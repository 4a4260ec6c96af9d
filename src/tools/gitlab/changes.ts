import * as z from "zod";
import type { Finding } from "../../core/finding.ts";
import { iso, quoted, time } from "../answer-words.ts";
import type { Change, ChangeSource, Window } from "../change.ts";
import { aroundFields, changesAround, lookAtEach, type Seen } from "../changes-around.ts";
import { idOf, isRecord, type Item, textOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import { readOr } from "../rest.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { mergedAs } from "./merge-request.ts";
import { type Project, type Projects, shaOf, userOf } from "./projects.ts";

const MAX = 200;

async function historyOf(
  projects: Projects,
  project: Project,
  window: Window,
  ctx: ToolContext,
): Promise<Seen> {
  const { name, path } = project;
  const rest = projects.rest(project, ctx);
  const { from, to } = window;
  const list = (what: string, at: string, params: Record<string, string>, newest?: string) =>
    readOr(ctx, `${what} of ${name}`, () =>
      rest.pages(
        `${path}/${at}`,
        { ...params, per_page: 100 },
        {
          max: MAX,
          isEnough: (page) => newest !== undefined && time(page.at(-1)?.[newest]) < from,
        },
      ),
    );
  const [merges, deployments, releases, pipelines] = await Promise.all([
    list("merge requests", "merge_requests", {
      state: "merged",
      updated_after: iso(from),
      order_by: "updated_at",
      sort: "desc",
    }),
    list("deployments", "deployments", {
      updated_after: iso(from),
      order_by: "updated_at",
      sort: "desc",
    }),
    list("releases", "releases", { order_by: "released_at", sort: "desc" }, "released_at"),
    list("pipelines", "pipelines", {
      updated_after: iso(from),
      updated_before: iso(to),
      order_by: "updated_at",
      sort: "desc",
    }),
  ]);
  const all = { merges, deployments, releases, pipelines };
  const gaps = Object.values(all).flatMap((each) => ("gap" in each ? [each.gap] : []));
  const [refused] = gaps;
  if (refused !== undefined && gaps.length === Object.keys(all).length)
    return { changes: [], gaps: [{ ...refused, what: name }], findings: [], isBlind: true };
  const cut = Object.entries(all).flatMap(([what, each]) =>
    "value" in each && !each.value.isWhole
      ? [
          {
            what: `older ${what} of ${name}`,
            why: `there are more than ${MAX}`,
            help: "Ask for a shorter time.",
          },
        ]
      : [],
  );
  const itemsOf = (each: typeof merges) => ("value" in each ? each.value.items : []);
  const place = { where: `gitlab ${name}`, about: [name.split("/").at(-1) ?? name] };
  const changes = [
    ...itemsOf(merges).map((item) => ({ ...place, ...mergeOf(item, ctx) })),
    ...itemsOf(deployments).map((item) => ({ ...place, ...deploymentOf(item, ctx) })),
    ...itemsOf(releases).map((item) => ({ ...place, ...releaseOf(item, ctx) })),
    ...itemsOf(pipelines)
      .filter(({ status }) => status === "failed")
      .map((item) => ({ ...place, ...pipelineOf(item, ctx) })),
  ].filter(({ at }) => at >= from && at <= to);
  return {
    changes,
    gaps: [...gaps, ...cut],
    findings: brokenOf(itemsOf(deployments), name),
    isBlind: false,
  };
}

type Told = Omit<Change, "where" | "about">;

function mergeOf(item: Item, { encoder }: ToolContext): Told {
  const sha = shaOf(mergedAs(item));
  const text = `merged !${idOf(item["iid"])} ${quoted(item["title"], encoder)} into ${clip(textOf(item["target_branch"]), 60, encoder)}${sha === "" ? "" : ` (${sha})`}`;
  return { at: time(item["merged_at"]), text, by: userOf(item["author"]), isLive: false };
}

function deploymentOf(item: Item, { encoder }: ToolContext): Told {
  const text = `deployed ${shaOf(item["sha"])} (${clip(textOf(item["ref"]), 60, encoder)}) to ${clip(environmentOf(item), 60, encoder)}: ${clip(textOf(item["status"]), 30, encoder)}`;
  return { at: time(item["updated_at"]), text, by: userOf(item["user"]), isLive: true };
}

function releaseOf(item: Item, { encoder }: ToolContext): Told {
  const text = `release ${clip(textOf(item["tag_name"]), 60, encoder)} ${quoted(item["name"], encoder)}`;
  return { at: time(item["released_at"]), text, by: userOf(item["author"]), isLive: true };
}

function pipelineOf(item: Item, { encoder }: ToolContext): Told {
  const text = `pipeline ${idOf(item["id"])} on ${clip(textOf(item["ref"]), 60, encoder)} (${shaOf(item["sha"])}): failed`;
  return { at: time(item["updated_at"]), text, isLive: false };
}

function environmentOf({ environment }: Item): string {
  return isRecord(environment) ? textOf(environment["name"]) : "";
}

/** Environments whose newest deployment failed. They come newest first. */
function brokenOf(deployments: readonly Item[], project: string): Finding[] {
  const newest = [...Map.groupBy(deployments, environmentOf)].flatMap(([environment, [first]]) =>
    first === undefined ? [] : [{ environment, first }],
  );
  return newest
    .filter(({ first }) => first["status"] === "failed")
    .map(({ environment, first }) => ({
      object: { kind: "Deployment", namespace: project, name: environment },
      cause: "deployment failed",
      severity: "error" as const,
      evidence: `${shaOf(first["sha"])} (${textOf(first["ref"])}), the newest deployment there, has failed.`,
      since: textOf(first["updated_at"]) || null,
    }));
}

function lookAt(
  projects: Projects,
  written: string | undefined,
  window: Window,
  ctx: ToolContext,
): Promise<Seen> {
  const all = written === undefined ? projects.all : [projects.find(written)];
  const words = { kind: "projects", nameOf: ({ name }: Project) => name };
  return lookAtEach(all, words, (each) => historyOf(projects, each, window, ctx));
}

export function createChanges(projects: Projects) {
  return defineTool({
    name: "gitlab_changes",
    summary: "shows what was merged, released and deployed around a time, and failed pipelines",
    description:
      "What changed in projects of GitLab around a time, the last change before it first: deployments with their status, releases, merge requests, failed pipelines. Without a project: all that are configured.",
    input: z.strictObject({ project: projects.argument, ...aroundFields }),
    effect: "read",
    doing: ({ project }) => `Looking for what changed in ${project}`,
    endpoints: projects.endpoints,
    timeoutMs: 60_000,
    run: ({ project, ...times }, ctx) =>
      orRefused(() =>
        changesAround(times, ctx, (window) => lookAt(projects, project, window, ctx)),
      ),
  });
}

/** What `what_changed` asks. */
export function changeSource(projects: Projects): ChangeSource {
  return {
    name: "gitlab",
    endpoints: projects.endpoints,
    changes: (window, ctx) => lookAt(projects, undefined, window, ctx),
  };
}
