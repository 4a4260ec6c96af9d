import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { chatMethods } from "./chat.ts";
import { conversationMethods } from "./conversations.ts";
import { takeReply } from "./doors.ts";
import { directoryMethods } from "./directory.ts";
import { serveFile } from "./files.ts";
import { readArgs, type Method, type Methods } from "./method.ts";
import { argumentsOf, bodyOf } from "./requests.ts";
import { reactionMethods } from "./reactions.ts";
import { sessionMethods } from "./sessions.ts";
import { streamMethods } from "./streams.ts";
import type { Sockets } from "./sockets.ts";
import type { Call, Data, Fault } from "./types.ts";
import { takeUpload, uploadMethods } from "./uploads.ts";
import { viewMethods } from "./views.ts";
import { Refusal, requireScope, type World } from "./world.ts";

export interface WebApi {
  readonly calls: readonly Call[];
  listen(): Promise<void>;
  close(): Promise<void>;
  fail(method: string, fault: Fault): void;
  mend(): void;
  tokenState(state: string): void;
}

interface Tokens {
  readonly botToken: string;
  readonly appToken: string;
}

/** What JSON arguments are in a form. Parsed for `calls`, so that a test need not. */
const JSON_ARGUMENTS = ["blocks", "chunks", "metadata", "view"];

function readable(args: Data): Data {
  const { token: _token, ...rest } = args;
  for (const name of JSON_ARGUMENTS) {
    const value = rest[name];
    if (typeof value !== "string") continue;
    try {
      rest[name] = JSON.parse(value) as unknown;
    } catch {
      // What is no JSON stays as it came: the method refuses it.
    }
  }
  return rest;
}

/** The Web API on 127.0.0.1 and a free port, with all that Slack serves beside it: sockets, files, response URLs. */
export function createWebApi(world: World, sockets: Sockets, tokens: Tokens): WebApi {
  const calls: Call[] = [];
  const faults: { method: string; fault: Fault; left: number }[] = [];
  let tokenState = "valid";
  const methods: Methods = {
    ...directoryMethods(world),
    ...chatMethods(world),
    ...streamMethods(world),
    ...sessionMethods(world),
    ...reactionMethods(world),
    ...conversationMethods(world),
    ...viewMethods(world),
    ...uploadMethods(world),
    "apps.connections.open": {
      isForApp: true,
      run: () => ({ url: sockets.ticket() }),
    },
  };

  function authenticate(method: Method, token: string | undefined): void {
    if (token === undefined || token === "") throw new Refusal("not_authed");
    const isApp = token === tokens.appToken;
    if (!isApp && token !== tokens.botToken) throw new Refusal("invalid_auth");
    if (isApp && method.ofApp !== undefined) return;
    if (isApp !== (method.isForApp ?? false)) throw new Refusal("not_allowed_token_type");
    if (!isApp && tokenState !== "valid") throw new Refusal(tokenState);
    if (method.scopes !== undefined) requireScope(world, ...method.scopes);
  }

  function takeFault(method: string): Fault | undefined {
    const found = faults.find((fault) => fault.left > 0 && ["*", method].includes(fault.method));
    if (found !== undefined) found.left -= 1;
    return found?.fault;
  }

  async function carryOut(name: string, all: Data | undefined, token?: string): Promise<Data> {
    try {
      const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
      if (method === undefined) throw new Refusal("unknown_method", { req_method: name });
      if (all === undefined) throw new Refusal("invalid_form_data");
      authenticate(method, token);
      if (token === tokens.appToken && method.ofApp !== undefined) {
        return { ok: true, ...method.ofApp() };
      }
      return { ok: true, ...(await method.run(readArgs(all))) };
    } catch (problem) {
      if (!(problem instanceof Refusal)) throw problem;
      return { ok: false, error: problem.error, ...problem.extra };
    }
  }

  function answer(response: ServerResponse, call: Call, status: number, body: Data | string): void {
    call.status = status;
    if (typeof body !== "string") call.result = body;
    const isJson = typeof body !== "string";
    response.writeHead(status, {
      "content-type": isJson ? "application/json; charset=utf-8" : "text/html",
      "x-oauth-scopes": world.settings.scopes.join(","),
      "x-slack-req-id": world.nextId("req-"),
    });
    response.end(isJson ? JSON.stringify(body) : body);
  }

  /** True when the fault took the place of an answer. */
  function spoil(fault: Fault, response: ServerResponse, call: Call): boolean {
    if ("timeout" in fault) return true;
    if ("cut" in fault) {
      response.socket?.destroy();
      return true;
    }
    if ("error" in fault) {
      answer(response, call, 200, { ok: false, error: fault.error, ...fault.with });
      return true;
    }
    if ("status" in fault) {
      if (fault.retryAfter !== undefined) response.setHeader("retry-after", fault.retryAfter);
      const limited = fault.status === 429;
      answer(
        response,
        call,
        fault.status,
        limited ? { ok: false, error: "ratelimited" } : "<html>",
      );
      return true;
    }
    return false;
  }

  async function serveMethod(
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const from = performance.now();
    const all = argumentsOf(request, await bodyOf(request));
    const call: Call = {
      method: name,
      args: readable(all ?? {}),
      at: Date.now(),
      ms: 0,
      status: 0,
      result: undefined,
    };
    calls.push(call);
    if (world.settings.latencyMs > 0)
      await sleep(world.settings.latencyMs, undefined, { ref: false });
    const fault = takeFault(name);
    if (fault !== undefined && spoil(fault, response, call)) return;
    const header = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const inBody = all?.["token"];
    const body = await carryOut(
      name,
      all,
      header ?? (typeof inBody === "string" ? inBody : undefined),
    );
    call.ms = performance.now() - from;
    if (fault === undefined) {
      answer(response, call, 200, body);
      return;
    }
    call.result = body;
    response.socket?.destroy();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "", "http://localhost");
    const method = /^\/api\/([\w.]+)$/.exec(pathname)?.[1];
    if (method !== undefined) await serveMethod(method, request, response);
    else if (pathname.startsWith("/commands/")) await takeReply(world, request, response);
    else if (pathname.startsWith("/upload/v1/")) await takeUpload(world, request, response);
    else serveFile(world, tokens.botToken, request, response);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((problem: unknown) => {
      response.writeHead(500);
      response.end(`the fake itself failed: ${String(problem)}`);
    });
  });
  server.on("upgrade", (request, socket, head) => sockets.upgrade(request, socket, head));

  return {
    calls,
    async listen() {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      world.origin = `http://127.0.0.1:${port}`;
    },
    async close() {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      server.closeAllConnections();
      await closed;
    },
    fail(method, fault) {
      faults.push({ method, fault, left: fault.times ?? 1 });
    },
    mend() {
      faults.length = 0;
    },
    tokenState(state) {
      tokenState = state;
    },
  };
}
