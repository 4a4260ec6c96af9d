import type { RequestListener } from "node:http";
import { type Answer, type Asked, pageOf, route, serveRest } from "./rest.ts";

/** GitHub's REST API (2022-11-28) and the one mutation of GraphQL that is used, as https://docs.github.com/en/rest has them. */

export type Item = Record<string, unknown>;

interface FakeRepository {
  private?: boolean;
  has_issues?: boolean;
  commits?: Item[];
  pulls?: Item[];
  files?: Record<string, Item[]>;
  reviews?: Record<string, Item[]>;
  releases?: Item[];
  deployments?: Item[];
  statuses?: Record<string, Item[]>;
  runs?: Item[];
  jobs?: Record<string, Item[]>;
  logs?: Record<string, string>;
  issues?: Item[];
}

export interface FakeGithub {
  token: string;
  repositories: Record<string, FakeRepository>;
  /** Places that the token has no right to. */
  forbidden?: RegExp;
  /** The headers of a limit that is reached. */
  limited?: Record<string, string>;
  /** The status that writes answer with, after they were done. */
  failing?: number;
  /** Where the logs of jobs are: an address that is signed. */
  logs: string;
  /** Each request that changed something. */
  writes: { method: string; path: string; json: unknown }[];
}

const error = (status: number, message: string, more: Item = {}): Answer => ({
  status,
  body: {
    message,
    documentation_url: "https://docs.github.com/rest",
    status: String(status),
    ...more,
  },
});
const NOT_FOUND = error(404, "Not Found");

export function serveGithub(fake: FakeGithub, base = "/"): RequestListener {
  const inside =
    (work: (repository: FakeRepository, asked: Asked, parts: string[]) => Answer) =>
    (asked: Asked, [owner, name, ...parts]: readonly string[]): Answer => {
      const repository = fake.repositories[`${owner}/${name}`];
      return repository === undefined ? NOT_FOUND : work(repository, asked, parts);
    };
  const at = (rest: string) => new RegExp(`^repos/([^/]+)/([^/]+)${rest}$`);
  const paged = ["per_page", "page"];
  const list = (
    of: (repository: FakeRepository, parts: string[]) => Item[] | undefined,
    key?: string,
  ) =>
    inside((repository, asked, parts) => {
      const items = of(repository, parts);
      const size = Number(asked.query.get("per_page") ?? "30");
      if (size < 1 || size > 100) return error(422, "per_page out of range");
      return items === undefined
        ? NOT_FOUND
        : pageOf(asked, items, { base, ...(key !== undefined && { key }) });
    });
  const one = (of: (repository: FakeRepository, parts: string[]) => Item | undefined) =>
    inside((repository, _, parts) => {
      const body = of(repository, parts);
      return body === undefined ? NOT_FOUND : { status: 200, body };
    });
  const writing = (answer: Answer): Answer =>
    fake.failing === undefined ? answer : { status: fake.failing, body: "<html>Unicorn!</html>" };

  return serveRest({
    base,
    guard: (asked) => guard(fake, asked),
    unknown: () => NOT_FOUND,
    keep({ method, path, json }) {
      if (method !== "GET") fake.writes.push({ method, path, json });
    },
    routes: [
      route(
        "GET",
        at(""),
        [],
        one(({ private: isPrivate = true, has_issues = true }) => ({
          id: 1,
          node_id: "R_1",
          private: isPrivate,
          has_issues,
          default_branch: "main",
        })),
      ),
      route(
        "GET",
        at("/commits"),
        ["since", "until", "sha", ...paged],
        inside((repository, asked) =>
          pageOf(asked, between(repository.commits ?? [], asked), { base }),
        ),
      ),
      route(
        "GET",
        at("/commits/([0-9a-f]+)"),
        paged,
        one(({ commits = [] }, [sha = ""]) =>
          commits.find((commit) => String(commit["sha"]).startsWith(sha)),
        ),
      ),
      route(
        "GET",
        at("/commits/([0-9a-f]+)/pulls"),
        paged,
        list(({ pulls = [] }, [sha = ""]) =>
          pulls.filter((pull) => String(pull["merge_commit_sha"]).startsWith(sha)),
        ),
      ),
      route(
        "GET",
        at("/pulls"),
        ["state", "sort", "direction", "head", "base", ...paged],
        list(({ pulls = [] }) => pulls),
      ),
      route(
        "GET",
        at("/pulls/(\\d+)"),
        [],
        one(({ pulls = [] }, [number]) => pulls.find((pull) => pull["number"] === Number(number))),
      ),
      route(
        "GET",
        at("/pulls/(\\d+)/files"),
        paged,
        list(({ files = {} }, [number = ""]) => files[number] ?? []),
      ),
      route(
        "GET",
        at("/pulls/(\\d+)/reviews"),
        paged,
        list(({ reviews = {} }, [number = ""]) => reviews[number] ?? []),
      ),
      route(
        "GET",
        at("/releases"),
        paged,
        list(({ releases = [] }) => releases),
      ),
      route(
        "GET",
        at("/deployments"),
        ["sha", "ref", "task", "environment", ...paged],
        list(({ deployments = [] }) => deployments),
      ),
      route(
        "GET",
        at("/deployments/(\\d+)/statuses"),
        paged,
        list(({ statuses = {} }, [id = ""]) => statuses[id] ?? []),
      ),
      route(
        "GET",
        at("/actions/runs"),
        ["created", "status", "branch", "actor", ...paged],
        inside((repository, asked) => runsOf(repository, asked, base)),
      ),
      route(
        "GET",
        at("/actions/runs/(\\d+)"),
        [],
        one(({ runs = [] }, [id]) => runs.find((run) => run["id"] === Number(id))),
      ),
      route(
        "GET",
        at("/actions/runs/(\\d+)/jobs"),
        ["filter", ...paged],
        list(({ jobs = {} }, [id = ""]) => jobs[id], "jobs"),
      ),
      route(
        "GET",
        at("/actions/jobs/(\\d+)/logs"),
        [],
        inside((_, __, [id]) => ({
          status: 302,
          headers: { location: `${fake.logs}/${id}?sig=c2lnbmF0dXJl` },
        })),
      ),
      route(
        "POST",
        at("/actions/runs/(\\d+)/(rerun|rerun-failed-jobs)"),
        [],
        inside(({ runs = [] }, _, [id, what]) =>
          writing(
            rerun(
              runs.find((run) => run["id"] === Number(id)),
              what,
            ),
          ),
        ),
      ),
      route(
        "POST",
        at("/actions/runs/(\\d+)/cancel"),
        [],
        inside(({ runs = [] }, _, [id]) =>
          writing(cancel(runs.find((run) => run["id"] === Number(id)))),
        ),
      ),
      route(
        "GET",
        at("/issues"),
        ["state", "since", "sort", "direction", ...paged],
        list(({ issues = [], pulls = [] }) => [
          ...issues,
          ...pulls.map((pull) => ({
            ...pull,
            pull_request: { merged_at: pull["merged_at"] ?? null },
          })),
        ]),
      ),
      route(
        "POST",
        at("/issues"),
        [],
        inside((repository, asked) => writing(openIssue(repository, asked))),
      ),
      route(
        "GET",
        at("/issues/(\\d+)"),
        [],
        one((repository, [number]) => issueOf(repository, Number(number))),
      ),
      route(
        "PATCH",
        at("/issues/(\\d+)"),
        [],
        inside((repository, { json }, [number]) => {
          const item = [...(repository.issues ?? []), ...(repository.pulls ?? [])].find(
            (each) => each["number"] === Number(number),
          );
          if (item === undefined) return NOT_FOUND;
          if (!["open", "closed"].includes(String(json?.["state"])))
            return error(422, "Validation Failed");
          item["state"] = json?.["state"];
          return writing({ status: 200, body: item });
        }),
      ),
      route("POST", /^graphql$/, [], ({ json }) => writing(mutate(fake, json))),
    ],
  });
}

function guard(fake: FakeGithub, { headers, path, method, json }: Asked): Answer | undefined {
  if (headers["user-agent"] === undefined)
    return {
      status: 403,
      body: "Request forbidden by administrative rules. Please make sure your request has a User-Agent header",
    };
  if (headers.authorization !== `Bearer ${fake.token}`) return error(401, "Bad credentials");
  if (headers["x-github-api-version"] !== "2022-11-28")
    return error(400, '"" is not a supported API version.');
  if (fake.limited !== undefined)
    return {
      ...error(403, "You have exceeded a secondary rate limit. Please wait a few minutes."),
      headers: fake.limited,
    };
  if (fake.forbidden?.test(path) === true)
    return error(403, "Resource not accessible by personal access token");
  if (method !== "GET" && json === undefined) return error(400, "Problems parsing JSON");
  return undefined;
}

function between(commits: readonly Item[], { query }: Asked): Item[] {
  const bound = (name: string, other: number) => Date.parse(query.get(name) ?? "") || other;
  const [from, to] = [bound("since", 0), bound("until", Infinity)];
  return commits.filter((commit) => {
    const { committer } = commit["commit"] as { committer: { date: string } };
    return Date.parse(committer.date) >= from && Date.parse(committer.date) <= to;
  });
}

function runsOf({ runs = [] }: FakeRepository, asked: Asked, base: string): Answer {
  const [from = "", to = ""] = (asked.query.get("created") ?? "..").split("..");
  const status = asked.query.get("status");
  const found = runs.filter((run) => {
    const at = String(run["created_at"]);
    return (
      (from === "" || at >= from) &&
      (to === "" || at <= to) &&
      (status === null || run["conclusion"] === status || run["status"] === status)
    );
  });
  return pageOf(asked, found, { base, key: "workflow_runs" });
}

function rerun(run: Item | undefined, what = ""): Answer {
  if (run === undefined) return NOT_FOUND;
  if (run["status"] !== "completed") return error(403, "This workflow is already running");
  if (what === "rerun-failed-jobs" && run["conclusion"] === "success")
    return error(403, "This workflow run cannot be retried");
  Object.assign(run, {
    status: "queued",
    conclusion: null,
    run_attempt: Number(run["run_attempt"]) + 1,
  });
  return { status: 201, body: {} };
}

function cancel(run: Item | undefined): Answer {
  if (run === undefined) return NOT_FOUND;
  if (run["status"] === "completed")
    return error(409, "Cannot cancel a workflow run that is completed.");
  Object.assign(run, { status: "completed", conclusion: "cancelled" });
  return { status: 202, body: {} };
}

function nextNumber({ issues = [], pulls = [] }: FakeRepository): number {
  return Math.max(0, ...[...issues, ...pulls].map((each) => Number(each["number"]))) + 1;
}

function openIssue(repository: FakeRepository, { json }: Asked): Answer {
  if (typeof json?.["title"] !== "string" || json["title"] === "")
    return error(422, "Validation Failed", {
      errors: [{ resource: "Issue", code: "missing_field", field: "title" }],
    });
  const number = nextNumber(repository);
  const issue = {
    number,
    node_id: `I_${number}`,
    state: "open",
    user: { login: "watchkeeper-bot" },
    title: json["title"],
    body: json["body"],
    created_at: new Date().toISOString(),
    html_url: `https://github.com/acme/shop/issues/${number}`,
  };
  (repository.issues ??= []).unshift(issue);
  return { status: 201, body: issue };
}

function issueOf({ issues = [], pulls = [] }: FakeRepository, number: number): Item | undefined {
  const pull = pulls.find((each) => each["number"] === number);
  if (pull === undefined) return issues.find((each) => each["number"] === number);
  return { ...pull, pull_request: { merged_at: pull["merged_at"] ?? null } };
}

/** As GitHub answers: 200, and what is wrong in `errors`. */
function mutate(fake: FakeGithub, json: Item | undefined): Answer {
  const wrong = (message: string, type: string) => ({
    status: 200,
    body: {
      data: { revertPullRequest: null },
      errors: [{ type, path: ["revertPullRequest"], message }],
    },
  });
  const { query, variables } = json ?? {};
  if (
    !/^mutation\(\$id: ID!\) \{ revertPullRequest\(input: \{ pullRequestId: \$id \}\) \{ revertPullRequest \{ (?:(?:id|number|url) ?)+\} \} \}$/.test(
      String(query),
    )
  )
    return { status: 200, body: { errors: [{ message: "Parse error" }] } };
  const { id } = variables as { id: string };
  for (const [name, repository] of Object.entries(fake.repositories)) {
    const pull = repository.pulls?.find((each) => each["node_id"] === id);
    if (pull === undefined) continue;
    if (pull["merged_at"] === null) return wrong("Pull request is not merged", "UNPROCESSABLE");
    if (fake.forbidden?.test("graphql revert") === true)
      return wrong("Resource not accessible by personal access token", "FORBIDDEN");
    const number = nextNumber(repository);
    const { ref } = pull["head"] as { ref: string };
    const url = `https://github.com/${name}/pull/${number}`;
    const made = {
      number,
      node_id: `PR_${number}`,
      state: "open",
      title: `Revert "${String(pull["title"])}"`,
      body: `Reverts ${name}#${String(pull["number"])}`,
      head: { ref: `revert-${String(pull["number"])}-${ref}` },
      base: pull["base"],
      created_at: new Date().toISOString(),
      updated_at: new Date().toISOString(),
      merged_at: null,
    };
    repository.pulls?.unshift(made);
    return {
      status: 200,
      body: {
        data: { revertPullRequest: { revertPullRequest: { id: made.node_id, number, url } } },
      },
    };
  }
  return wrong(`Could not resolve to a node with the global id of '${id}'`, "NOT_FOUND");
}
