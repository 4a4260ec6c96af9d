import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import tls from "node:tls";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { createNetwork } from "../../src/net/dial.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import type { Credential, Endpoint, HttpCall } from "../../src/tools/http.ts";
import { createContext } from "../../src/tools/tool-context.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";
import { ASKER } from "../fakes/asker.ts";
import { noWorld } from "../fakes/tool-context.ts";
import { LOCAL, SERVER } from "./dialing.ts";
import { closedPort, listenHttp, listenHttps, listenRaw, pem } from "./network/servers.ts";

/** Requests of tools, on real servers. */

const SECRET = "Zt9-qLw27_KfPz4RbNcTy83HmVdSa6EjUoGi1Qls";
const bearer: Credential = { kind: "bearer", secret: SECRET };
const encoder = createEncoder([{ name: "GRAFANA_TOKEN", value: SECRET }]);

type Permit = (args: object) => Promise<string | undefined>;
interface Setting {
  rules?: Parameters<typeof createNetwork>[0];
  endpoints?: Record<string, Endpoint>;
  url?: string;
  permit?: Permit;
  signal?: AbortSignal;
}

function toolWith(endpoints: Record<string, Endpoint>, run: Tool["run"]): Tool {
  const input = z.strictObject({ url: z.string().optional() });
  const about = {
    name: "ask",
    description: "For tests.",
    effect: "read",
    timeoutMs: 60_000,
  } as const;
  return defineTool({ ...about, input, kinds: { url: "url" }, endpoints, run });
}

/** What a call with this URL as its argument may use. */
function contextOf({
  rules = LOCAL,
  endpoints = {},
  url = "",
  permit,
  signal,
}: Setting): ToolContext {
  const parts = { ...noWorld, network: createNetwork(rules), encoder };
  const tool = toolWith(endpoints, async () => ({ text: "" }));
  return createContext(parts, tool, {
    signal: signal ?? new AbortController().signal,
    args: { url },
    permit,
  });
}

/** A server that keeps what it was asked, and does as `answer` says. */
async function listening(answer: http.RequestListener = (_, response) => response.end("ok")) {
  const asked: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }[] =
    [];
  const port = await listenHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  return { asked, origin: `http://127.0.0.1:${port}` };
}

const redirectTo =
  (location: string): http.RequestListener =>
  (_, response) =>
    void response.writeHead(302, { location }).end();

describe("a request to an endpoint", () => {
  test("goes below its address, with its credential, and answers with any status", async () => {
    const server = await listening((_, response) =>
      response.writeHead(404, { "x-total": "3" }).end('{"message":"no such board"}'),
    );
    const url = `${server.origin}/grafana`;
    const ctx = contextOf({ endpoints: { grafana: { url, credential: bearer } } });
    const answer = await ctx.http({ endpoint: "grafana", url: "api/boards?query=a%20b" });
    expect(answer).toMatchObject({
      url: `${url}/api/boards?query=a%20b`,
      status: 404,
      headers: { "x-total": "3" },
      text: '{"message":"no such board"}',
      isWhole: true,
      stuck: undefined,
    });
    expect(server.asked).toMatchObject([
      {
        method: "GET",
        url: "/grafana/api/boards?query=a%20b",
        headers: { authorization: `Bearer ${SECRET}`, "user-agent": "watchkeeper" },
      },
    ]);
  });

  test.each<[Credential, string, string]>([
    [
      { kind: "basic", user: "bot", secret: SECRET },
      "authorization",
      `Basic ${Buffer.from(`bot:${SECRET}`).toString("base64")}`,
    ],
    [{ kind: "header", name: "DD-API-KEY", secret: SECRET }, "dd-api-key", SECRET],
  ])(
    "says %o as that kind is said, whatever the tool says in its place",
    async (credential, name, value) => {
      const server = await listening();
      const ctx = contextOf({ endpoints: { api: { url: server.origin, credential } } });
      await ctx.http({ endpoint: "api", url: "x", headers: { [name]: "another" } });
      expect(server.asked[0]?.headers[name]).toBe(value);
    },
  );

  test.each([
    "../admin",
    "/admin",
    "x/../../admin",
    "%2e%2e/admin",
    // A URL keeps these; servers decode or cut them.
    "..%2fadmin",
    "x%2f%2E.%5cadmin",
    "..;/admin",
    "//evil.test/",
    "\\\\evil.test",
    "http://evil.test/",
    "https://127.0.0.1/api/",
    "http://[",
    "?",
    "javascript:1",
  ])("never leaves its address: %s", async (path) => {
    const server = await listening();
    const endpoints = { api: { url: `${server.origin}/api/`, credential: bearer } };
    const asking = contextOf({ endpoints }).http({ endpoint: "api", url: path });
    const url = await asking.then(
      (answer) => answer.url,
      (error: unknown) => error,
    );
    if (typeof url === "string") expect(url.startsWith(`${server.origin}/api/`)).toBe(true);
    else expect(url).toMatchObject({ code: "INPUT_INVALID" });
    const paths = server.asked.map((one) => decodeURIComponent(one.url));
    expect(paths.filter((one) => !one.startsWith("/api/") || one.includes(".."))).toEqual([]);
  });

  test("follows redirects below its address with the credential, and no others", async () => {
    const other = await listening();
    const server = await listening((request, response) => {
      const at = request.url ?? "";
      if (at === "/api/old") redirectTo("/api/new")(request, response);
      else if (at === "/api/out") redirectTo("/login")(request, response);
      else if (at === "/api/away") redirectTo(`${other.origin}/api/`)(request, response);
      else response.end("here");
    });
    const endpoints = { api: { url: `${server.origin}/api`, credential: bearer } };
    const ctx = contextOf({ endpoints, permit: async () => undefined });
    expect(await ctx.http({ endpoint: "api", url: "old" })).toMatchObject({ text: "here" });
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 2 }, () => `Bearer ${SECRET}`),
    );
    for (const url of ["out", "away"]) {
      const { status, stuck } = await ctx.http({ endpoint: "api", url });
      expect(status).toBe(302);
      expect(stuck).toContain(`The configuration only names ${server.origin}/api/`);
    }
    expect(server.asked.some(({ url }) => url === "/login")).toBe(false);
    expect(other.asked).toEqual([]);
  });

  test("needs no entry in network.allow, and opens its address to nothing else", async () => {
    const server = await listening();
    const endpoints = { api: { url: server.origin } };
    const ctx = contextOf({ rules: SERVER, endpoints, url: `${server.origin}/y` });
    expect(await ctx.http({ endpoint: "api", url: "x" })).toMatchObject({ status: 200 });
    const asking = ctx.http({ url: `${server.origin}/y` });
    await expect(asking).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
      message: expect.stringContaining("network.allow"),
    });
    await expect(ctx.dial("127.0.0.1", 80)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(server.asked.map(({ url }) => url)).toEqual(["/x"]);
  });

  test("never reaches a cloud's metadata service, whatever names it", async () => {
    const ctx = contextOf({ endpoints: { api: { url: "http://169.254.169.254/" } } });
    const asking = ctx.http({ endpoint: "api", url: "latest/meta-data" });
    await expect(asking).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  });

  test("goes through a Unix socket where it listens on one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "socket-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "api.sock");
    const server = http.createServer((request, response) => response.end(request.url));
    server.listen(path);
    await once(server, "listening");
    const endpoints = { docker: { url: "http://localhost/", socketPath: path } };
    try {
      const ctx = contextOf({ rules: SERVER, endpoints });
      expect(await ctx.http({ endpoint: "docker", url: "v1.41/info" })).toMatchObject({
        text: "/v1.41/info",
      });
    } finally {
      server.close();
    }
    const gone = contextOf({ endpoints }).http({ endpoint: "docker", url: "x" });
    await expect(gone).rejects.toThrow(`there is no socket ${path}`);
  });

  test("asks for its credential each time where that changes", async () => {
    const server = await listening();
    const secrets = ["first-of-two-tokens", "second-of-two-tokens"];
    const credential = async (): Promise<Credential> => ({
      kind: "bearer",
      secret: secrets.shift() ?? "",
    });
    const ctx = contextOf({ endpoints: { api: { url: server.origin, credential } } });
    await ctx.http({ endpoint: "api", url: "x" });
    await ctx.http({ endpoint: "api", url: "x" });
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer first-of-two-tokens",
      "Bearer second-of-two-tokens",
    ]);
  });

  test("of a protocol of its own is connected to by its name", async () => {
    const port = await listenRaw((socket) => void socket.end("hello"));
    const ctx = contextOf({
      rules: SERVER,
      endpoints: { db: { url: `postgres://127.0.0.1:${port}` } },
    });
    const { socket } = await ctx.connect("db");
    socket.write("hi");
    expect(await text(socket)).toBe("hello");
    await expect(async () => ctx.connect("other")).rejects.toThrow("declares no endpoint other");
  });

  test("of another tool is unknown", async () => {
    const asking = contextOf({}).http({ endpoint: "api", url: "x" });
    await expect(asking).rejects.toThrow("ask declares no endpoint api.");
  });
});

describe("a request to a URL", () => {
  test("goes only to hosts that an argument names, and carries no credential", async () => {
    const server = await listening();
    const url = `${server.origin}/x`;
    const endpoints = { api: { url: "http://127.0.0.2:1/", credential: bearer } };
    const { http: ask } = contextOf({ url, endpoints });
    await ask({ url });
    expect(server.asked[0]?.headers).not.toHaveProperty("authorization");
    await expect(ask({ url: "http://127.0.0.3/" })).rejects.toThrow(
      'ask connects to "127.0.0.3", which no argument of kind url or host names.',
    );
    await expect(ask({ url: "http://me:pw@127.0.0.1/" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    await expect(ask({ url: "file:///etc/passwd" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });

  test("asks again before each redirect, and leaves its headers behind at another origin", async () => {
    const last = await listening();
    const first = await listening((request, response) =>
      redirectTo(request.url === "/a" ? "/b" : `${last.origin}/c`)(request, response),
    );
    const url = `${first.origin}/a`;
    const permitted: object[] = [];
    const permit: Permit = async (args) => void permitted.push(args);
    const answer = await contextOf({ url, permit }).http({ url, headers: { "x-org": "7" } });
    expect(answer).toMatchObject({ url: `${last.origin}/c`, text: "ok" });
    expect(permitted).toEqual([{ url: `${first.origin}/b` }, { url: `${last.origin}/c` }]);
    expect(first.asked.map(({ headers }) => headers["x-org"])).toEqual(["7", "7"]);
    expect(last.asked[0]?.headers).not.toHaveProperty("x-org");

    const refused = await contextOf({ url, permit: async () => "Policy denies it." }).http({ url });
    expect(refused).toMatchObject({ status: 302, url });
    expect(refused.stuck).toBe(
      `it redirects to ${first.origin}/b, which was not requested. Policy denies it.`,
    );
  });

  test("that writes sends its body and follows no redirect", async () => {
    const server = await listening(redirectTo("/next"));
    const url = `${server.origin}/x`;
    const ctx = contextOf({ url, permit: async () => undefined });
    const json = { name: "Grüße" };
    expect(await ctx.http({ url, method: "POST", json })).toMatchObject({ status: 302 });
    await ctx.http({ url, method: "PUT", body: "plain", headers: { "content-type": "text/x" } });
    expect(server.asked).toMatchObject([
      {
        method: "POST",
        headers: { "content-type": "application/json", "content-length": "18" },
        body: JSON.stringify(json),
      },
      { method: "PUT", headers: { "content-type": "text/x" }, body: "plain" },
    ]);
  });
});

describe("what a server does", () => {
  /** Asks a server that writes this once it was asked, and ends the connection unless it is to stay open. */
  async function ask(bytes: string | Buffer, call: Partial<HttpCall> & { stays?: boolean } = {}) {
    const { stays = false, ...changes } = call;
    const port = await listenRaw((socket) => (stays ? socket.write(bytes) : socket.end(bytes)));
    const url = `http://127.0.0.1:${port}/`;
    return contextOf({ url }).http({ url, ...changes });
  }

  test.each([
    ["closes", "", {}, "CONNECTION_FAILED", "closed the connection without an answer"],
    ["closes on a write", "", { method: "POST" }, "ABORTED", "POST http"],
    [
      "cuts a body",
      "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc",
      {},
      "CONNECTION_FAILED",
      "cut off after 3 of 9",
    ],
    ["speaks SSH", "SSH-2.0-x\r\n", {}, "CONNECTION_FAILED", "not in HTTP"],
    [
      "sends bad gzip",
      "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nabc",
      {},
      "CONNECTION_FAILED",
      "gzip encoding is broken",
    ],
    ["is silent", "", { stays: true, timeoutMs: 300 }, "TIMEOUT", "did not answer within 0.3 s"],
    [
      "never ends",
      "HTTP/1.1 200 OK\r\n\r\nabc",
      { stays: true, timeoutMs: 300, method: "POST" },
      "TIMEOUT",
      "did not end within 0.3 s",
    ],
  ] as const)("%s", async (_, bytes, call, code, words) => {
    await expect(ask(bytes, call)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words),
    });
  });

  test("when nothing is sent is a failure that is no doubt, of a write too", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/`;
    const asking = contextOf({ url }).http({ url, method: "POST", body: "x" });
    await expect(asking).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  });

  test("with a body that is too long is a part of it, without half a secret at its end", async () => {
    const body = `${"#".repeat(3_000)}${SECRET}${"#".repeat(3_000)}`;
    const head = "HTTP/1.1 200 OK\r\n\r\n";
    for (const maxBytes of [3_010, 3_020, 3_039]) {
      const { text, isWhole } = await ask(head + body, { maxBytes });
      expect(isWhole).toBe(false);
      expect(text).toMatch(/^#+$/);
    }
    const packed = gzipSync(Buffer.alloc(4_000_000, "#"));
    const bomb = Buffer.concat([
      Buffer.from("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n"),
      packed,
    ]);
    const { text, isWhole } = await ask(bomb);
    expect([isWhole, text.length < 1_100_000]).toEqual([false, true]);
  });

  test("ends with the call", async () => {
    const call = new AbortController();
    const port = await listenRaw(() => call.abort());
    const url = `http://127.0.0.1:${port}/`;
    const asking = contextOf({ url, signal: call.signal }).http({ url });
    await expect(asking).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("over TLS", () => {
  const trusted = tls.getCACertificates("default");
  beforeAll(() => tls.setDefaultCACertificates([...trusted, pem("authority")]));
  afterAll(() => tls.setDefaultCACertificates(trusted));

  test("a request goes to whom this machine trusts, and says nothing to others", async () => {
    for (const certificate of ["valid", "self-signed", "expired", "other-name"] as const) {
      const asked: string[] = [];
      const port = await listenHttps(certificate, (request, response) => {
        asked.push(request.headers.authorization ?? "");
        response.end("safe");
      });
      const url = `https://localhost:${port}/`;
      const ctx = contextOf({ endpoints: { api: { url, credential: bearer } } });
      const asking = ctx.http({ endpoint: "api", url: "x" });
      if (certificate === "valid") expect(await asking).toMatchObject({ text: "safe" });
      else {
        await expect(asking).rejects.toMatchObject({
          code: "CONNECTION_FAILED",
          message: expect.stringContaining("does not trust its certificate"),
        });
      }
      expect([certificate, asked.length]).toEqual([certificate, certificate === "valid" ? 1 : 0]);
    }
  });
});

describe("a credential", () => {
  test("that the server says back is not in the call's result, in whatever encoding", async () => {
    const server = await listening((request, response) =>
      response.end(JSON.stringify({ headers: request.headers, again: SECRET })),
    );
    for (const credential of [bearer, { kind: "basic", user: "bot", secret: SECRET } as const]) {
      const endpoints = { api: { url: server.origin, credential } };
      const tool = toolWith(endpoints, async (_, ctx) => ctx.http({ endpoint: "api", url: "x" }));
      const network = createNetwork(LOCAL);
      const dispatcher = createDispatcher({
        ...noWorld,
        host: "stage",
        tools: [tool],
        network,
        encoder,
      });
      const { signal } = new AbortController();
      const nowhere = () => Promise.reject(new Error("there are no artifacts here"));
      const options = { signal, startedAt: 0, asker: ASKER, keep: nowhere, artifact: nowhere };
      const { text } = await dispatcher.run("ask", {}, options);
      expect(text).toContain("[secret:GRAFANA_TOKEN");
      const base64 = Buffer.from(SECRET).toString("base64").slice(4, -4);
      expect(text).not.toMatch(new RegExp(`${SECRET.slice(0, 8)}|${base64}`));
    }
  });

  test("is in no error, nor in what caused it", async () => {
    const port = await listenRaw((socket) => socket.end("nonsense"));
    const urls = [`http://127.0.0.1:${port}/`, `http://127.0.0.1:${await closedPort()}/`];
    for (const url of urls) {
      const ctx = contextOf({ endpoints: { api: { url, credential: bearer } } });
      const error = await ctx
        .http({ endpoint: "api", url: "x" })
        .catch((thrown: unknown) => thrown);
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET);
    }
  });

  test.each([
    [
      { url: "https://x.test/", credential: { ...bearer, secret: "unknown to the encoder" } },
      "is not among the secrets",
    ],
    [{ url: "https://me:pw@x.test/" }, "holds a user name or password"],
    [{ url: "ftp://x.test/" }, "begins with http:// or https://"],
    [{ url: "https://x.test/?key=1" }, "has more than a path"],
  ] as const)(
    "or address that is not safe to use is a mistake of the configuration",
    (endpoint, words) => {
      const tool = toolWith({ api: endpoint }, async () => ({ text: "" }));
      const create = () => createDispatcher({ ...noWorld, host: "stage", tools: [tool], encoder });
      expect(create).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.stringContaining(words),
        }),
      );
    },
  );
});

test("a name is looked up by the same rules as connections", async () => {
  const lookup = async () => ["10.0.0.7", "169.254.169.254"];
  const network = createNetwork(LOCAL, { lookup });
  const tool = toolWith({}, async () => ({ text: "" }));
  const { signal } = new AbortController();
  const args = { url: "https://db.example/" };
  const ctx = createContext({ ...noWorld, network, encoder }, tool, { signal, args });
  expect(await ctx.resolve("db.example")).toEqual(["10.0.0.7"]);
  await expect(ctx.resolve("other.example")).rejects.toThrow("no argument of kind url or host");
});
