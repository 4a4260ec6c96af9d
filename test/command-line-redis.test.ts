import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Program } from "./fakes/program.ts";
import { RedisServer } from "./fakes/redis-server.ts";

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

  test("answers, remembers, and says where it keeps things and what may be lost", async () => {
    const asked = await program.run(["ask", "tools"]);
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining("http_check") });
    expect(asked.err).toContain("keeps nothing over a restart");
    const [audit, doctor] = await Promise.all([program.run(["audit"]), program.run(["doctor"])]);
    expect(audit).toMatchObject({ code: 0, out: expect.stringContaining('"text":"tools"') });
    expect(doctor.code).toBe(0);
    expect(doctor.out).toContain(
      `ok     store            Redis at ${server.path}, 1 threads and 0 incidents, intact`,
    );
    expect(doctor.out).toMatch(/^absent store .*keeps nothing over a restart/m);
    expect(existsSync(join(program.folder, "data/watchkeeper.db"))).toBe(false);
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
