import { execFile } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { buffer, json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { Anthropic } from "@anthropic-ai/sdk";
import { webApi } from "@slack/bolt";
import { OpenAI } from "openai";
import pino from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSdkLogger } from "../../src/adapters/slack/sdk-log.ts";
import { createFetch } from "../../src/net/fetch.ts";
import { closedPort, identity } from "../tools/network/servers.ts";

const CERTIFICATES = new URL("../tools/network/certificates/", import.meta.url);

/** A server's address, its requests and how many connections it took. It ends with the test. */
async function serve(listener: http.RequestListener, server: net.Server = http.createServer()) {
  const seen = { connections: 0, requests: 0 };
  const sockets = new Set<net.Socket>();
  server.on("request", () => (seen.requests += 1)).on("request", listener);
  server.on("connection", (socket: net.Socket) => {
    seen.connections += 1;
    sockets.add(socket.on("error", () => {}));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, port, sockets, seen };
}

/** Until the connection of an answer that was read is free. */
const turn = async () => new Promise((resolve) => setImmediate(resolve));

/** What it fails with: its name, its cause's words or code. */
async function failure(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const cause = (error as Error | undefined)?.cause as (Error & { code?: string }) | undefined;
  return [(error as Error | undefined)?.message, cause?.code ?? cause?.message];
}

describe("what is sent", () => {
  async function echoed(init: RequestInit) {
    const { url } = await serve((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const { method, headers } = request;
        response.end(JSON.stringify({ method, headers, body: Buffer.concat(parts).toString() }));
      });
    });
    const response = await createFetch()(`${url}a?b=c`, init);
    return (await response.json()) as {
      method: string;
      headers: http.IncomingHttpHeaders;
      body: string;
    };
  }

  it("a text goes with its length, and asks for nothing packed", async () => {
    const { method, headers, body } = await echoed({
      method: "post",
      headers: { "X-Key": "k" },
      body: "für",
    });
    expect({ method, body }).toEqual({ method: "POST", body: "für" });
    expect(headers).toMatchObject({
      "content-length": "4",
      "content-type": "text/plain;charset=UTF-8",
      "accept-encoding": "identity",
      "x-key": "k",
    });
  });

  it("a POST without a body says that it has none", async () => {
    expect((await echoed({ method: "POST" })).headers["content-length"]).toBe("0");
  });

  it.each([
    ["pairs", [["x-key", "k"]]],
    ["a record", { "X-Key": "k" }],
    ["Headers", new Headers({ "x-key": "k" })],
  ] satisfies [string, RequestInit["headers"]][])("headers come as %s", async (_, headers) => {
    expect((await echoed({ headers })).headers["x-key"]).toBe("k");
  });

  it("a form is written as one, with its file's bytes and name", async () => {
    const form = new FormData();
    form.append("title", "Graph");
    form.append("file", new Blob([Buffer.from("\x89PNG")]), "graph.png");
    const { headers, body } = await echoed({ method: "POST", body: form });
    expect(headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(Number(headers["content-length"])).toBeGreaterThan(0);
    expect(body).toContain('name="file"; filename="graph.png"');
    expect(body).toContain("\x89PNG");
  });

  it.each([
    ["bytes", () => Buffer.from("ab")],
    ["fields", () => new URLSearchParams({ a: "b" })],
    ["a stream", () => new Blob(["a", "b"]).stream()],
  ])("%s are a body too", async (_, body) => {
    expect((await echoed({ method: "PUT", body: body() })).body).toMatch(/^a=?b$/);
  });

  it("neither a key that no header may hold nor one in the address is sent", async () => {
    const { url, seen } = await serve((_, response) => response.end());
    const [words, why] = await failure(createFetch()(url, { headers: { key: "se\ncret" } }));
    expect([words, why]).not.toContain("se\ncret");
    expect(words).toBe("fetch failed");
    await expect(createFetch()(url.replace("//", "//user:secret@"))).rejects.toThrow(TypeError);
    expect(seen.requests).toBe(0);
  });
});

describe("what comes back", () => {
  it("a stream is read while it comes, and its connection is used again", async () => {
    let end = () => {};
    const { url, seen } = await serve((_, response) => {
      response.write("first");
      end = () => response.end("last");
    });
    const fetch = createFetch();
    for (let round = 0; round < 2; round++) {
      const response = await fetch(url);
      const reader = response.body?.getReader();
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("first");
      end();
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("last");
      expect(await reader?.read()).toMatchObject({ done: true });
      await turn();
    }
    expect(seen.connections).toBe(1);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("%s is unpacked, as a text and as a stream", async (coding, pack) => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": coding }).end(pack('{"ok":true}'));
    });
    expect(await (await createFetch()(url)).json()).toEqual({ ok: true });
    const { body } = await createFetch()(url);
    expect(await json(body ?? new Blob([]).stream())).toEqual({ ok: true });
  });

  it.each(["text", "stream"])(
    "a %s that is too long ends with an error, also one that unpacks so",
    async (form) => {
      const huge = "x".repeat(100_000);
      const { url } = await serve(({ url: path }, response) => {
        if (path === "/packed")
          response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(huge));
        else response.end(huge);
      });
      const fetch = createFetch({ maxBytes: 99_999 });
      for (const path of ["plain", "packed"]) {
        const response = await fetch(`${url}${path}`);
        const read =
          form === "text" ? response.text() : buffer(response.body ?? new Blob([]).stream());
        expect(await failure(read)).toEqual(["terminated", expect.stringContaining("more than")]);
      }
      expect(await (await createFetch({ maxBytes: 100_000 })(url)).text()).toBe(huge);
    },
  );

  it.each(["chunked", "counted", "packed"])(
    "a %s body that is cut off is an error, not a short text",
    async (form) => {
      const { url } = await serve((_, response) => {
        if (form === "counted") response.setHeader("content-length", 100);
        if (form === "packed") response.setHeader("content-encoding", "gzip");
        response.write(form === "packed" ? gzipSync("half").subarray(0, 15) : "half");
        setImmediate(() => response.socket?.destroy());
      });
      expect((await failure((await createFetch()(url)).text()))[0]).toBe("terminated");
    },
  );

  it("a body that nobody reads holds no connection, and its end no process", async () => {
    const { url, seen } = await serve((_, response) => response.end("x".repeat(1_000)));
    const fetch = createFetch();
    for (let i = 0; i < 5; i++) {
      await fetch(url);
      await turn();
    }
    expect(seen.connections).toBeLessThan(5);
  });

  it("an answer without a body has none", async () => {
    const { url } = await serve((request, response) => {
      response.statusCode = request.method === "HEAD" ? 200 : 204;
      response.setHeader("set-cookie", ["a=1", "b=2"]).end();
    });
    const [head, get] = [await createFetch()(url, { method: "HEAD" }), await createFetch()(url)];
    expect([head.body, get.body, await head.text(), get.status]).toEqual([null, null, "", 204]);
    expect(get.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("is read once; its copy is another", async () => {
    const { url } = await serve((_, response) => response.end("once"));
    const response = await createFetch()(url);
    const copy = response.clone();
    expect([await response.text(), await copy.text()]).toEqual(["once", "once"]);
    const second = await createFetch()(url);
    await second.text();
    expect(second.bodyUsed).toBe(true);
    await expect(second.text()).rejects.toThrow(TypeError);
  });

  it("leads nowhere else, unless who asks wants to see where", async () => {
    const { url, seen } = await serve((_, response) => {
      response.writeHead(302, { location: "/elsewhere" }).end();
    });
    for (const redirect of ["follow", "error"] as const)
      expect(await failure(createFetch()(url, { redirect }))).toEqual([
        "fetch failed",
        "unexpected redirect",
      ]);
    const seenThere = await createFetch()(url, { redirect: "manual" });
    expect([seenThere.status, seenThere.headers.get("location")]).toEqual([302, "/elsewhere"]);
    expect(seen.requests).toBe(3);
  });
});

describe("trouble", () => {
  it("nobody there, or no HTTP, is a failed fetch with its cause", async () => {
    const { port } = await serve(() => {});
    const garbage = net.createServer((socket) => socket.end("SSH-2.0-OpenSSH\r\n"));
    const other = await serve(() => {}, garbage);
    expect(await failure(createFetch()(`http://127.0.0.1:${other.port}/`))).toEqual([
      "fetch failed",
      expect.stringContaining("HTTP/1.1"),
    ]);
    expect((await failure(createFetch()(`https://127.0.0.1:${port}/`)))[0]).toBe("fetch failed");
    const gone = await closedPort();
    expect(await failure(createFetch()(`http://127.0.0.1:${gone}/`))).toEqual([
      "fetch failed",
      "ECONNREFUSED",
    ]);
  });

  it("a signal ends the request, before its answer and within it, with its own reason", async () => {
    const { url } = await serve((request, response) => {
      if (request.url === "/body") response.write("half");
    });
    const why = new Error("enough");
    await expect(createFetch()(url, { signal: AbortSignal.abort(why) })).rejects.toBe(why);
    const early = new AbortController();
    const waiting = createFetch()(url, { signal: early.signal });
    setTimeout(() => early.abort(why), 20);
    await expect(waiting).rejects.toBe(why);
    const late = new AbortController();
    const text = (await createFetch()(`${url}body`, { signal: late.signal })).text();
    late.abort(why);
    await expect(text).rejects.toBe(why);
    const unread = new AbortController();
    await createFetch()(`${url}body`, { signal: unread.signal });
    unread.abort(why);
  });

  it("silence ends it, with the words of who made it", async () => {
    const { url } = await serve((request, response) => {
      if (request.url === "/body") response.write("half");
    });
    const silence = (hasBegun: boolean) => new Error(hasBegun ? "silent within" : "silent before");
    const fetch = createFetch({ idleMs: 50, silence });
    await expect(fetch(url)).rejects.toThrow("silent before");
    await expect((await fetch(`${url}body`)).text()).rejects.toThrow("silent within");
  });

  /** A server that closes a connection as soon as a second request comes by it. */
  async function closing() {
    const uses = new WeakMap<net.Socket, number>();
    const methods: unknown[] = [];
    const { url } = await serve((request, response) => {
      methods.push(request.method);
      const count = (uses.get(request.socket) ?? 0) + 1;
      uses.set(request.socket, count);
      if (count > 1) request.socket.destroy();
      else response.end("ok");
    });
    return { url, methods };
  }

  it("what may come twice is sent again when a kept connection was closed, once", async () => {
    const { url, methods } = await closing();
    const fetch = createFetch();
    await (await fetch(url)).text();
    await turn();
    expect(await (await fetch(url)).text()).toBe("ok");
    expect(methods).toEqual(["GET", "GET", "GET"]);
  });

  it("a POST is never sent again: it may have taken effect", async () => {
    const { url, methods } = await closing();
    const fetch = createFetch();
    await (await fetch(url)).text();
    await turn();
    expect((await failure(fetch(url, { method: "POST", body: "pay" })))[0]).toBe("fetch failed");
    expect(methods).toEqual(["GET", "POST"]);
  });

  it("a connection that the server closed meanwhile is not used again", async () => {
    const { url, sockets, seen } = await serve((_, response) => response.end("ok"));
    const fetch = createFetch();
    await (await fetch(url)).text();
    const [kept] = sockets;
    kept?.end();
    await once(kept ?? new net.Socket(), "close");
    expect(await (await fetch(url, { method: "POST" })).text()).toBe("ok");
    expect(seen).toEqual({ connections: 2, requests: 2 });
  });
});

describe("the way there", () => {
  /** A proxy that takes CONNECT, to wherever it leads here. */
  it("NODE_EXTRA_CA_CERTS is trusted, and nobody else", async () => {
    const server = https.createServer(identity("valid"));
    const { port } = await serve((_, response) => response.end("ok"), server);
    const module = fileURLToPath(import.meta.resolve("../../src/net/fetch.ts"));
    const script = `
      const { createFetch } = await import(${JSON.stringify(module)});
      const response = await createFetch()("https://localhost:${port}/").catch((error) => ({ text: () => error.cause.code }));
      console.log(await response.text());`;
    const outcome = async (env: NodeJS.ProcessEnv) => {
      const args = ["--input-type=module", "--eval", script];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      return stdout.trim();
    };
    const extra = fileURLToPath(new URL("authority.pem", CERTIFICATES));
    expect(await outcome({ NODE_EXTRA_CA_CERTS: extra })).toBe("ok");
    expect(await outcome({})).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  });
});

describe("the SDKs' own errors", () => {
  it("bolt's client tells a limit with its wait, a refusal, a failure and a cut answer apart", async () => {
    const { url } = await serve(({ url: path }, response) => {
      if (path === "/limited") response.writeHead(429, { "retry-after": "7" }).end();
      else if (path === "/broken") response.writeHead(503).end("busy");
      else if (path === "/refused") response.end('{"ok":false,"error":"invalid_auth"}');
      else if (path === "/cut") response.socket?.destroy();
      else response.setHeader("x-oauth-scopes", "a,b").end('{"ok":true}');
    });
    const client = new webApi.WebClient("xoxb-1", {
      slackApiUrl: url,
      fetch: createFetch(),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      logger: createSdkLogger(pino({ enabled: false })),
    });
    expect((await client.apiCall("fine")).response_metadata).toMatchObject({ scopes: ["a", "b"] });
    await expect(client.apiCall("limited")).rejects.toMatchObject({ retryAfter: 7 });
    await expect(client.apiCall("broken")).rejects.toMatchObject({ statusCode: 503, body: "busy" });
    await expect(client.apiCall("refused")).rejects.toMatchObject({
      data: { error: "invalid_auth" },
    });
    await expect(client.apiCall("cut")).rejects.toBeInstanceOf(webApi.WebAPIRequestError);
  });

  it("the model SDKs repeat what was cut off and what they are asked to repeat, by their own rules", async () => {
    for (const wire of ["openai", "anthropic"]) {
      const { url, seen } = await serve((_, response) => {
        if (seen.requests === 1) response.socket?.destroy();
        else if (seen.requests === 2) response.writeHead(429, { "retry-after-ms": "1" }).end("{}");
        else response.setHeader("content-type", "application/json").end('{"data":[]}');
      });
      const options = { apiKey: "k", baseURL: url, fetch: createFetch(), maxRetries: 2 };
      const client = wire === "openai" ? new OpenAI(options) : new Anthropic(options);
      const { data } = await client.models.list();
      expect([data, seen.requests]).toEqual([[], 3]);
    }
  });
});
