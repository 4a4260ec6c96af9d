import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Program } from "../fakes/program.ts";
import { RedisServer } from "../fakes/redis-server.ts";

describe("the program on a shared store", () => {
  let server: RedisServer;
  let program: Program;
  beforeAll(async () => {
    server = await RedisServer.start();
    program = new Program({
      REDIS_URL: `unix://${server.path}`,
      WATCHKEEPER_SECRET: "a secret of the tests, 32 long or more",
    });
  });
  afterAll(async () => {
    program.remove();
    await server.stop();
  });

  test("a command that only looks claims nothing and leaves 0.3's store as it is; a start takes it over and says so", async () => {
    expect((await program.run(["doctor"])).code).toBe(0);
    expect(server.cli("DBSIZE")).toBe("0");
    const old = readFileSync(join(import.meta.dirname, "../journal/version-1-redis.json"), "utf8");
    const commands = JSON.parse(old) as string[][];
    for (const command of commands) server.cli(...command);
    const marker = server.cli("GET", "wk:store");
    const [doctor, trace] = await Promise.all(
      [["doctor"], ["trace", "old"]].map((args) => program.run(args)),
    );
    expect(doctor?.code).toBe(0);
    expect(doctor?.out).toMatch(
      /^– +store .*store version 1 \(0\.3\); `npm start` upgrades it to 3, 0\.3 cannot read it then: keep a copy\.$/m,
    );
    expect(trace?.out.trim().split("\n")).toHaveLength(4);
    expect(server.cli("GET", "wk:store")).toBe(marker);
    const asked = await program.run(["ask", "help"]);
    expect(asked.err).toContain("store upgraded from 1 to 3; 0.3 cannot read it any more");
    expect(server.cli("GET", "wk:store")).toMatch(/^3 \S+ \S+$/);
    server.cli("FLUSHALL");
  });

  test("answers, remembers, and says where it keeps things and what may be lost", async () => {
    const asked = await program.run(["ask", "tools"]);
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining("http_check") });
    expect(asked.err).toContain("keeps nothing over a restart");
    const [audit, doctor, verified] = await Promise.all(
      [["audit"], ["doctor"], ["audit", "--verify"]].map((args) => program.run(args)),
    );
    expect(verified?.code).toBe(0);
    expect(JSON.parse(verified?.out ?? "")).toEqual({
      thread: expect.stringMatching(/^terminal:/),
      entries: expect.any(Number),
      sealedFrom: 1,
      head: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(audit).toMatchObject({ code: 0, out: expect.stringContaining('"text":"tools"') });
    expect(doctor?.code).toBe(0);
    expect(doctor?.out).toContain(
      `ok     store            Redis at ${server.path}, 1 thread and 0 incidents; readable, \`audit --verify\` checks the seals`,
    );
    expect(doctor?.out).toMatch(/^– +store .*keeps nothing over a restart/m);
    expect(existsSync(join(program.folder, "data/watchkeeper.db"))).toBe(false);
  });

  test("says where a thread was touched, from where 0.3's are sealed, and keeps to the rest", async () => {
    const [entries = ""] = server.cli("--scan", "--pattern", "*:entries:terminal:*").split("\n");
    const [first = "", second = ""] = server.cli("LRANGE", entries, "0", "1").split(/\n(?=s\d)/);
    server.cli("LSET", entries, "1", first);
    const old = readFileSync(join(import.meta.dirname, "../journal/version-1-redis.json"), "utf8");
    for (const command of JSON.parse(old) as string[][]) {
      if (!command.includes("wk:store")) server.cli(...command);
    }
    const touched = await program.run(["audit", "--verify"]);
    server.cli("LSET", entries, "1", second);
    expect(touched.code).toBe(1);
    const lines = touched.out.trim().split("\n");
    const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(said.find(({ thread }) => thread === "terminal:old")).toEqual({
      thread: "terminal:old",
      entries: 3,
      sealedFrom: null,
      head: null,
    });
    expect(said.find(({ thread }) => thread !== "terminal:old")).toMatchObject({
      problem: expect.stringContaining("entry 2 repeats the id of an earlier one"),
    });
    expect(said).toHaveLength(2);
  });

  test("does not start where approvals could be dropped, nor without the server", async () => {
    server.cli("CONFIG", "SET", "maxmemory", "100mb");
    server.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const refused = await program.run(["ask", "tools"]);
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("noeviction") });
    await server.kill();
    const away = await program.run(["ask", "tools"]);
    expect(away).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/ECONNREFUSED/) });
  });
});
