import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { isBody } from "./components.ts";
import type { Limits } from "./limits.ts";
import { invalidForm, Refusal, refusal } from "./refusals.ts";
import type { Platform } from "./platform.ts";
import type { Route } from "./route.ts";
import type { Body, FakeAttachment, FakeUpload } from "./world.ts";

/** One request as it was answered. */
export interface Call {
  method: string;
  /** Such as `/channels/:channel/messages`; the real one is `path`. */
  route: string;
  path: string;
  body: unknown;
  /** 0: the connection was cut, or the client gave up. */
  status: number;
  /** Discord's own code of a refusal. */
  code: number | undefined;
  ms: number;
}

/** What goes wrong with requests of a route. */
export interface Fault {
  status?: number;
  code?: number;
  message?: string;
  /** So many requests; 1. */
  times?: number;
  /** Seconds, of a 429. */
  retryAfter?: number;
  /** A 429 of the whole application's. */
  global?: boolean;
  /** Nothing is answered until the client gives up, and nothing carried out. */
  timeout?: boolean;
  /** The connection is reset before anything is carried out. */
  cut?: boolean;
  /** It is carried out, and the connection is reset in place of the answer. */
  cutAfterCarryingOut?: boolean;
  /** Only after so many milliseconds. */
  delayMs?: number;
}

interface Reply {
  status: number;
  headers: Record<string, string>;
  /** JSON; a 204 has none, and no content type either. */
  body?: unknown;
  html?: string;
}

interface Match {
  route: Route;
  params: ReadonlyMap<string, string>;
}

const MAX_BODY_BYTES = 26 * 1024 * 1024;

function matchOf(routes: readonly Route[], method: string, path: string): Match | undefined {
  const parts = path.split("/");
  for (const route of routes) {
    const pattern = route.pattern.split("/");
    if (route.method !== method || pattern.length !== parts.length) continue;
    const fits = pattern.every((each, index) => each.startsWith(":") || each === parts[index]);
    if (!fits) continue;
    const params = pattern.flatMap((each, index): [string, string][] =>
      each.startsWith(":") ? [[each.slice(1), decodeURIComponent(parts[index] ?? "")]] : [],
    );
    return { route, params: new Map(params) };
  }
  return undefined;
}

async function bodyOf(request: http.IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw refusal("tooLarge");
    chunks.push(chunk);
  }
  if (size === 0) return {};
  const bytes = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("application/json")) return jsonOf(bytes.toString());
  if (!type.startsWith("multipart/form-data")) {
    throw new Refusal(400, 50035, "Invalid Form Body", { body: { errors: {} } });
  }
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const written = form.get("payload_json");
  const body = jsonOf(typeof written === "string" ? written : "{}");
  // An interaction's answer names them in its data.
  const { attachments } = isBody(body["data"]) ? body["data"] : body;
  return { ...body, attachments: await uploadsOf(form, attachments) };
}

function jsonOf(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    return isBody(value) ? value : { list: value };
  } catch {
    throw refusal("invalidJson");
  }
}

/** The files of a form, each of which its JSON must name by the number in `files[0]`. @throws Refusal 50035 */
async function uploadsOf(form: FormData, named: unknown): Promise<FakeUpload[]> {
  const list = Array.isArray(named) ? named.filter(isBody) : [];
  const files = [...form].flatMap(([key, file]) =>
    typeof file === "string" ? [] : [{ key, file }],
  );
  return Promise.all(
    files.map(async ({ key, file }) => {
      const about = list.find(({ id }) => key === `files[${String(id)}]`);
      if (about?.["filename"] !== file.name || list.length !== files.length)
        throw invalidForm("attachments", "ATTACHMENT_NOT_NAMED", "Each file must be named");
      return { name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) };
    }),
  );
}

/** What the server needs of the rest. */
export interface ServerHost {
  readonly token: string;
  readonly routes: readonly Route[];
  readonly limits: Limits;
  readonly files: ReadonlyMap<string, FakeAttachment>;
  readonly upgrade: (request: http.IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly platform: () => Platform;
  readonly latencyMs: () => number;
}

/** The HTTP side, on a port of its own. */
export class RestServer {
  readonly calls: Call[] = [];
  readonly #host: ServerHost;
  readonly #server: http.Server;
  readonly #faults: { test: RegExp; fault: Fault; left: number }[] = [];

  constructor(host: ServerHost) {
    this.#host = host;
    this.#server = http.createServer((request, response) => {
      void this.#serve(request, response).catch((error: unknown) => {
        // A client may give up in the middle of its request; whatever else is a fault of the fake's own.
        if (request.complete) throw error;
      });
    });
    this.#server.on("upgrade", (request, socket, head) =>
      this.#host.upgrade(request, socket, head),
    );
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  fail(pattern: string, fault: Fault): void {
    const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
    const test = new RegExp(`^${escaped.replaceAll(/:\w+|\*/g, "[^/]+")}$`);
    this.#faults.push({ test, fault, left: fault.times ?? 1 });
  }

  /** Takes back every fault. */
  mend(): void {
    this.#faults.length = 0;
  }

  #faultFor(method: string, path: string): Fault | undefined {
    const found = this.#faults.find((each) => each.left > 0 && each.test.test(`${method} ${path}`));
    if (found !== undefined) found.left -= 1;
    return found?.fault;
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const startedAt = Date.now();
    const url = new URL(request.url ?? "", "http://localhost");
    const file = this.#host.files.get(url.pathname);
    if (file !== undefined && request.method === "GET") {
      response.writeHead(200, { "content-type": file.type, "content-length": file.bytes.length });
      response.end(file.bytes);
      return;
    }
    const method = request.method ?? "GET";
    const path = url.pathname.replace(/^\/api\/v10/, "");
    const match = url.pathname.startsWith("/api/v10/")
      ? matchOf(this.#host.routes, method, path)
      : undefined;
    const call: Call = {
      method,
      route: match?.route.pattern ?? path,
      path,
      body: undefined,
      status: 0,
      code: undefined,
      ms: 0,
    };
    this.calls.push(call);
    const gone = (): void => {
      call.ms = Date.now() - startedAt;
    };
    response.on("close", gone);
    const fault = this.#faultFor(method, path);
    const waitMs = this.#host.latencyMs() + (fault?.delayMs ?? 0);
    if (waitMs > 0) await sleep(waitMs);
    // The client has given up, or the server is being stopped.
    if (response.destroyed) return;
    if (fault?.timeout === true) return;
    if (fault?.cut === true) return void request.socket.resetAndDestroy();
    const reply = await this.#answer(request, url, match, call, fault);
    if (fault?.cutAfterCarryingOut === true) return void request.socket.resetAndDestroy();
    call.status = reply.status;
    call.ms = Date.now() - startedAt;
    this.#host.limits.note(reply.status, reply.headers["X-RateLimit-Scope"]);
    if (response.destroyed) return;
    if (reply.html !== undefined) {
      response
        .writeHead(reply.status, { ...reply.headers, "content-type": "text/html" })
        .end(reply.html);
    } else if (reply.body === undefined) response.writeHead(reply.status, reply.headers).end();
    else {
      const headers = { ...reply.headers, "content-type": "application/json" };
      response.writeHead(reply.status, headers).end(JSON.stringify(reply.body));
    }
  }

  async #answer(
    request: http.IncomingMessage,
    url: URL,
    match: Match | undefined,
    call: Call,
    fault: Fault | undefined,
  ): Promise<Reply> {
    let headers: Record<string, string> = {};
    try {
      if (this.#host.limits.banned) {
        return { status: 429, headers: { "Retry-After": "3600" }, html: "error code: 1015" };
      }
      const body = await bodyOf(request);
      call.body = Array.isArray(body["list"]) ? body["list"] : body;
      if (fault?.status !== undefined) throw faultOf(fault);
      if (match === undefined) throw new Refusal(404, 0, "404: Not Found");
      const { route, params } = match;
      if (route.open !== true && request.headers.authorization !== `Bot ${this.#host.token}`) {
        throw new Refusal(401, 0, "401: Unauthorized");
      }
      headers = this.#host.limits.take({
        method: route.method,
        pattern: route.pattern,
        major: params.get("channel") ?? params.get("guild") ?? params.get("token") ?? "",
        isInteraction: route.open === true,
      });
      for (const [name, value] of params) {
        if (
          !/^(channel|message|guild|user|interaction)$/.test(name) ||
          /^(\d{1,20}|@\w+)$/.test(value)
        )
          continue;
        throw new Refusal(400, 50035, "Invalid Form Body", {
          body: {
            errors: {
              [`${name}_id`]: {
                _errors: [
                  { code: "NUMBER_TYPE_COERCE", message: `Value "${value}" is not snowflake.` },
                ],
              },
            },
          },
        });
      }
      const param = (name: string): string => params.get(name) ?? "";
      const answer = route.run({
        platform: this.#host.platform(),
        param,
        query: url.searchParams,
        body,
      });
      if (answer === undefined) return { status: 204, headers };
      return { status: route.status ?? 200, headers, body: answer };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      call.code = Number(error.body["code"]);
      return { status: error.status, headers: { ...headers, ...error.headers }, body: error.body };
    }
  }
}

function faultOf(fault: Fault): Refusal {
  const status = fault.status ?? 500;
  const message =
    fault.message ?? (status === 429 ? "You are being rate limited." : `${status}: made to fail`);
  if (status !== 429) return new Refusal(status, fault.code ?? 0, message);
  const seconds = fault.retryAfter ?? 1;
  const isGlobal = fault.global === true;
  return new Refusal(status, fault.code ?? 0, message, {
    body: { retry_after: seconds, global: isGlobal },
    headers: {
      "Retry-After": String(seconds),
      "X-RateLimit-Scope": isGlobal ? "global" : "user",
      ...(isGlobal ? { "X-RateLimit-Global": "true" } : {}),
    },
  });
}
