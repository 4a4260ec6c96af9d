import net from "node:net";
import { describe, expect, it } from "vitest";
import { tcpCheck } from "../../../src/tools/network/tcp-check.ts";
import type { ToolContext } from "../../../src/tools/tool.ts";
import { NEVER } from "../addresses.ts";
import { EVERYTHING, SERVER, spyOnSockets } from "../dialing.ts";
import { closedPort, conclusion, listen, runTool, toolContext } from "./servers.ts";

function check(args: Record<string, unknown>, ctx: ToolContext = toolContext()): Promise<string> {
  return runTool(tcpCheck, args, ctx);
}

function greeting(bytes: string | Buffer): Promise<number> {
  return listen(net.createServer((socket) => socket.write(bytes)));
}

describe("an open port", () => {
  it("is OPEN with its address, times and the first line of its greeting", async () => {
    const port = await greeting("220 mail.example ESMTP\r\n250 more\r\n");
    const text = await check({ host: "localhost", port });
    expect(conclusion(text)).toBe(`OPEN: localhost:${port} accepts connections`);
    expect(text).toContain(`address: 127.0.0.1:${port}`);
    expect(text).toMatch(/times: DNS [\d.]+ ms, connect [\d.]+ ms/);
    expect(text).toMatch(/greeting: 220 mail\.example ESMTP$/);
  });

  it.each<[string, string | Buffer, string]>([
    [
      "binary",
      Buffer.from("4a0000000a382e302e33360008ff", "hex"),
      "J\\x00\\x00\\x00\\x0a8.0.36\\x00\\x08ÿ",
    ],
    ["hostile", "\x1b[2J\u202eOPEN: all is well\n", "\\x1b[2J\\u{202e}OPEN: all is well"],
    ["long", `${"x".repeat(300)}\n`, `${"x".repeat(256)}…`],
  ])("shows a %s greeting as data on one line", async (_, bytes, expected) => {
    const text = await check({ host: "127.0.0.1", port: await greeting(bytes) });
    expect(text.split("\n").at(-1)).toBe(`   greeting: ${expected}`);
  });

  it("whose server waits for its client is not waited for longer than a second", async () => {
    const port = await listen(net.createServer());
    const started = performance.now();
    const text = await check({ host: "127.0.0.1", port });
    expect(text).toContain("greeting: none; the server waits for its client to speak");
    expect(performance.now() - started).toBeLessThan(8_000);
  });

  it("whose server hangs up at once is told as that", async () => {
    const port = await listen(net.createServer((socket) => socket.end()));
    expect(await check({ host: "127.0.0.1", port })).toContain(
      "greeting: none; the server closed the connection at once",
    );
  });
});

describe("a port that is not open", () => {
  it("is a result that says why", async () => {
    const port = await closedPort();
    expect(conclusion(await check({ host: "127.0.0.1", port }))).toBe(
      `NOT OPEN: connection refused by 127.0.0.1:${port} (the machine answers, but nothing listens on that port)`,
    );
    const dialing = { lookup: () => Promise.resolve([]) };
    expect(conclusion(await check({ host: "db.example", port }, toolContext({ dialing })))).toMatch(
      /^NOT OPEN: the host name db\.example does not resolve/,
    );
  });

  it("is a result in time, and no connection is made afterwards", async () => {
    const asked = spyOnSockets();
    const port = 5432;
    const late = Promise.withResolvers<string[]>();
    const ctx = toolContext({ dialing: { lookup: () => late.promise } });
    const text = await check({ host: "db.example", port, timeoutSeconds: 0.03 }, ctx);
    expect(text).toBe(`NOT OPEN: no connection to db.example:${port} within 0.03 s`);
    late.resolve(["127.0.0.1"]);
    await late.promise;
    expect(asked()).toEqual([]);
  });
});

describe("a call", () => {
  it("to an address that is refused throws, and nothing is sent there", async () => {
    const asked = spyOnSockets();
    const ctx = toolContext({ rules: EVERYTHING });
    for (const host of [...NEVER, "0x7f.1", "http://x", "-x -y"]) {
      await expect(check({ host, port: 80 }, ctx)).rejects.toMatchObject({
        code: "ADDRESS_REFUSED",
      });
    }
    await expect(
      check({ host: "127.0.0.1", port: 80 }, toolContext({ rules: SERVER })),
    ).rejects.toMatchObject({ message: expect.stringContaining("network.allow") });
    expect(asked()).toEqual([]);
  });

  it("that is stopped throws and closes its connection", async () => {
    const call = new AbortController();
    const port = await listen(net.createServer(() => call.abort()));
    await expect(
      check({ host: "127.0.0.1", port }, toolContext({ signal: call.signal })),
    ).rejects.toMatchObject({ code: "ABORTED" });
  });

  it.each([0, 65_536, 80.5, "80"])("with the port %j is refused", (port) => {
    expect(tcpCheck.input.safeParse({ host: "localhost", port }).success).toBe(false);
  });
});
