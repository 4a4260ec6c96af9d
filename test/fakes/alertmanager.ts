import { randomUUID } from "node:crypto";
import type { RequestListener, ServerResponse } from "node:http";

/** Alertmanager's API (0.25) as far as the tools use it, to which `test/real/alertmanager.real.ts` holds it. */
export interface FakeAlertmanager {
  alerts: FakeAlert[];
  silences: FakeSilence[];
  token?: string;
  /** Each request that changed something. */
  writes: { method: string; path: string; body: unknown }[];
  /** The status of the next write, which is done all the same. */
  failing?: number;
}

interface FakeAlert {
  labels: Record<string, string>;
  annotations?: Record<string, string>;
  startsAt?: string;
  inhibitedBy?: string[];
}

interface Matcher {
  name: string;
  value: string;
  isRegex: boolean;
  isEqual?: boolean;
}

export interface FakeSilence {
  id: string;
  matchers: Matcher[];
  startsAt: string;
  endsAt: string;
  updatedAt: string;
  createdBy: string;
  comment: string;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export function emptyAlertmanager(): FakeAlertmanager {
  return { alerts: [], silences: [], writes: [] };
}

export function serveAlertmanager(fake: FakeAlertmanager): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (fake.token !== undefined && request.headers.authorization !== `Bearer ${fake.token}`) {
        response.writeHead(403).end("Forbidden\n");
        return;
      }
      const { method = "", url = "", headers } = request;
      const text = Buffer.concat(chunks).toString();
      const isJson = headers["content-type"] === "application/json";
      serve(fake, { method, url: new URL(url, "http://localhost"), text, isJson }, response);
    });
  };
}

interface Asked {
  method: string;
  url: URL;
  text: string;
  isJson: boolean;
}

function serve(fake: FakeAlertmanager, asked: Asked, response: ServerResponse): void {
  const path = asked.url.pathname.replace(/^.*\/api\/v2/, "");
  const [, id] = /^\/silence\/([^/]+)$/.exec(path) ?? [];
  if (path === "/alerts" && asked.method === "GET") getAlerts(fake, asked.url, response);
  else if (path === "/silences" && asked.method === "GET")
    send(response, 200, fake.silences.map(shown));
  else if (path === "/silences" && asked.method === "POST") postSilence(fake, asked, response);
  else if (id !== undefined) oneSilence(fake, id, asked.method, response);
  else send(response, 404, { code: 404, message: `path ${asked.url.pathname} was not found` });
}

function getAlerts(fake: FakeAlertmanager, url: URL, response: ServerResponse): void {
  const matchers: Matcher[] = [];
  for (const filter of url.searchParams.getAll("filter")) {
    const [, name = "", sign = "", quoted = ""] =
      /^(\w+)(=~|!~|!=|=)(".*"|[^"]*)$/s.exec(filter) ?? [];
    if (name === "") return send(response, 400, `bad matcher format: ${filter}`);
    if (/[^\\]"./s.test(quoted.slice(1)))
      return send(response, 400, `matcher value contains unescaped double quote: ${quoted}`);
    const value = quoted.replace(/^"(.*)"$/s, "$1").replaceAll(/\\(.)/g, "$1");
    matchers.push({ name, value, isRegex: sign.endsWith("~"), isEqual: !sign.startsWith("!") });
  }
  const found = fake.alerts.filter((alert) => matches(alert, matchers));
  return send(
    response,
    200,
    found.map((alert) => shownAlert(fake, alert)),
  );
}

function shownAlert(fake: FakeAlertmanager, alert: FakeAlert): object {
  const {
    labels,
    annotations = {},
    startsAt = "2026-11-23T01:00:00.000Z",
    inhibitedBy = [],
  } = alert;
  const silencedBy = fake.silences
    .filter((silence) => stateOf(silence) === "active" && matches(alert, silence.matchers))
    .map(({ id }) => id);
  const state = silencedBy.length + inhibitedBy.length > 0 ? "suppressed" : "active";
  return { labels, annotations, startsAt, status: { state, silencedBy, inhibitedBy } };
}

function matches({ labels }: FakeAlert, matchers: readonly Matcher[]): boolean {
  return matchers.every(({ name, value, isRegex, isEqual = true }) => {
    const has = labels[name] ?? "";
    return (isRegex ? new RegExp(`^(?:${value})$`).test(has) : has === value) === isEqual;
  });
}

function stateOf({ startsAt, endsAt }: FakeSilence): string {
  const now = Date.now();
  if (Date.parse(endsAt) <= now) return "expired";
  return Date.parse(startsAt) > now ? "pending" : "active";
}

function shown(silence: FakeSilence): object {
  return { ...silence, status: { state: stateOf(silence) } };
}

/** Each of these answers was given by the real one. */
function problemOf({ isJson, text }: Asked): [status: number, body: unknown] | FakeSilence {
  if (!isJson) {
    const message = 'unsupported media type "text/plain", only [application/json] are allowed';
    return [415, { code: 415, message }];
  }
  const body = JSON.parse(text) as FakeSilence;
  for (const field of ["comment", "createdBy", "endsAt", "matchers", "startsAt"] as const) {
    if (body[field] === undefined)
      return [422, { code: 602, message: `${field} in body is required` }];
  }
  if (body.matchers.length === 0)
    return [422, { code: 612, message: "matchers in body should have at least 1 items" }];
  const [starts, ends] = [Date.parse(body.startsAt), Date.parse(body.endsAt)];
  if (starts >= ends) return [400, "Failed to create silence: start time must be before end time"];
  if (ends < Date.now()) return [400, "Failed to create silence: end time can't be in the past"];
  if (matches({ labels: {} }, body.matchers))
    return [400, "silence invalid: at least one matcher must not match the empty string"];
  return body;
}

function postSilence(fake: FakeAlertmanager, asked: Asked, response: ServerResponse): void {
  const read = problemOf(asked);
  if (Array.isArray(read)) return send(response, ...read);
  const silence = { ...read, id: randomUUID(), updatedAt: new Date().toISOString() };
  fake.silences.push(silence);
  written(fake, "POST", "/silences", read);
  return send(response, fake.failing ?? 200, { silenceID: silence.id });
}

function oneSilence(
  fake: FakeAlertmanager,
  id: string,
  method: string,
  response: ServerResponse,
): void {
  if (!UUID.test(id)) {
    const message = `silenceID in path must be of type uuid: ${JSON.stringify(id)}`;
    return send(response, 422, { code: 601, message });
  }
  const silence = fake.silences.find((each) => each.id === id);
  if (method === "GET" && silence === undefined) {
    response.writeHead(404).end();
    return undefined;
  }
  if (silence === undefined) return send(response, 500, "silence not found");
  if (method === "GET") return send(response, 200, shown(silence));
  silence.endsAt = new Date().toISOString();
  written(fake, method, `/silence/${id}`, undefined);
  response.writeHead(fake.failing ?? 200).end();
  return undefined;
}

function written(fake: FakeAlertmanager, method: string, path: string, body: unknown): void {
  fake.writes.push({ method, path, body });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify(body)}\n`);
}
