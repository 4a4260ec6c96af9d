import type { RequestListener } from "node:http";
import { type Answer, route, serveRest } from "./rest.ts";

/** Grafana's HTTP API, as https://grafana.com/docs/grafana/latest/developers/http_api/ has it. */

type Item = Record<string, unknown>;

export interface FakeGrafana {
  token: string;
  boards: Item[];
  annotations: Item[];
  /** What queries give, by their expression. */
  results: Record<string, Item>;
  /** The queries that were run. */
  queries: Item[];
  forbidden?: RegExp;
  failing?: number;
  writes: { method: string; path: string; json: unknown }[];
}

const refusal = (status: number, message: string): Answer => ({ status, body: { message } });

export function serveGrafana(fake: FakeGrafana): RequestListener {
  const writing = (answer: Answer): Answer =>
    fake.failing === undefined ? answer : { status: fake.failing, body: "<html>" };
  const annotation = (id: string) => fake.annotations.find((each) => each["id"] === Number(id));
  return serveRest({
    base: "/api/",
    guard({ headers, path }) {
      if (headers.authorization !== `Bearer ${fake.token}`) return refusal(401, "Invalid API key");
      return fake.forbidden?.test(path) === true
        ? refusal(403, "You'll need additional permissions to perform this action.")
        : undefined;
    },
    unknown: () => refusal(404, "Not found"),
    keep({ method, path, json }) {
      if (method !== "GET" && path !== "ds/query") fake.writes.push({ method, path, json });
    },
    routes: [
      route("GET", /^search$/, ["query", "tag", "type", "limit", "page"], ({ query }) => {
        const words = (query.get("query") ?? "").toLowerCase();
        const found = fake.boards.filter(({ title }) =>
          String(title).toLowerCase().includes(words),
        );
        const body = found.map(({ uid, title }) => ({
          uid,
          title,
          type: "dash-db",
          folderTitle: "Shop",
          tags: ["prod"],
        }));
        return { status: 200, body: body.slice(0, Number(query.get("limit") ?? "1000")) };
      }),
      route("GET", /^dashboards\/uid\/([\w-]+)$/, [], (_, [uid]) => {
        const dashboard = fake.boards.find((each) => each["uid"] === uid);
        return dashboard === undefined
          ? refusal(404, "Dashboard not found")
          : { status: 200, body: { dashboard, meta: { folderTitle: "Shop" } } };
      }),
      route("POST", /^ds\/query$/, [], ({ json }) => runQueries(fake, json)),
      route(
        "GET",
        /^annotations$/,
        ["from", "to", "limit", "type", "tags", "dashboardUID"],
        ({ query: asked }) => {
          const [from, to] = [Number(asked.get("from")), Number(asked.get("to"))];
          const [tags, board] = [asked.getAll("tags"), asked.get("dashboardUID")];
          const body = fake.annotations.filter(
            ({ time, tags: own, dashboardUID }) =>
              Number(time) >= from &&
              Number(time) <= to &&
              tags.every((tag) => (own as string[]).includes(tag)) &&
              (board === null || dashboardUID === board),
          );
          return { status: 200, body };
        },
      ),
      route("POST", /^annotations$/, [], ({ json }) => {
        if (typeof json?.["text"] !== "string" || json["text"] === "")
          return refusal(400, "Failed to save annotation");
        const id = fake.annotations.length + 1;
        fake.annotations.push({ ...json, id, login: "sa-bot" });
        return writing({ status: 200, body: { message: "Annotation added", id } });
      }),
      route("GET", /^annotations\/(\d+)$/, [], (_, [id = ""]) => {
        const body = annotation(id);
        return body === undefined ? refusal(404, "Annotation not found") : { status: 200, body };
      }),
      route("DELETE", /^annotations\/(\d+)$/, [], (_, [id = ""]) => {
        const found = annotation(id);
        if (found === undefined) return refusal(404, "Annotation not found");
        fake.annotations.splice(fake.annotations.indexOf(found), 1);
        return writing({ status: 200, body: { message: "Annotation deleted" } });
      }),
    ],
  });
}

function runQueries(fake: FakeGrafana, json: Item | undefined): Answer {
  const { queries, from, to } = json ?? {};
  if (
    typeof from !== "string" ||
    typeof to !== "string" ||
    !Array.isArray(queries) ||
    queries.length === 0
  )
    return refusal(400, "bad request data");
  const results: Item = {};
  for (const each of queries as Item[]) {
    const { uid } = (each["datasource"] ?? {}) as Item;
    if (uid !== "prom-1") return { status: 404, body: { message: "data source not found" } };
    fake.queries.push(each);
    results[String(each["refId"])] = fake.results[String(each["expr"])] ?? {
      status: 200,
      frames: [],
    };
  }
  const failed = Object.values(results).filter((each) => "error" in (each as Item)).length;
  const whole = failed === Object.keys(results).length ? 400 : 207;
  return { status: failed === 0 ? 200 : whole, body: { results } };
}
