import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBotError } from "../../../src/core/errors.ts";
import { httpCheck } from "../../../src/tools/network/http-check.ts";
import type { ToolContext } from "../../../src/tools/tool.ts";
import { anyIpv4, isInnocent, NEVER, SPELLINGS, WRAPPINGS } from "../addresses.ts";
import { EVERYTHING, SERVER, spyOnSockets } from "../dialing.ts";
import { closedPort, conclusion, listenHttp, listenRaw, runTool, toolContext } from "./servers.ts";

function check(args: Record<string, unknown>, ctx: ToolContext = toolContext()): Promise<string> {
  return runTool(httpCheck, args, ctx);
}

describe("no connection", () => {
  it("is a result that says why", async () => {
    const port = await closedPort();
    expect(await check({ url: `http://127.0.0.1:${port}/` })).toMatch(
      `DOWN: connection refused by 127.0.0.1:${port} (the machine answers`,
    );
    const dialing = {
      lookup: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" })),
    };
    expect(await check({ url: "http://shop.example/" }, toolContext({ dialing }))).toMatch(
      /^DOWN: the host name shop\.example does not resolve/,
    );
  });

  it("in time is a result, and none is made afterwards", async () => {
    const asked = spyOnSockets();
    const port = 8080;
    const late = Promise.withResolvers<string[]>();
    const dialing = { lookup: () => late.promise };
    const url = `http://shop.example:${port}/`;
    const text = await check({ url, timeoutSeconds: 0.03 }, toolContext({ dialing }));
    expect(conclusion(text)).toBe(`DOWN: no connection to shop.example:${port} within 0.03 s`);
    late.resolve(["127.0.0.1"]);
    await late.promise;
    expect(asked()).toEqual([]);
  });

  it("is made for an address that is refused", async () => {
    const asked = spyOnSockets();
    for (const url of [
      "http://127.0.0.1/",
      "https://[::1]/",
      "http://0x7f.1/",
      "http://①②⑦.0.0.1/",
    ]) {
      await expect(check({ url }, toolContext({ rules: SERVER }))).rejects.toMatchObject({
        code: "ADDRESS_REFUSED",
        message: expect.stringContaining("network.allow"),
      });
    }
    expect(asked()).toEqual([]);
  });

  it("outlives a call that is stopped", async () => {
    const call = new AbortController();
    const port = await listenRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\nhello");
      call.abort();
    });
    const running = check(
      { url: `http://127.0.0.1:${port}/` },
      toolContext({ signal: call.signal }),
    );
    await expect(running).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("is made to anything but allowed addresses, however a URL spells them", async () => {
    const asked = spyOnSockets();
    const ctx = toolContext({ rules: SERVER });
    const host = fc.oneof(
      fc.tuple(anyIpv4, fc.constantFrom(...SPELLINGS)).map(([ipv4, spell]) => spell(ipv4)),
      fc
        .tuple(anyIpv4, fc.constantFrom(...WRAPPINGS))
        .map(([ipv4, wrap]) => `[${wrap(ipv4).replaceAll(/[[\]]/g, "")}]`),
    );
    const url = fc
      .tuple(
        fc.constantFrom("http://", "https://", "HTTP:", "http:\\\\"),
        host,
        fc.constantFrom("", ":80", ":8080"),
      )
      .map(([scheme, name, port]) => `${scheme}${name}${port}/`);
    await fc.assert(
      fc.asyncProperty(url, async (text) => {
        if (!httpCheck.input.safeParse({ url: text }).success) return;
        const refused = await check({ url: text }, ctx).catch((error: unknown) => error);
        expect(typeof refused === "string" || isBotError(refused, "ADDRESS_REFUSED")).toBe(true);
      }),
      { numRuns: 500 },
    );
    expect(asked().length).toBeGreaterThan(0);
    expect(asked().filter((address) => !isInnocent(address))).toEqual([]);
  });
});

describe("redirects", () => {
  it("are followed and shown hop by hop", async () => {
    const port = await listenHttp((request, response) => {
      if (request.url === "/old") response.writeHead(301, { location: "/new#top" }).end("moved");
      else response.end("here");
    });
    const text = await check({ url: `http://127.0.0.1:${port}/old` });
    expect(conclusion(text)).toMatch(
      new RegExp(`^UP: 200 OK in .+, redirected to http://127\\.0\\.0\\.1:${port}/new$`),
    );
    expect(text).toContain(`1. GET http://127.0.0.1:${port}/old → 301 Moved Permanently`);
    expect(text).toContain("location: /new#top");
    expect(text).toContain(`2. GET http://127.0.0.1:${port}/new → 200 OK`);
    expect(text).not.toContain("moved");
  });

  it("are where it ends when they are expected or not to be followed", async () => {
    const port = await listenHttp((_, response) =>
      response.writeHead(302, { location: "/next" }).end(),
    );
    const url = `http://127.0.0.1:${port}/`;
    expect(conclusion(await check({ url, followRedirects: false }))).toMatch(
      /^UP: 302 Found in [^,]+$/,
    );
    expect(conclusion(await check({ url, expectStatus: 302 }))).toMatch(/^UP: 302 Found in [^,]+$/);
  });

  it.each([
    ["in a circle", "/", "it redirects in a circle, back to / (cookies are not kept)"],
    ["to nowhere", undefined, "it redirects without saying where to"],
    ["to no address", "http://[", "it redirects to http://[, which is not an address"],
    [
      "to a file",
      "file:///etc/passwd",
      "it redirects to file:///etc/passwd, which must be a full address",
    ],
    ["with a password", "http://me:secret@shop.example/", "which holds a user name or password"],
  ])("%s are UNHEALTHY", async (_, location, words) => {
    const port = await listenHttp((__, response) => {
      response.writeHead(302, location === undefined ? {} : { location }).end();
    });
    const text = await check({ url: `http://127.0.0.1:${port}/` });
    expect(conclusion(text)).toMatch(/^UNHEALTHY: 302 Found in .+, but it redirects/);
    expect(conclusion(text)).toContain(words);
  });

  it("are not followed without end", async () => {
    let requests = 0;
    const port = await listenHttp((_, response) => {
      requests += 1;
      response.writeHead(302, { location: `/${requests}` }).end();
    });
    const text = await check({ url: `http://127.0.0.1:${port}/` });
    expect(conclusion(text)).toContain("but it redirects more than 5 times");
    expect(requests).toBe(6);
  });

  it("to a forbidden address throw, and nothing is sent there", async () => {
    let requests = 0;
    const port = await listenHttp((request, response) => {
      requests += 1;
      const target = new URL(request.url ?? "", "http://x").searchParams.get("to") ?? "";
      response.writeHead(302, { location: target }).end();
    });
    const asked = spyOnSockets("real");
    const ctx = toolContext({ rules: EVERYTHING });
    for (const address of NEVER) {
      const target = `http://${address.includes(":") ? `[${address}]` : address}/latest/meta-data/`;
      const url = `http://127.0.0.1:${port}/?to=${encodeURIComponent(target)}`;
      await expect(check({ url }, ctx)).rejects.toMatchObject({
        code: "ADDRESS_REFUSED",
        message: expect.stringMatching(
          /redirects to http.+, which was not connected to: .+ no setting allows that/,
        ),
      });
    }
    expect(new Set(asked())).toEqual(new Set(["127.0.0.1"]));
    expect(requests).toBe(NEVER.length);
  });
});

describe("arguments", () => {
  it.each([
    ["shop.example", "begins with http:// or https://"],
    ["ftp://shop.example/", "begins with http:// or https://"],
    ["http://me:secret@shop.example/", "holds a user name or password"],
    ["http://me@shop.example/", "holds a user name or password"],
  ])("with the URL %s are refused", (url, words) => {
    const result = httpCheck.input.safeParse({ url });
    expect(result.error?.issues.map((issue) => issue.message).join()).toContain(words);
    expect(result.error?.message).not.toContain("secret");
  });

  it("that look into the body of a HEAD are refused", () => {
    const result = httpCheck.input.safeParse({ url: "http://x", method: "HEAD", contains: "ok" });
    expect(result.error?.issues[0]?.path).toEqual(["contains"]);
  });
});
