import { expect, test } from "vitest";
import { planOf } from "../../src/checks/plan.ts";
import { hintText } from "../../src/checks/hints.ts";
import { checkProblems } from "../../src/app/check-tools.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { createActivateSkill } from "../../src/tools/skills/activate-skill.ts";
import { createTools } from "../../src/tools/registry.ts";
import { idleContext } from "../fakes/tool-context.ts";
import { folderWith, plain, skillText } from "./folder.ts";

const HINTS = `hints:
  - for: { namespace: ["Shop*", cart] }
    leave_out: [host_*]
    use: [http_check]
    why: "Its machines are not ours."
`;
const CHECKS = `checks:
  page: { tool: http_check, with: { url: "{{url}}" } }
  machine: { tool: host_overview }
`;

async function loaded(hints: string) {
  const folder = await folderWith({
    "web/SKILL.md": skillText("web"),
    "web/checks.yaml": CHECKS,
    "web/hints.yaml": hints,
  });
  const { skills, problems } = await loadSkills([folder], plain);
  const [skill] = skills;
  if (skill?.checks === undefined) throw new Error("no checks");
  return { skill: { ...skill, checks: skill.checks }, problems };
}

test("what hints leave out for a namespace is not among the calls that checks make there", async () => {
  const { skill, problems } = await loaded(HINTS);
  expect(problems).toEqual([]);
  const toolsFor = (subject: Record<string, string>) =>
    planOf([skill], { url: "http://a", ...subject }).map(({ tool }) => tool);
  expect(toolsFor({ namespace: "shop-eu" })).toEqual(["http_check"]);
  expect(toolsFor({ namespace: "cart" })).toEqual(["http_check"]);
  expect(toolsFor({ namespace: "pay" })).toEqual(["http_check", "host_overview"]);
  expect(toolsFor({})).toEqual(["http_check", "host_overview"]);
  const others = skill.hints ?? [];
  expect(planOf([{ ...skill, hints: undefined }], { namespace: "cart" }, others)).toHaveLength(1);
});

test("a model reads them with the instructions, and finds no file of them", async () => {
  const { skill } = await loaded(HINTS);
  const { text } = await createActivateSkill([skill]).run({ name: "web" }, idleContext({}));
  const [hint] = skill.hints ?? [];
  expect(text).toContain(
    "For namespace Shop* or cart: use http_check; leave out host_*. Its machines are not ours.",
  );
  expect(text).toContain(hint && hintText(hint));
  expect(await skill.files()).toEqual([]);
});

test.each([
  ["hints: []", /hints\.yaml:1:\d+: hints/],
  ["hints: [{ for: {}, use: [a] }]", /expected one at least/],
  ["hints: [{ for: { colour: red }, use: [a] }]", /colour/],
  ["hints: [{ for: { namespace: a } }]", /expected use: or leave_out:/],
])("a mistake in them is told with its line, and the skill is there: %s", async (text, told) => {
  const { skill, problems } = await loaded(text);
  expect(skill.hints).toBeUndefined();
  expect(problems.map((each) => `${each.at}: ${each.text}`).join("\n")).toMatch(told);
});

test("tools that hints and `allowed-tools` name have to be there", async () => {
  const tools = await createTools();
  const folder = await folderWith({
    "web/SKILL.md": skillText("web", "allowed-tools: http_chek Bash(git:*) postgres_locks\n"),
    "web/hints.yaml": HINTS.replace("[http_check]", "[dns_lokup]"),
  });
  const { skills } = await loadSkills([folder], plain);
  const missing = [{ name: "postgres", why: "POSTGRES_URL is not set" }];
  const found = checkProblems(skills, tools, missing);
  expect(
    found.map(({ at, text, isMistake }) => [at.slice(folder.length), text, isMistake]),
  ).toEqual([
    [
      "/web/hints.yaml:4:11",
      "hint: dns_lokup: no tool has this name; did you mean dns_lookup?",
      true,
    ],
    [
      "/web/SKILL.md:4",
      "allowed-tools: http_chek: no tool has this name; did you mean http_check?",
      true,
    ],
    ["/web/SKILL.md:4", "allowed-tools: postgres_locks: not here: POSTGRES_URL is not set", false],
  ]);
});
