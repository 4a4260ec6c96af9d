import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { Program } from "../fakes/program.ts";
import { type Provider, startProvider, WIRES } from "../fakes/provider.ts";
import { skillText } from "../skills/folder.ts";

let program: Program | undefined;
let provider: Provider | undefined;
afterEach(async () => {
  program?.remove();
  await provider?.stop();
  provider = undefined;
});

/** A program with a folder of skills: `web`, and one that has no description. */
function configured(env: Record<string, string> = {}): Program {
  const made = (program = new Program(env));
  const folder = join(made.folder, "runbooks");
  for (const [name, text] of [
    ["web", skillText("web", "colour: blue\n")],
    ["bad", "---\nname: bad\n---\n"],
    ["http-5xx", skillText("http-5xx", "", "As we do it here.")],
  ] as const) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "SKILL.md"), text);
  }
  writeFileSync(join(made.folder, "watchkeeper.yaml"), `skills: { folders: [${folder}] }\n`);
  return made;
}

describe("the program with a folder of skills", () => {
  test("lists in doctor what it loaded, and what is wrong with which file", async () => {
    const { code, out } = await configured().run(["doctor"]);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^ok +skills +bad-deploy, [^\n]*http-5xx, [^\n]*slow-responses, [^\n]*web$/m,
    );
    expect(out).toMatch(/– +skill +\S+runbooks\/bad\/SKILL\.md:1: description/);
    expect(out).toMatch(/– +skill +\S+skills\/http-5xx: replaced by \S+ [^\n]*runbooks/);
    expect(out).toMatch(/ok +skill +\S+runbooks\/web\/SKILL\.md:4: [^\n]*colour/);
  });

  test("has them in front of each request, and replay makes the same request again", async () => {
    provider = await startProvider(WIRES.anthropic, (request) =>
      request.results === 0
        ? {
            toolCalls: [{ id: "call_1", name: "activate_skill", arguments: '{"name":"http-5xx"}' }],
          }
        : { content: "INCONCLUSIVE: nothing was looked at." },
    );
    const { folder, run } = bound(configured({ ...provider.env, LOG_LEVEL: "error" }));
    const asked = await run(["ask", "--json", "why 502?"]);
    expect(asked).toMatchObject({ code: 0 });
    const systems = provider.requests.map(({ messages }) => JSON.stringify(messages[0]));
    expect(systems[0]).toContain("- web: Does web.");
    expect(systems[1]).toBe(systems[0]);
    expect(JSON.stringify(provider.requests[1])).toContain("As we do it here.");
    const thread = /terminal:[\w-]+/.exec(asked.out)?.[0] ?? "";
    expect((await run(["replay", thread])).out.match(/request identical/g)).toHaveLength(2);
    writeFileSync(join(folder, "runbooks/web/SKILL.md"), skillText("web").replace("Does", "Makes"));
    expect((await run(["replay", thread])).out).not.toContain("request identical");
  });

  test("refuses a folder that is no absolute path", async () => {
    const { folder: cwd } = configured();
    writeFileSync(join(cwd, "watchkeeper.yaml"), "skills: { folders: [runbooks, /] }\n");
    await expect(loadConfig({}, { cwd })).rejects.toThrow(
      /skills\.folders\[0\]: expected an absolute path[^]*folders\[1\]: expected/,
    );
  });
});

function bound(made: Program) {
  return { folder: made.folder, run: (args: string[]) => made.run(args) };
}
