import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { collect, Program } from "../fakes/program.ts";

/** A real nginx under the machine's own init scripts, on port 80. */
const service = (verb: string) => spawnSync("service", ["nginx", verb], { encoding: "utf8" });

let program: Program;
beforeEach(() => {
  service("stop");
  program = new Program();
});
afterEach(() => {
  program.remove();
  service("stop");
});

test("nginx is found down, its restart asked for, the program killed at the card, and the restart approved and verified", async () => {
  const child = program.start();
  const said = collect(child.stdout);
  child.stdin.write("run http_check url=http://127.0.0.1/\n");
  await expect.poll(said).toContain("DOWN: connection refused");
  child.stdin.write("run restart_service name=nginx\n");
  await expect.poll(said).toMatch(/DESTRUCTIVE · Restart nginx[^]*not running[^]*y approve/);
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
  expect(service("status").status).not.toBe(0);

  const { out: audit } = await program.run(["audit"]);
  const { thread } = JSON.parse(audit.split("\n")[0] ?? "") as { thread: string };
  const { code, out } = await program.run(
    ["--thread", thread],
    "y\nrun http_check url=http://127.0.0.1/\n",
  );
  expect(code).toBe(0);
  expect(out).toMatch(/a1 approved by[^]*Verified: nginx is running/);
  expect(service("status").status).toBe(0);

  const after = await program.run(["ask", "run http_check url=http://127.0.0.1/"]);
  expect(after).toMatchObject({ code: 0, out: expect.stringContaining("UP: 200 OK") });
  const state = await program.run(["ask", "run service_status name=nginx"]);
  expect(state.out).toContain("running");
});

test("a restart that was denied leaves the service as it is", async () => {
  const { err, code } = await program.run(["ask", "run restart_service name=nginx"]);
  expect(code).toBe(3);
  const thread = /--thread (\S+)/.exec(err)?.[1] ?? "";
  const { out } = await program.run(["--thread", thread], "n because it is peak hour\n");
  expect(out).toMatch(/denied by .*it is peak hour/);
  expect(service("status").status).not.toBe(0);
});

test("a service that is not there is said to be not there, and nobody is asked", async () => {
  const { code, out } = await program.run(["ask", "run restart_service name=no-such-service"]);
  expect(code).toBe(1);
  expect(out).toMatch(/no-such-service/);
});
