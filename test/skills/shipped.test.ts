import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkProblems } from "../../src/app/check-tools.ts";
import { loadToolset } from "../../src/app/toolset.ts";
import { loadConfig } from "../../src/config/config.ts";
import { catalogText } from "../../src/skills/catalog.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { argumentNames } from "../../src/tools/input-schema.ts";
import { plain } from "./folder.ts";

const { skills, problems } = await loadSkills([join(import.meta.dirname, "../../skills")], plain);
const { tools } = await everyTool();

/** The tools of a program that every system is set up for. */
async function everyTool() {
  const cluster = "clusters: [{ name: c, cluster: { server: 'https://127.0.0.1:1' } }]";
  const user = "users: [{ name: u, user: { token: a-long-enough-token } }]";
  const context = "contexts: [{ name: c, context: { cluster: c, user: u } }]\ncurrent-context: c";
  const kubeconfig = `apiVersion: v1\nkind: Config\n${cluster}\n${user}\n${context}\n`;
  const folder = await mkdtemp(join(tmpdir(), "skills-test-"));
  await writeFile(join(folder, "kubeconfig"), kubeconfig);
  const [http, token] = ["http://127.0.0.1:1", "a-long-enough-token"];
  const config = await loadConfig(
    {
      KUBECONFIG: join(folder, "kubeconfig"),
      PROMETHEUS_URL: http,
      ALERTMANAGER_URL: http,
      POSTGRES_URL: `postgres://reader:${token}@127.0.0.1:1/shop`,
      MYSQL_URL: `mysql://reader:${token}@127.0.0.1:1/shop`,
      POSTGRES_ADMIN_URL: `postgres://admin:${token}@127.0.0.1:1/shop`,
      MYSQL_ADMIN_URL: `mysql://admin:${token}@127.0.0.1:1/shop`,
      REDIS_TARGET_URL: "redis://127.0.0.1:1",
      RABBITMQ_URL: http,
      RABBITMQ_USER: "reader",
      RABBITMQ_PASSWORD: token,
      DOCKER_HOST: "unix:///run/none.sock",
      LOKI_URL: http,
      GITHUB_TOKEN: token,
      GITHUB_REPOSITORIES: "shop/web",
      GITLAB_TOKEN: token,
      GITLAB_PROJECTS: "shop/web",
      PAGERDUTY_TOKEN: token,
      SSH_HOSTS: "web-1",
    },
    { cwd: folder },
  );
  const toolset = await loadToolset(config);
  await rm(folder, { recursive: true });
  return toolset;
}

test("the skills that come with the program keep every rule of the format, and nearly all have checks", () => {
  expect(problems).toEqual([]);
  expect(skills.length).toBeGreaterThanOrEqual(25);
  const without = skills.filter(({ checks }) => checks === undefined).map(({ name }) => name);
  expect(without).toEqual(["incident-response", "incident-summary"]);
});

test("their checks ask only for reads and arguments that there are", () => {
  expect(checkProblems(skills, tools, [])).toEqual([]);
});

describe("a skill", () => {
  test.each(skills)(
    "$name names only calls, arguments, files and skills that there are",
    async (skill) => {
      const files = await skill.files();
      const others = await Promise.all(files.map(({ id }) => skill.read(id)));
      const text = [skill.body, ...others].join("\n");
      const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
      const systems = new Set(tools.map(({ name }) => name.split("_")[0]));
      const calls = spans.filter(
        (span) => /^[a-z]+(?:_[a-z]+)+(?: [\w]+=|$)/.test(span) && systems.has(span.split("_")[0]),
      );
      expect(calls.length).toBeGreaterThan(0);
      for (const call of calls) {
        const tool = tools.find(({ name }) => name === call.split(" ")[0]);
        if (tool === undefined) throw new Error(`there is no tool for ${call}`);
        const unquoted = call.replaceAll(/"(?:[^"\\]|\\.)*"/g, "");
        const given = [...unquoted.matchAll(/ (\w+)=/g)].map(([, name]) => name);
        expect(argumentNames(tool), call).toEqual(expect.arrayContaining(given));
      }
      const named = spans.filter((span) => /^[\w-]+(?:\/[\w-]+)*\.md$/.test(span));
      expect(files.map(({ id }) => id)).toEqual(expect.arrayContaining(named));
      for (const { id } of files) expect(skill.body).toContain(id);
      const meant = [...text.matchAll(/\bskill ([a-z]+-[a-z-]+)/g)].map(([, name]) => name);
      expect(skills.map(({ name }) => name)).toEqual(expect.arrayContaining(meant));
    },
  );
});

test("they take up little of what every request begins with", () => {
  const lines = catalogText(skills, { described: skills.length }).split("\n").slice(-skills.length);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(200);
  expect(lines.join("\n").length).toBeLessThan(5_000);
  expect(lines.join("\n")).not.toMatch(/\b20\d\d\b|\$\{/);
});
