import type { RequestListener } from "node:http";
import { type Answer, type Asked, pageOf, route, serveRest } from "./rest.ts";

/** GitLab's REST API, version 4, of the one project `acme/shop`, as https://docs.gitlab.com/api/rest/ has it. */

type Item = Record<string, unknown>;

export interface FakeGitlab {
  token: string;
  merges: Item[];
  diffs: Item[];
  deployments: Item[];
  releases: Item[];
  pipelines: Item[];
  /** With `pipeline`. */
  jobs: Item[];
  traces: Record<string, string>;
  /** Undefined: it is not told. */
  version?: string | undefined;
  branches?: string[];
  /** Nobody may push to them. */
  protected?: string[];
  /** A commit that cannot be reverted: `conflict` or `empty`. */
  stuck?: string;
  /** By a path, or by the method before it. */
  forbidden?: RegExp;
  failing?: number;
}

const refusal = (status: number, message: string): Answer => ({ status, body: { message } });
const paged = ["per_page", "page"];
const BASE = "/api/v4/projects/acme%2Fshop/";

export function serveGitlab(fake: FakeGitlab): RequestListener {
  const project = serveProject(fake);
  const server = serveRest({
    base: "/api/v4/",
    guard: ({ headers }) =>
      headers["private-token"] === fake.token ? undefined : refusal(401, "401 Unauthorized"),
    unknown: () => refusal(404, "404 Not Found"),
    routes: [
      route("GET", /^version$/, [], () =>
        fake.version === undefined
          ? refusal(403, "403 Forbidden")
          : { status: 200, body: { version: fake.version, revision: "4e963fe" } },
      ),
    ],
  });
  return (request, response) =>
    (request.url?.startsWith(BASE) === true ? project : server)(request, response);
}

/** Fields that the service does not document, or lacks; undefined: it is well. */
function mistaken(json: Item | undefined, needed: string[], more: string[] = []) {
  const given = Object.keys(json ?? {});
  const strange = given.filter((name) => ![...needed, ...more].includes(name));
  const missing = needed.filter((name) => !given.includes(name));
  if (strange.length > 0)
    return { status: 400, body: `the fake knows no field ${strange.join(", ")}` };
  return missing.length === 0
    ? undefined
    : { status: 400, body: { error: missing.map((name) => `${name} is missing`).join(", ") } };
}

function serveProject(fake: FakeGitlab): RequestListener {
  const list =
    (of: (asked: Asked, id: number) => Item[]) =>
    (asked: Asked, [id]: readonly string[]) =>
      pageOf(asked, of(asked, Number(id)), { base: BASE });
  const job = (id: string | undefined) => fake.jobs.find((each) => each["id"] === Number(id));
  const writing = (answer: Answer): Answer =>
    fake.failing === undefined ? answer : { status: fake.failing, body: "<html>" };
  const isRetried = (each: Item) =>
    fake.jobs.some(({ id, name }) => name === each["name"] && Number(id) > Number(each["id"]));
  return serveRest({
    base: BASE,
    guard({ headers, path, method }) {
      if (headers["private-token"] !== fake.token) return refusal(401, "401 Unauthorized");
      const places = [path, `${method} ${path}`];
      return places.some((place) => fake.forbidden?.test(place) === true)
        ? refusal(403, "403 Forbidden")
        : undefined;
    },
    unknown: () => refusal(404, "404 Not Found"),
    routes: [
      route(
        "GET",
        /^merge_requests$/,
        [...paged, "state", "updated_after", "created_after", "order_by", "sort"],
        list(({ query }) =>
          fake.merges.filter(({ state, created_at: at }) => {
            const wanted = query.get("state") ?? "all";
            const since = query.get("created_after");
            const isNew = since === null || Date.parse(String(at)) >= Date.parse(since);
            return isNew && (wanted === "all" || wanted === state);
          }),
        ),
      ),
      route("GET", /^merge_requests\/(\d+)$/, [], (_, [iid]) => {
        const body = fake.merges.find((each) => each["iid"] === Number(iid));
        return body === undefined ? refusal(404, "404 Not found") : { status: 200, body };
      }),
      route("GET", /^merge_requests\/\d+\/approvals$/, [], () => ({
        status: 200,
        body: { approved: true, approved_by: [{ user: { id: 1, username: "cy" } }] },
      })),
      route(
        "GET",
        /^merge_requests\/\d+\/diffs$/,
        paged,
        list(() => fake.diffs),
      ),
      route(
        "GET",
        /^deployments$/,
        [...paged, "updated_after", "order_by", "sort"],
        list(() => fake.deployments),
      ),
      route(
        "GET",
        /^releases$/,
        [...paged, "order_by", "sort"],
        list(() => fake.releases),
      ),
      route(
        "GET",
        /^pipelines$/,
        [...paged, "status", "updated_after", "updated_before", "order_by", "sort"],
        list(({ query }) =>
          fake.pipelines.filter(
            ({ status }) => query.get("status") === null || status === query.get("status"),
          ),
        ),
      ),
      route(
        "GET",
        /^pipelines\/(\d+)\/jobs$/,
        [...paged, "scope[]"],
        list((_, id) =>
          fake.jobs.filter((each) => (each["pipeline"] as Item)["id"] === id && !isRetried(each)),
        ),
      ),
      route("GET", /^jobs\/(\d+)$/, [], (_, [id]) => {
        const body = job(id);
        return body === undefined ? refusal(404, "404 Not found") : { status: 200, body };
      }),
      route("GET", /^jobs\/(\d+)\/trace$/, [], (_, [id = ""]) => ({
        status: 200,
        body: fake.traces[id] ?? "",
      })),
      route("POST", /^jobs\/(\d+)\/retry$/, [], (_, [id]) => {
        const found = job(id);
        if (found === undefined) return refusal(404, "404 Not found");
        if (found["status"] === "running" || isRetried(found))
          return refusal(403, "403 Forbidden - Job is not retryable");
        const made = {
          ...found,
          id: 900 + fake.jobs.length,
          status: "pending",
          created_at: new Date().toISOString(),
          finished_at: null,
        };
        fake.jobs.push(made);
        return writing({ status: 201, body: made });
      }),
      route("POST", /^jobs\/(\d+)\/cancel$/, [], (_, [id]) => {
        const found = job(id);
        if (found === undefined) return refusal(404, "404 Not found");
        found["status"] = "canceled";
        return writing({ status: 201, body: found });
      }),
      ...branchRoutes(fake, writing),
      ...mergeRoutes(fake, writing),
    ],
  });
}

type Writing = (answer: Answer) => Answer;

function branchRoutes(fake: FakeGitlab, writing: Writing) {
  fake.branches ??= ["main"];
  const { branches } = fake;
  return [
    route("GET", /^repository\/branches\/([^/]+)$/, [], (_, [name = ""]) =>
      branches.includes(name)
        ? { status: 200, body: { name, protected: false } }
        : refusal(404, "404 Branch Not Found"),
    ),
    route("POST", /^repository\/branches$/, [], ({ json }) => {
      const mistake = mistaken(json, ["branch", "ref"]);
      if (mistake !== undefined) return mistake;
      const name = String(json?.["branch"]);
      if (branches.includes(name)) return refusal(400, "Branch already exists");
      if (!branches.includes(String(json?.["ref"])))
        return refusal(400, `Invalid reference name: ${String(json?.["ref"])}`);
      branches.push(name);
      return { status: 201, body: { name, protected: false } };
    }),
    route("DELETE", /^repository\/branches\/([^/]+)$/, [], (_, [name = ""]) => {
      if (!branches.includes(name)) return refusal(404, "404 Branch Not Found");
      branches.splice(branches.indexOf(name), 1);
      return { status: 204 };
    }),
    route("POST", /^repository\/commits\/([0-9a-f]+)\/revert$/, [], ({ json }) => {
      const mistake = mistaken(json, ["branch"], ["dry_run"]);
      if (mistake !== undefined) return mistake;
      const branch = String(json?.["branch"]);
      if (fake.protected?.includes(branch) === true)
        return refusal(403, "403 Forbidden - You are not allowed to push into this branch");
      if (!branches.includes(branch)) return refusal(404, "404 Branch Not Found");
      if (fake.stuck !== undefined) {
        const message =
          "Sorry, we cannot revert this commit automatically. This commit may already have been reverted, or a more recent commit may have updated some of its content.";
        return { status: 400, body: { message, error_code: fake.stuck } };
      }
      if (json?.["dry_run"] === true) return { status: 200, body: { dry_run: "success" } };
      return writing({ status: 201, body: { id: "8b090c1b79a14f2bd9e8a738f717824ff53aebad" } });
    }),
  ];
}

function mergeRoutes(fake: FakeGitlab, writing: Writing) {
  return [
    route("POST", /^merge_requests$/, [], ({ json }) => {
      const needed = ["source_branch", "target_branch", "title"];
      const mistake = mistaken(json, needed, ["description", "remove_source_branch"]);
      if (mistake !== undefined) return mistake;
      const other = fake.merges.find(
        (each) => each["state"] === "opened" && each["source_branch"] === json?.["source_branch"],
      );
      if (other !== undefined)
        return {
          status: 409,
          body: {
            message: [
              `Another open merge request already exists for this source branch: !${String(other["iid"])}`,
            ],
          },
        };
      const iid = 1 + Math.max(...fake.merges.map((each) => Number(each["iid"])));
      const made = {
        ...json,
        id: 1_000 + iid,
        iid,
        state: "opened",
        author: { id: 1, username: "watchkeeper" },
        created_at: new Date().toISOString(),
        merged_at: null,
        merge_commit_sha: null,
        squash_commit_sha: null,
        web_url: `https://gitlab.example.com/acme/shop/-/merge_requests/${iid}`,
      };
      fake.merges.unshift(made);
      return writing({ status: 201, body: made });
    }),
    route("PUT", /^merge_requests\/(\d+)$/, [], ({ json }, [iid]) => {
      const mistake = mistaken(json, ["state_event"]);
      if (mistake !== undefined) return mistake;
      const found = fake.merges.find((each) => each["iid"] === Number(iid));
      if (found === undefined) return refusal(404, "404 Not found");
      const event = String(json?.["state_event"]);
      if (event !== "close" && event !== "reopen")
        return { status: 400, body: { error: "state_event does not have a valid value" } };
      found["state"] = event === "close" ? "closed" : "opened";
      return writing({ status: 200, body: found });
    }),
  ];
}
