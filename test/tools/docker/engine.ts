import type http from "node:http";
import { createTools } from "../../../src/tools/docker/tools.ts";
import { listenHttp } from "../network/servers.ts";

/** An engine that answers as Docker's API says, over a real connection. A real podman is in test/real. */

export const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
export const MINUTE = 60_000;

type Raw = Record<string, unknown>;

/** As an inspection says it. */
export function container(name: string, state: Raw = {}, more: Raw = {}) {
  const { HostConfig = {}, Config = {}, ...rest } = more;
  return {
    Id: `${name}-id`.padEnd(64, "0"),
    Name: `/${name}`,
    Image: "sha256:aaa",
    RestartCount: 0,
    Path: "/bin/app",
    Args: [],
    State: {
      Status: "running",
      Running: true,
      OOMKilled: false,
      ExitCode: 0,
      Error: "",
      StartedAt: ago(60 * MINUTE),
      FinishedAt: "0001-01-01T00:00:00Z",
      ...state,
    },
    HostConfig: {
      Memory: 0,
      NanoCpus: 0,
      PortBindings: {},
      RestartPolicy: { Name: "no" },
      ...(HostConfig as Raw),
    },
    Config: {
      Image: "shop/app:1",
      Tty: false,
      Env: ["PATH=/bin", "DATABASE_PASSWORD=hunter2-of-the-shop"],
      Labels: {},
      ...(Config as Raw),
    },
    NetworkSettings: { Networks: { shop: {} } },
    Mounts: [],
    ...rest,
  };
}

export const ended = (ExitCode: number, more: Raw = {}) => ({
  Status: "exited",
  Running: false,
  ExitCode,
  FinishedAt: ago(4 * MINUTE),
  ...more,
});

/** One of its container's use. */
export const reading = (total: number, system: number) => ({
  cpu_stats: { cpu_usage: { total_usage: total }, system_cpu_usage: system, online_cpus: 2 },
  memory_stats: {
    usage: 80 * 1024 * 1024,
    limit: 100 * 1024 * 1024,
    stats: { inactive_file: 30 * 1024 * 1024 },
  },
  pids_stats: { current: 3 },
});

export function frame(text: string, stream = 1): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([head, bytes]);
}

export interface Engine {
  containers?: ReturnType<typeof container>[];
  logs?: Record<string, Buffer>;
  about?: Raw;
  stats?: Raw[];
  events?: Raw[];
  images?: string[];
  /** What an action is answered with, in place of what it does. */
  acts?: { status: number; message: string };
}

/** Strict: another version, path or method than the API has is refused, as are parameters that it does not know. */
export async function engine({
  containers = [],
  logs = {},
  about = {},
  stats = [],
  events = [],
  images = ["sha256:aaa"],
  acts,
}: Engine = {}) {
  const asked: string[] = [];
  const known: Record<string, readonly string[]> = {
    "GET /version": [],
    "GET /containers/json": ["all"],
    "GET /containers/#/json": [],
    "GET /images/json": ["all"],
    "GET /containers/#/logs": ["stdout", "stderr", "timestamps", "tail", "since"],
    "GET /containers/#/stats": ["stream"],
    "GET /events": ["since", "until", "filters"],
    "POST /containers/#/restart": ["t"],
    "POST /containers/#/stop": ["t"],
    "POST /containers/#/start": [],
  };
  const port = await listenHttp((request: http.IncomingMessage, response) => {
    const url = new URL(request.url ?? "", "http://docker");
    asked.push(`${request.method} ${url.pathname}${url.search}`);
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const path = url.pathname.replace(/^\/v1\.47/, "");
    const [, id = "", rest = ""] = /^\/containers\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    const route = `${request.method} ${id === "" ? path : `/containers/#/${rest}`}`;
    const parameters = known[route];
    if (parameters === undefined) return json(404, { message: "page not found" });
    if ([...url.searchParams.keys()].some((name) => !parameters.includes(name)))
      return json(400, { message: "bad parameter" });
    const one = containers.find(({ Id, Name }) =>
      [Id, Name.slice(1)].includes(decodeURIComponent(id)),
    );
    if (id !== "" && one === undefined) return json(404, { message: `No such container: ${id}` });
    if (route === "GET /version")
      return json(200, {
        Version: "27.3.1",
        ApiVersion: "1.51",
        MinAPIVersion: "1.24",
        Components: [{ Name: "Engine" }],
        ...about,
      });
    if (route === "GET /containers/json")
      return json(
        200,
        containers
          .filter(({ State }) => url.searchParams.get("all") === "true" || State.Running)
          .map(({ Id, Name }) => ({ Id, Names: [Name] })),
      );
    if (route === "GET /images/json")
      return json(
        200,
        images.map((Id) => ({ Id })),
      );
    if (route === "GET /containers/#/json") return json(200, one);
    if (route === "GET /containers/#/stats") return json(200, stats.shift());
    if (route === "GET /events")
      return response.writeHead(200).end(events.map((event) => JSON.stringify(event)).join("\n"));
    if (route === "GET /containers/#/logs")
      return response
        .writeHead(200, { "content-type": "application/vnd.docker.multiplexed-stream" })
        .end(logs[one?.Name.slice(1) ?? ""] ?? Buffer.alloc(0));
    if (acts !== undefined) return json(acts.status, { message: acts.message });
    if (one !== undefined)
      Object.assign(
        one.State,
        rest === "stop"
          ? ended(143)
          : { Status: "running", Running: true, StartedAt: new Date().toISOString() },
      );
    return response.writeHead(204).end();
  });
  const endpoints = { default: { url: `http://127.0.0.1:${port}/` } };
  return { asked, endpoints, tools: createTools(endpoints) };
}
