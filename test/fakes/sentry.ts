import type { RequestListener } from "node:http";
import { type Answer, pageOf, route, serveRest } from "./rest.ts";

/** Sentry's web API, version 0, as https://docs.sentry.io/api/ has it. */

type Item = Record<string, unknown>;

export interface FakeSentry {
  token: string;
  issues: Item[];
  /** The newest event of each issue, by the issue's number. */
  events: Record<string, Item>;
  forbidden?: boolean;
  limited?: boolean;
  /** The search that the last list was asked for. */
  query?: string;
}

const refusal = (status: number, detail: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body: { detail },
  headers,
});
const NOT_FOUND = refusal(404, "The requested resource does not exist");

export function serveSentry(fake: FakeSentry): RequestListener {
  const one = (body: Item | undefined): Answer =>
    body === undefined ? NOT_FOUND : { status: 200, body };
  return serveRest({
    base: "/api/0/",
    guard({ headers }) {
      if (headers.authorization !== `Bearer ${fake.token}`) return refusal(401, "Invalid token");
      if (fake.limited === true)
        return refusal(
          429,
          "You are attempting to use this endpoint too frequently. Limit is 40 requests in 1 seconds",
          { "x-sentry-rate-limit-reset": String(Math.ceil(Date.now() / 1_000) + 30) },
        );
      return fake.forbidden === true
        ? refusal(403, "You do not have permission to perform this action.")
        : undefined;
    },
    unknown: () => NOT_FOUND,
    routes: [
      route(
        "GET",
        /^organizations\/acme\/issues\/$/,
        ["query", "statsPeriod", "sort", "limit", "cursor"],
        (asked) => {
          fake.query = asked.query.get("query") ?? "";
          if (!/^\d+[smhdw]$/.test(asked.query.get("statsPeriod") ?? ""))
            return refusal(400, "Invalid stats_period. Valid choices are '', '24h', and '14d'");
          if (!["date", "new", "freq", "user"].includes(asked.query.get("sort") ?? "date"))
            return refusal(400, "Invalid sort");
          const { body } = pageOf(
            {
              ...asked,
              query: new URLSearchParams({ per_page: asked.query.get("limit") ?? "100" }),
            },
            fake.issues,
          );
          const has = fake.issues.length > 100;
          const self = `https://us.sentry.io/api/0/${asked.path}?${asked.query.toString()}`;
          return {
            status: 200,
            body,
            headers: {
              link: `<${self}&cursor=0:0:1>; rel="previous"; results="false"; cursor="0:0:1", <${self}&cursor=0:100:0>; rel="next"; results="${String(has)}"; cursor="0:100:0"`,
            },
          };
        },
      ),
      route("GET", /^organizations\/acme\/shortids\/([\w-]+)\/$/, [], (_, [id]) => {
        const group = fake.issues.find(({ shortId }) => shortId === id);
        return one(group && { organizationSlug: "acme", shortId: id, groupId: group["id"], group });
      }),
      route("GET", /^organizations\/acme\/issues\/(\d+)\/$/, [], (_, [id]) =>
        one(fake.issues.find((each) => each["id"] === id)),
      ),
      route(
        "GET",
        /^organizations\/acme\/issues\/(\d+)\/events\/latest\/$/,
        ["environment"],
        (_, [id = ""]) => one(fake.events[id]),
      ),
    ],
  });
}
