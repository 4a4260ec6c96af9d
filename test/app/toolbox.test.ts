import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createToolbox } from "../../src/app/toolbox.ts";
import { loadToolset } from "../../src/app/toolset.ts";
import { loadConfig } from "../../src/config/config.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import { DAY_MS, usedSkills } from "../skills/used.ts";
import { createFreezes } from "../../src/team/freezes.ts";

const pack = (more = "") => `tools:
  shop_list:
    description: Lists${more}.
    effect: read
    args: { what: [orders, carts] }
    say: ["list the {{what}}"]
    run: [echo, "{{what}}"]
`;

async function opened(yaml = "", used?: string) {
  const folder = await mkdtemp(join(tmpdir(), "toolbox-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const write = (text: string) => writeFile(join(folder, "shop.yaml"), text, { mode: 0o644 });
  await write(pack());
  if (yaml !== "") await writeFile(join(folder, "watchkeeper.conf"), yaml);
  const env = {
    PACKS_DIR: folder,
    MODEL: "anthropic/claude-test",
    ANTHROPIC_API_KEY: "sk-ant-test-0123456789",
    ...(yaml !== "" && { WATCHKEEPER_CONFIG: join(folder, "watchkeeper.conf") }),
  };
  const config = await loadConfig(env, { cwd: folder });
  const said: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void said.push(line) });
  const toolset = await loadToolset(config);
  const { clock, journal, take } = usedSkills();
  clock.now = Date.now() - 10 * DAY_MS;
  if (used !== undefined) await take("slack:T1:C1:1.1", used);
  const noFreezes = createFreezes({ read: async () => [], post: () => Promise.reject() });
  const toolbox = createToolbox(config, toolset, {
    log,
    encoder: createEncoder([]),
    freezes: noFreezes,
    models: { standing: (id) => id },
    adapters: new Map(),
    journal,
  });
  return { write, toolbox, said, names: () => toolbox.tools.map(({ name }) => name) };
}

test("what requests begin with takes a quarter of the window at most, however small that is", async () => {
  const window = 8_192;
  const { toolbox } = await opened(`model: { contextWindow: ${window} }`);
  const { terms } = toolbox.run;
  expect(terms?.fixedTokens).toBeLessThanOrEqual(window / 4);
  expect(terms?.tools.map(({ name }) => name)).toContain("find_tools");
  expect(terms?.foundTools).toContain("shop_list");
});

test("a pack that is saved changes what is offered, and not to a run that is under way", async () => {
  const { write, toolbox, names, said } = await opened();
  const { terms: began = { prefix: "" } } = toolbox.run;
  expect(toolbox.read("list the carts")).toMatchObject({ command: { tool: "shop_list" } });
  await toolbox.reload();
  expect(toolbox.run.terms).toBe(began);
  await write(pack(" everything"));
  await toolbox.reload();
  expect(toolbox.run.terms?.prefix).not.toBe(began.prefix);
  expect(toolbox.run.termsOf?.(began.prefix)).toBe(began);
  await write("tools: {}");
  await toolbox.reload();
  expect(names()).not.toContain("shop_list");
  expect(toolbox.read("list the carts")).toEqual({ kind: "message" });
  await write("tools: 1");
  await toolbox.reload();
  expect(said.at(-1)).toContain("what it was before stays in use");
});

test("a pack that its rules do not fit any more stays what it was", async () => {
  const rules = `approvals:
  rules:
    - match: { tool: shop_list, args: { what: carts } }
      decide: deny
`;
  const { write, toolbox, names, said } = await opened(rules);
  const [before] = toolbox.tools.filter(({ name }) => name === "shop_list");
  await write(pack().replaceAll("what", "which"));
  await toolbox.reload();
  expect(toolbox.tools.find(({ name }) => name === "shop_list")).toBe(before);
  expect(said.join("")).toContain("the rules do not fit them any more");
  await write("tools: {}");
  await toolbox.reload();
  expect(names()).not.toContain("shop_list");
});

test("a skill that is saved, broken or taken away is taken up between runs, and a run under way keeps its terms", async () => {
  const skillsFolder = await mkdtemp(join(tmpdir(), "toolbox-skills-"));
  onTestFinished(() => rm(skillsFolder, { recursive: true }));
  const { toolbox, said } = await opened(`skills: { folders: [${skillsFolder}] }\n`);
  const system = () => toolbox.run.terms?.system ?? "";
  const { terms: began = { prefix: "" } } = toolbox.run;
  expect(system()).not.toContain("- shop:");
  await mkdir(join(skillsFolder, "shop"));
  const file = join(skillsFolder, "shop/SKILL.md");
  const saved = async (text: string) => {
    await writeFile(file, text);
    await toolbox.reload();
  };
  await saved("---\nname: shop\ndescription: The shop is down.\n---\nLook.\n");
  expect(system()).toContain("- shop: The shop is down.");
  expect(toolbox.run.termsOf?.(began.prefix)).toBe(began);
  await saved("---\nname: shop\n---\n");
  expect(system()).toContain("- shop: The shop is down.");
  expect(said.join("")).toMatch(
    /shop\/SKILL\.md:1: description: .*what it was before stays in use/,
  );
  const before = said.length;
  await toolbox.reload();
  expect(said).toHaveLength(before);
  await saved("---\nname: shop\ndescription: It is slow.\n---\nLook.\n");
  await writeFile(
    join(skillsFolder, "shop/checks.yaml"),
    "checks: { page: { tool: http_check, with: { url: '{{url}}' } } }\n",
  );
  await toolbox.reload();
  expect(system()).toContain("- shop: It is slow.");
  await rm(join(skillsFolder, "shop"), { recursive: true });
  await toolbox.reload();
  expect(system()).not.toContain("- shop:");
});

test("the skills that were used most are described, and a run under way keeps its list", async () => {
  const { toolbox } = await opened("skills: { described: 2, pinned: [web] }\n", "queue-backlog");
  const described = () => toolbox.run.terms?.system.match(/^- [a-z][\w-]+: /gm);
  const { terms: began = { prefix: "" } } = toolbox.run;
  const before = described();
  await toolbox.reorder();
  expect(described()).toContain("- queue-backlog: ");
  expect(described()).not.toEqual(before);
  expect(toolbox.run.termsOf?.(began.prefix)).toBe(began);
});
