import { expect, test } from "vitest";
import * as z from "zod";
import type { JsonObject } from "../../src/core/entry.ts";
import { hashTerms } from "../../src/core/run-terms.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import { createTools } from "../../src/tools/registry.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { ofKind, talking } from "../agent/talking.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import { fakeTool } from "../fakes/stage.ts";
import { folderWith, plain, skillText } from "./folder.ts";

const allowedIn = async (line: string) => {
  const folder = await folderWith({ "web/SKILL.md": skillText("web", `${line}\n`) });
  const { skills, problems } = await loadSkills([folder], plain);
  return { calls: skills[0]?.allowed?.calls, at: skills[0]?.allowed?.at, problems };
};

test.each([
  ["http_check  kubernetes_*", [{ tool: "http_check" }, { tool: "kubernetes_*" }]],
  ["look, act", [{ tool: "look" }, { tool: "act" }]],
  ["Bash", [{ tool: "run_command" }, { tool: "run_skill_script" }]],
  ["Bash(git:*)", [{ tool: "run_command", argv: ["git"] }]],
  ["Bash(git status *) Read", [{ tool: "run_command", argv: ["git", "status"] }]],
  ["Bash(df -h)", [{ tool: "run_command", argv: ["df", "-h"], isWhole: true }]],
])("`allowed-tools: %s` is read as Agent Skills write it", async (text, calls) => {
  const found = await allowedIn(`allowed-tools: ${text}`);
  expect(found.calls).toEqual(calls);
  expect(found.at).toMatch(/web\/SKILL\.md:4$/);
  expect(found.problems).toEqual([]);
});

test("an empty list of allowed tools is none", async () => {
  expect((await allowedIn('allowed-tools: ""')).calls).toBeUndefined();
});

const UNKNOWN = { text: "INCONCLUSIVE: it is not known." };

/** A run of a model that first takes up the skill `web`, with these allowed calls. */
async function following(
  allowed: Parameters<typeof hashTerms>[0]["allowed"],
  calls: { name: string; args: JsonObject }[],
  then: readonly Saying[] = [],
) {
  const folder = await folderWith({
    "web/SKILL.md": skillText("web"),
    "disk/SKILL.md": skillText("disk"),
  });
  const { skills } = await loadSkills([folder], plain);
  const own = (await createTools({}, { skills })).filter(({ name }) => /skill/.test(name));
  const command = defineTool({
    name: "run_command",
    description: "Runs it.",
    input: z.strictObject({ argv: z.array(z.string()) }),
    effect: "read",
    timeoutMs: 1_000,
    run: async ({ argv }) => ({ text: argv.join(" ") }),
  });
  const tools = [...own, fakeTool({ name: "look" }), fakeTool({ name: "see" }), command];
  const stage = await talking([...calls.map((each) => ({ calls: [each] })), UNKNOWN, ...then], {
    tools,
    talk: { tools: tools.map(toolSpec), ...(allowed && { allowed }) },
  });
  await stage.ask("why is the web slow?");
  const finished = ofKind(await stage.entries(), "tool_finished");
  return { stage, outcomes: finished.map(({ outcome }) => outcome), finished };
}

const activate = (name: string) => ({ name: "activate_skill", args: { name } });
const look = { name: "look", args: { name: "web" } };
const see = { name: "see", args: { name: "web" } };
const run = (...argv: string[]) => ({ name: "run_command", args: { argv } });

test("a run that follows a skill may call only what the skill allows, and its model is told why", async () => {
  const allowed = { web: [{ tool: "look" }, { tool: "run_command", argv: ["git", "log"] }] };
  const { outcomes, finished, stage } = await following(allowed, [
    see,
    activate("web"),
    see,
    look,
    run("git", "log", "-3"),
    run("/usr/bin/git", "log"),
    run("git", "push"),
    { name: "find_skill", args: { text: "disk" } },
  ]);
  expect(outcomes).toEqual(["ok", "ok", "blocked", "ok", "ok", "ok", "blocked", "ok"]);
  expect(finished[2]?.text).toContain(
    "The skill web, which this run follows, allows only look, run_command with git log …, so see was not executed.",
  );
  const [first] = stage.model.requests;
  for (const { tools } of stage.model.requests) expect(tools).toEqual(first?.tools);
});

test("a second skill never widens what the first allows", async () => {
  const allowed = { web: [{ tool: "look" }], disk: [{ tool: "see" }] };
  const { outcomes } = await following(allowed, [activate("web"), activate("disk"), look, see]);
  expect(outcomes).toEqual(["ok", "ok", "blocked", "blocked"]);
});

test("the next run of the thread is free again", async () => {
  const { stage, outcomes } = await following(
    { web: [{ tool: "look" }] },
    [activate("web"), see],
    [{ calls: [see] }, UNKNOWN],
  );
  expect(outcomes).toEqual(["ok", "blocked"]);
  await stage.ask("and now?");
  expect(ofKind(await stage.entries(), "tool_finished").at(-1)?.outcome).toBe("ok");
});

test("what skills allow belongs to a run's terms, and no list changes none of today's", () => {
  const terms = {
    model: "m",
    system: "s",
    tools: [],
    budget: { steps: 1, tokens: 1, minutes: 1 },
    maxOutputTokens: 1,
    tokensPerDay: 1,
    contextWindow: 1,
  };
  const narrowed = hashTerms({ ...terms, allowed: { web: [{ tool: "look" }] } });
  expect(narrowed.prefix).not.toBe(hashTerms(terms).prefix);
});
