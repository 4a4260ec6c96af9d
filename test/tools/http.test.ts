import tls from "node:tls";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createNetwork } from "../../src/net/dial.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import type { HttpCall } from "../../src/tools/http.ts";
import { createContext } from "../../src/tools/tool-context.ts";
import { ASKER } from "../fakes/asker.ts";
import { noWorld } from "../fakes/tool-context.ts";
import { LOCAL } from "./dialing.ts";
import { closedPort, listenHttps, listenRaw, pem } from "./network/servers.ts";
import {
  bearer,
  contextOf,
  listening,
  type Permit,
  redirectTo,
  SECRET,
  toolWith,
  encoder,
} from "./http-parts.ts";

/** Requests of tools, on real servers. */

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
    [
      { url: "https://x.test/", credential: { ...bearer, secret: "guest" } },
      "is shorter than 8 characters",
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
