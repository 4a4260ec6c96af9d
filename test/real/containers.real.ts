import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MACHINE_FAULTS } from "../../lab/faults/machine.ts";
import { type Lab, openLab, removeLab } from "../../lab/lab.ts";
import { containers } from "../../lab/parts/containers.ts";
import { createTools } from "../../src/tools/docker/tools.ts";
import { Program } from "../fakes/program.ts";
import { prepare } from "../tools/calling.ts";

/** A real podman, by Docker's API. It is started as root alone. */

let lab: Lab;
let program: Program;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "wk-lab-"));
  chmodSync(folder, 0o755);
  lab = openLab(folder);
  if (containers.missing?.() === undefined) await containers.start(lab);
  program = new Program(lab.state.variables);
}, 120_000);
afterAll(async () => {
  program.remove();
  containers.stop?.(lab);
  await removeLab(lab);
}, 60_000);

const ask = async (words: string) => (await program.run(["ask", words])).out;

describe.runIf(containers.missing?.() === undefined)("a real podman", () => {
  test("a container that ended is named with the line of its log that says why", async () => {
    const fault = MACHINE_FAULTS.find(({ name }) => name === "container-exits");
    const { ask: words = "", says = /^$/ } = fault?.named ?? {};
    expect(await ask(words)).not.toMatch(says);
    await fault?.break(lab);
    await expect.poll(() => ask(words)).toMatch(says);
    expect(await ask("run docker_logs container=cart")).toContain("FATAL: DATABASE_URL is not set");
    expect(await ask("run docker_events since=10m")).toMatch(/container cart (?:die|died)/);
    const changed = await ask("run what_changed since=10m");
    expect(changed).toMatch(/docker: container cart (?:created|made again|started)/);
    await fault?.mend(lab);
    expect(await ask(words)).not.toMatch(says);
  });

  test("reads say what the engine says", async () => {
    expect(await ask("run docker_inspect container=mailer")).toContain(
      "variables: HOSTNAME, PATH, TERM",
    );
    expect(await ask("run docker_stats")).toMatch(/mailer CPU [\d.]+ %, memory .* 1 processes/);
    expect((await program.run(["doctor"])).out).toMatch(/^ok +docker +Podman Engine/m);
  });

  test("a stop is read back, and its reverse starts that very container again", async () => {
    const socketPath = (lab.state.variables["DOCKER_HOST"] ?? "").replace("unix://", "");
    const tools = createTools({ default: { url: "http://docker/", socketPath } });
    const act = async (name: string, given: object) => {
      const { tool, args, ctx } = prepare(tools, name, { ...given });
      const pinned = await tool.pin?.(args, ctx);
      await tool.precheck?.(pinned, ctx);
      await tool.run(pinned, ctx);
      const { verdict, undo } = (await tool.verify?.(pinned, ctx, Date.now())) ?? {};
      expect(verdict).toBe("done");
      return undo;
    };
    await act("docker_restart", { container: "mailer" });
    const undo = await act("docker_stop", { container: "mailer" });
    expect(undo).toMatchObject({ tool: "docker_start" });
    await act("docker_start", undo?.args ?? {});
    expect(await ask("run docker_containers")).toContain("mailer running for");
  });
});
