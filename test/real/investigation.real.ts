import { spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { collect, Program } from "../fakes/program.ts";
import { type Answers, type Provider, startProvider, WIRES } from "../fakes/provider.ts";

/** A real nginx that is down, found and restarted by a model that says what a good one would. */
const service = (verb: string) => spawnSync("service", ["nginx", verb], { encoding: "utf8" });

let provider: Provider | undefined;
let program: Program | undefined;
beforeEach(() => void service("stop"));
afterEach(async () => {
  program?.remove();
  await provider?.stop();
  service("stop");
});

function call(id: string, name: string, args: object) {
  return { id, name, arguments: JSON.stringify(args) };
}

const CHECK = { url: "http://127.0.0.1/" };

/** Two looks at once, one more, the restart, a look at what came of it, the answer. */
const investigates: Answers = ({ results }) => {
  if (results === 0) {
    const toolCalls = [
      call("call_1", "http_check", CHECK),
      call("call_2", "service_status", { name: "nginx" }),
    ];
    return { content: "Looking at the site and its service.", toolCalls };
  }
  if (results === 2) return { toolCalls: [call("call_3", "disk_usage", {})] };
  if (results === 3) {
    return {
      content: "Nothing listens on port 80 because nginx is stopped, and the disks are fine.",
      toolCalls: [call("call_4", "restart_service", { name: "nginx" })],
    };
  }
  if (results === 4) return { toolCalls: [call("call_5", "http_check", CHECK)] };
  return {
    content:
      "CONFIRMED: the shop was down because nginx was stopped [T1] [T2]; I restarted it [T4], and it answers again [T5].\n\n- The disks are fine [T3].",
  };
};

test.each(Object.entries(WIRES))(
  "by %s: a fault is found and repaired although the program is killed while the model thinks, at the card, and after the restart",
  async (_, wire) => {
    let child: ChildProcess | undefined;
    /** Requests at which the program dies instead of hearing the answer. */
    const deadly = new Set([1, 5]);
    provider = await startProvider(wire, async (request) => {
      if (deadly.delete(request.results === 2 ? 1 : request.results)) {
        child?.kill("SIGKILL");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return investigates(request);
    });
    program = new Program(provider.env);
    // The model makes each look itself.
    writeFileSync(join(program.folder, "watchkeeper.yaml"), "model: { firstLook: false }\n");

    const first = (child = program.start());
    const gone = once(first, "close");
    first.stdin.write("why is the shop slow? it is http://127.0.0.1/\n");
    await gone; // killed at its second request, with two results in the journal

    const { out: audit } = await program.run(["audit"]);
    const { thread } = JSON.parse(audit.split("\n")[0] ?? "") as { thread: string };
    const second = (child = program.start("--thread", thread));
    const shown = collect(second.stdout);
    await expect
      .poll(shown)
      .toMatch(/DESTRUCTIVE · Restart nginx[^]*Nothing listens on port 80[^]*y approve/);
    const killed = once(second, "close");
    second.kill("SIGKILL");
    await killed;
    expect(service("status").status).not.toBe(0);

    const third = (child = program.start("--thread", thread));
    const died = once(third, "close");
    const card = collect(third.stdout);
    await expect.poll(card).toContain("y approve");
    third.stdin.write("y\n");
    await died; // at the request after the last look: the restart is done
    expect(service("status").status).toBe(0);

    const { out, code } = await program.run(["--thread", thread]);
    expect(code).toBe(0);
    expect(out).toContain("CONFIRMED: the shop was down because nginx was stopped");
    expect(out).toMatch(/\[T4\] .*Restart nginx/);
    const { out: whole } = await program.run(["audit", "--thread", thread]);
    const entries = whole
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; tool?: string });
    const restarts = entries.filter(
      ({ kind, tool }) => kind === "tool_started" && tool === "restart_service",
    );
    expect(restarts).toHaveLength(1);
    expect(entries.filter(({ kind }) => kind === "tool_finished")).toHaveLength(5);

    const { out: replayed } = await program.run(["replay", thread]);
    expect(replayed.match(/request identical/g)).toHaveLength(5);
  },
  120_000,
);
