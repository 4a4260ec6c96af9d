import type { RequestListener } from "node:http";
import { type Answer, type Asked, route, serveRest } from "./rest.ts";

/** PagerDuty's REST API, version 2, as https://developer.pagerduty.com/api-reference has it. */

type Item = Record<string, unknown>;

export interface FakePagerduty {
  token: string;
  /** The mail addresses of its users. */
  users: string[];
  oncalls: Item[];
  incidents: Item[];
  services: Item[];
  notes: Record<string, Item[]>;
  log: Record<string, Item[]>;
  alerts: Record<string, Item[]>;
  /** The key only reads. */
  readOnly?: boolean;
  limited?: boolean;
  /** The status that writes answer with, after they were done. */
  failing?: number;
  /** So many lists by a key do not show yet what was just opened. */
  hidden?: number;
  writes: { method: string; path: string; json: unknown; from: string | undefined }[];
}

const error = (status: number, message: string, code: number, errors: string[] = []): Answer => ({
  status,
  body: { error: { message, code, ...(errors.length > 0 && { errors }) } },
});
const NOT_FOUND = error(404, "Not Found", 2100);
const paged = ["limit", "offset", "total"];

export function servePagerduty(fake: FakePagerduty): RequestListener {
  const list =
    (key: string, of: (asked: Asked, id: string) => Item[] | undefined) =>
    (asked: Asked, [id = ""]: readonly string[]): Answer => {
      const limit = Number(asked.query.get("limit") ?? "25");
      const offset = Number(asked.query.get("offset") ?? "0");
      if (limit > 100)
        return error(400, "Invalid Input Provided", 2001, ["Limit must be at most 100."]);
      const all = of(asked, id);
      if (all === undefined) return NOT_FOUND;
      const items = all.slice(offset, offset + limit);
      return {
        status: 200,
        body: { [key]: items, limit, offset, more: offset + limit < all.length, total: null },
      };
    };
  const incident = (id: string) => fake.incidents.find((each) => each["id"] === id);
  const of = (table: Record<string, Item[]>) => (_: Asked, id: string) =>
    incident(id) && (table[id] ?? []);
  const writing = (answer: Answer): Answer =>
    fake.failing === undefined ? answer : { status: fake.failing, body: "Bad gateway" };

  return serveRest({
    guard: (asked) => guard(fake, asked),
    unknown: () => NOT_FOUND,
    keep({ method, path, json, headers }) {
      if (method !== "GET") fake.writes.push({ method, path, json, from: headers.from });
    },
    routes: [
      route(
        "GET",
        /^oncalls$/,
        [...paged, "earliest", "escalation_policy_ids[]", "schedule_ids[]", "since", "until"],
        list("oncalls", ({ query }) => {
          const policies = query.getAll("escalation_policy_ids[]");
          return fake.oncalls.filter(
            (each) =>
              policies.length === 0 ||
              policies.includes((each["escalation_policy"] as { id: string }).id),
          );
        }),
      ),
      route(
        "GET",
        /^services$/,
        [...paged, "query"],
        list("services", () => fake.services),
      ),
      route(
        "GET",
        /^incidents$/,
        [
          ...paged,
          "statuses[]",
          "service_ids[]",
          "incident_key",
          "since",
          "until",
          "date_range",
          "sort_by",
        ],
        list("incidents", ({ query }) => {
          const [states, services] = [query.getAll("statuses[]"), query.getAll("service_ids[]")];
          const key = query.get("incident_key");
          if (key !== null && (fake.hidden ?? 0) > 0) {
            fake.hidden = (fake.hidden ?? 0) - 1;
            return [];
          }
          return fake.incidents.filter(
            (each) =>
              (key === null || each["incident_key"] === key) &&
              states.includes(String(each["status"])) &&
              (services.length === 0 || services.includes((each["service"] as { id: string }).id)),
          );
        }),
      ),
      route("GET", /^incidents\/(\w+)$/, [], (_, [id = ""]) => {
        const found = incident(id);
        return found === undefined ? NOT_FOUND : { status: 200, body: { incident: found } };
      }),
      route(
        "GET",
        /^incidents\/(\w+)\/log_entries$/,
        [...paged, "is_overview"],
        list("log_entries", of(fake.log)),
      ),
      route("GET", /^incidents\/(\w+)\/alerts$/, paged, list("alerts", of(fake.alerts))),
      route("GET", /^incidents\/(\w+)\/notes$/, [], (_, [id = ""]) =>
        incident(id) === undefined
          ? NOT_FOUND
          : { status: 200, body: { notes: fake.notes[id] ?? [] } },
      ),
      route("POST", /^incidents\/(\w+)\/notes$/, [], ({ json, headers }, [id = ""]) => {
        const { content } = (json?.["note"] ?? {}) as Item;
        if (typeof content !== "string")
          return error(400, "Invalid Input Provided", 2001, ["Note content cannot be empty."]);
        const note = {
          id: "PWL7QXS",
          content,
          created_at: new Date().toISOString(),
          user: { summary: headers.from },
        };
        (fake.notes[id] ??= []).unshift(note);
        return writing({ status: 200, body: { note } });
      }),
      route("PUT", /^incidents\/(\w+)$/, [], ({ json }, [id = ""]) =>
        writing(update(fake, incident(id), json)),
      ),
      route("POST", /^incidents$/, [], ({ json }) => writing(open(fake, json))),
    ],
  });
}

function guard(fake: FakePagerduty, { headers, method, json }: Asked): Answer | undefined {
  if (headers.authorization !== `Token token=${fake.token}`)
    return { status: 401, body: { error: { message: "Unauthorized", code: 2006 } } };
  if (fake.limited === true)
    return {
      ...error(429, "Rate Limit Exceeded", 2020),
      headers: { "ratelimit-limit": "960", "ratelimit-remaining": "0", "ratelimit-reset": "40" },
    };
  if (method === "GET") return undefined;
  if (json === undefined) return error(400, "Invalid Input Provided", 2001);
  if (headers.from === undefined)
    return error(400, "You must provide a valid email in the From header", 2001);
  if (!fake.users.includes(headers.from)) return error(400, "Requester User Not Found", 1008);
  return fake.readOnly === true ? error(403, "Access Denied", 2010) : undefined;
}

function update(fake: FakePagerduty, found: Item | undefined, json: Item | undefined): Answer {
  const { type, status, escalation_level: level, resolution } = (json?.["incident"] ?? {}) as Item;
  if (found === undefined) return NOT_FOUND;
  if (type !== "incident_reference" && type !== "incident")
    return error(400, "Invalid Input Provided", 2001, ["Incident type is invalid"]);
  if (found["status"] === "resolved")
    return error(400, "Invalid Input Provided", 2001, ["Incident Already Resolved"]);
  if (level !== undefined) {
    const entry = {
      type: "escalate_log_entry",
      created_at: new Date().toISOString(),
      summary: `Escalated to level ${JSON.stringify(level)}`,
    };
    (fake.log[String(found["id"])] ??= []).unshift(entry);
    return { status: 200, body: { incident: found } };
  }
  if (status !== "acknowledged" && status !== "resolved")
    return error(400, "Invalid Input Provided", 2001, ["Status is invalid"]);
  if (resolution !== undefined && status !== "resolved")
    return error(400, "Invalid Input Provided", 2001, ["Resolution is invalid"]);
  found["status"] = status;
  if (resolution !== undefined) found["resolution"] = resolution;
  return { status: 200, body: { incident: found } };
}

function open(fake: FakePagerduty, json: Item | undefined): Answer {
  const { type, title, service, incident_key: key, body } = (json?.["incident"] ?? {}) as Item;
  const found = fake.services.find((each) => each["id"] === (service as Item | undefined)?.["id"]);
  if (type !== "incident" || typeof title !== "string" || found === undefined)
    return error(400, "Invalid Input Provided", 2001, ["Service is invalid"]);
  if (title === "" || (body !== undefined && (body as Item)["type"] !== "incident_body"))
    return error(400, "Invalid Input Provided", 2001, ["Title or body is invalid"]);
  const isThere = (each: Item) =>
    each["status"] !== "resolved" &&
    each["incident_key"] === key &&
    (each["service"] as Item)["id"] === found["id"];
  if (key !== undefined && fake.incidents.some(isThere))
    return error(400, "Arguments Caused Error", 2002, [
      "Open incident with matching dedup key already exists on this service",
    ]);
  const id = fake.incidents.some((each) => each["id"] === "PNEWONE") ? "PNEWTWO" : "PNEWONE";
  const made = {
    id,
    html_url: `https://shop.pagerduty.com/incidents/${id}`,
    incident_key: key ?? `${id}-own`,
    body,
    type: "incident",
    title,
    status: "triggered",
    urgency: "high",
    created_at: new Date().toISOString(),
    service: { id: found["id"], type: "service_reference", summary: found["name"] },
    assignments: [],
  };
  fake.incidents.unshift(made);
  return { status: 201, body: { incident: made } };
}
