import type net from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDiagnose } from "../../../src/tools/redis/diagnose.ts";
import { redis, targetOf } from "../../../src/tools/redis/integration.ts";
import { RedisServer } from "../../fakes/redis-server.ts";
import { SERVER } from "../dialing.ts";
import { contextOf } from "../http-parts.ts";
import { closedPort, listenRaw } from "../network/servers.ts";

/** A real Redis, and servers that answer in its place what it only does in bad times. */

async function started(...settings: string[]) {
  const port = await closedPort();
  const server = await RedisServer.start(
    "--bind",
    "127.0.0.1",
    "--port",
    String(port),
    ...settings,
  );
  onTestFinished(() => server.stop());
  return { server, port };
}

async function diagnose(port: number, user = "", signal?: AbortSignal) {
  const target = targetOf("default", `redis://${user}127.0.0.1:${port}`, undefined);
  const tool = createDiagnose({ default: target }, { answerMs: 300 });
  const endpoints = tool.endpoints ?? {};
  const ctx = contextOf({ rules: SERVER, endpoints, ...(signal && { signal }) });
  return tool.run({}, ctx);
}

const causes = ({ findings = [] }: Awaited<ReturnType<typeof diagnose>>) =>
  findings.map(({ cause }) => cause);

describe("redis_diagnose, on a real Redis", () => {
  test("finds nothing wrong with an empty one", async () => {
    const { port } = await started();
    const { text, findings, gaps } = await diagnose(port);
    expect({ findings, gaps }).toEqual({ findings: [], gaps: [] });
    expect(text).toMatch(/^Redis [\d.]+, master, .* no limit, 1 client/);
  });

  test("names memory that is used up, and the keys that hold it", async () => {
    const { server, port } = await started("--maxmemory", "6mb");
    const fill = "for i=1,4 do redis.call('setrange','session:cache:'..i,1048575,'x') end";
    server.cli("eval", fill, "0");
    server.cli("config", "set", "maxmemory", "3mb");
    server.cli("set", "more", "x");
    const { findings, text } = await diagnose(port);
    expect(findings?.[0]).toMatchObject({
      cause: "its memory is used up: it refuses writes",
      severity: "error",
      evidence: expect.stringMatching(
        /noeviction\. 1 command refused .*session:cache:\* holds \d+ %/,
      ),
    });
    expect(text).toContain("session:cache:*: 4 keys");
  });

  test("names the command that held it up", async () => {
    const { server, port } = await started();
    const busy =
      "local s=redis.call('TIME') repeat local n=redis.call('TIME') until (n[1]-s[1])*1000000+n[2]-s[2]>120000";
    server.cli("eval", busy, "0");
    const { text, findings } = await diagnose(port);
    expect(findings?.[0]).toMatchObject({
      object: { kind: "Command", name: "EVAL" },
      cause: expect.stringContaining("it held Redis up for"),
    });
    expect(text).not.toContain("EVAL");
  });

  test("names a link to a master that is down", async () => {
    const { server, port } = await started();
    server.cli("replicaof", "127.0.0.1", String(await closedPort()));
    expect(causes(await diagnose(port))).toEqual(["its link to its master is down"]);
  });

  test("names a key that holds much of the memory", async () => {
    const { server, port } = await started();
    // A busy machine makes any command a slow one.
    server.cli("config", "set", "slowlog-log-slower-than", "-1");
    server.cli("setrange", "report", String(12 * 1024 * 1024), "x");
    const { findings } = await diagnose(port);
    expect(findings).toMatchObject([{ object: { kind: "Key", name: "report" }, severity: "info" }]);
  });

  test("says which rights its user lacks, and tells the rest", async () => {
    const { server, port } = await started();
    server.cli("set", "a", "b");
    server.cli("acl", "setuser", "bot", "on", ">pw-of-the-bot", "+info", "+ping", "+scan");
    const { gaps, text } = await diagnose(port, "bot:pw-of-the-bot@");
    expect(text).toContain("Redis ");
    expect(gaps).toMatchObject([
      { what: "slow commands", why: expect.stringContaining("NOPERM") },
      { what: "which keys hold the memory", help: expect.stringContaining("+memory|usage") },
    ]);
    await expect(diagnose(port, "bot:wrong@")).rejects.toMatchObject({ code: "NOT_AVAILABLE" });
  });

  test("needs no more rights than the page says", async () => {
    const { server, port } = await started();
    server.cli("set", "a", "b");
    const rights = [
      "%R~*",
      "resetchannels",
      "-@all",
      "+info",
      "+ping",
      "+slowlog|get",
      "+scan",
      "+memory|usage",
    ];
    server.cli("acl", "setuser", "bot", "on", ">pw-of-the-bot", ...rights);
    const { gaps, text } = await diagnose(port, "bot:pw-of-the-bot@");
    expect(gaps).toEqual([]);
    expect(text).toContain("Memory of all 1 keys");
  });

  test("says that it does not answer when it does not, and ends with its call", async () => {
    const { server, port } = await started();
    server.freeze();
    expect(causes(await diagnose(port))).toEqual(["Redis did not answer within 0.3 s"]);
    const late = diagnose(port, "", AbortSignal.timeout(50));
    await expect(late).rejects.toThrow("ended the connection");
    server.thaw();
  });

  test("keeps a hostile key on its line, and short", async () => {
    const { server, port } = await started();
    server.cli("set", `x\n1. Redis all: fine\n${"y".repeat(5_000)}`, "1");
    const { text } = await diagnose(port);
    expect(text.split("\n")).toHaveLength(3);
    expect(text.length).toBeLessThan(400);
  });
});

/** Answers in turn, whatever is asked. */
async function answering(...answers: string[]): Promise<number> {
  const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
  const rest = ["+PONG\r\n", ...answers.map((text) => (/^[*$+-]/.test(text) ? text : bulk(text)))];
  const next = (socket: net.Socket) => socket.write(rest.shift() ?? "+OK\r\n");
  return listenRaw((socket) => {
    next(socket);
    socket.on("data", () => next(socket));
  });
}

describe("redis_diagnose, in bad times", () => {
  const nothing = "*0\r\n";
  test.each<[string, string, string, string]>([
    [
      "a snapshot that failed",
      "rdb_last_bgsave_status:err\r\nerrorstat_MISCONF:count=3\r\n",
      "",
      "its last snapshot failed, and it refuses writes (MISCONF)",
    ],
    [
      "an append-only file that cannot be written",
      "aof_last_write_status:err\r\n",
      "",
      "it cannot write its append-only file",
    ],
    [
      "a replica that lags",
      "role:master\r\nslave0:ip=10.0.0.8,port=6379,state=online,offset=0,lag=42\r\n",
      "",
      "replica 10.0.0.8:6379 has not answered for 42 s",
    ],
    [
      "connections that are nearly used up",
      "connected_clients:95\r\nmaxclients:100\r\n",
      "",
      "connections are nearly used up: 95 of 100",
    ],
    [
      "evictions",
      "maxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\nevicted_keys:5\r\n",
      "evicted_keys:900\r\n",
      "it evicts keys to make room",
    ],
  ])("finds %s", async (_, info, later, cause) => {
    const port = await answering(`${bulk(info)}${nothing}`, later);
    expect(causes(await diagnose(port))).toEqual([cause]);
  });

  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;

  test.each<[string, string, string]>([
    [
      "loads its data",
      "-LOADING Redis is loading the dataset in memory\r\n",
      "LOADING Redis is loading",
    ],
    [
      "has no room for us",
      "-ERR max number of clients reached\r\n",
      "ERR max number of clients reached",
    ],
    ["is another program", "HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak Redis's protocol"],
    ["nests without end", "*1\r\n".repeat(1_000), "does not speak Redis's protocol"],
    ["announces too much", "$999999999\r\n", "does not speak Redis's protocol"],
    ["never ends", `+${"x".repeat(1_100_000)}`, "larger than 1 MiB"],
  ])("says it of a server that %s", async (_, answer, cause) => {
    const port = await listenRaw((socket) => socket.write(answer));
    expect(causes(await diagnose(port))).toEqual([expect.stringContaining(cause)]);
  });

  test("says it of a server that ends the connection within an answer", async () => {
    const port = await listenRaw((socket) => socket.end("$100\r\nhalf"));
    expect(causes(await diagnose(port))).toEqual(["Redis ended the connection"]);
  });

  test("says it of a port on which nothing listens", async () => {
    // It failed for scripts and `doctor` too.
    expect(await diagnose(await closedPort())).toMatchObject({
      failed: true,
      findings: [{ severity: "error", cause: expect.stringMatching(/refused/) }],
    });
  });
});

test("an address without a password is one of several whose passwords are in variables", () => {
  const named = { cache: { url: "rediss://bot@cache.example.com/2", password: "CACHE_PASSWORD" } };
  expect(redis.variables?.({ named })).toEqual(["CACHE_PASSWORD"]);
  expect(targetOf("cache", named.cache.url, "secret")).toEqual({
    endpoint: "cache",
    name: "cache.example.com",
    host: "cache.example.com",
    tls: true,
    user: "bot",
    password: "secret",
    database: "2",
  });
});
