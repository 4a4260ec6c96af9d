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
  forbidden?: RegExp;
  failing?: number;
}

const refusal = (status: number, message: string): Answer => ({ status, body: { message } });
const paged = ["per_page", "page"];
const BASE = "/api/v4/projects/acme%2Fshop/";

export function serveGitlab(fake: FakeGitlab): RequestListener {
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
    guard({ headers, path }) {
      if (headers["private-token"] !== fake.token) return refusal(401, "401 Unauthorized");
      return fake.forbidden?.test(path) === true ? refusal(403, "403 Forbidden") : undefined;
    },
    unknown: () => refusal(404, "404 Not Found"),
    routes: [
      route(
        "GET",
        /^merge_requests$/,
        [...paged, "state", "updated_after", "order_by", "sort"],
        list(() => fake.merges),
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
    ],
  });
}
