import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Credential } from "../../src/tools/http.ts";
import { SERVER } from "./dialing.ts";
import { listenRaw } from "./network/servers.ts";
import { bearer, contextOf, listening, redirectTo, SECRET, encoder } from "./http-parts.ts";

/** What the configuration names for a tool, on real servers. */

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

  test("sends a body whole with every method, so that no server takes it for none", async () => {
    const server = await listening();
    const ctx = contextOf({ endpoints: { api: { url: server.origin } } });
    for (const method of ["DELETE", "PATCH", "POST"] as const)
      await ctx.http({ endpoint: "api", url: "x", method, body: '{"only":"ü"}' });
    expect(server.asked.map(({ body, headers }) => [body, headers["content-length"]])).toEqual(
      [1, 2, 3].map(() => ['{"only":"ü"}', "13"]),
    );
  });

  test("asks for its credential each time where that changes", async () => {
    const server = await listening();
    const secrets = ["first-of-two-tokens", "second-of-two-tokens"];
    expect(encoder.encode("second-of-two-tokens")).toBe("second-of-two-tokens");
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
    const long = `${"x ".repeat(20_000)}first-of-two-tokens`;
    expect(encoder.encode("second-of-two-tokens")).toBe("[secret:ask.api]");
    expect(await encoder.aside.encode(long)).toMatch(/x \[secret:ask\.api\]$/);
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
