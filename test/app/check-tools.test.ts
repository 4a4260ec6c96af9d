import { join } from "node:path";
import { expect, test } from "vitest";
import { checkProblems } from "../../src/app/check-tools.ts";
import { checksSchema } from "../../src/checks/schema.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { createTools, unavailableIntegrations } from "../../src/tools/registry.ts";
import { plain } from "../skills/folder.ts";

const tools = await createTools();

test.each([
  [{ tool: "http_check", with: { url: "{{url}}", expectStatus: 200 } }, []],
  [{ tool: "http_chek" }, [/tool: .*no tool has this name; did you mean http_check\?/]],
  [
    { tool: "http_check", with: { ur: "{{url}}", timeoutSeconds: "many" } },
    [
      /ur: .*did you mean url\?/,
      /tool: .*argument url is required/,
      /timeoutSeconds takes a number/,
    ],
  ],
  [{ tool: "tcp_check", with: { host: "{{host}}", port: "{{port}}" } }, []],
  [{ tool: "restart_service", with: { name: "nginx" } }, [/does more than read/]],
  [{ tool: "ask_user", with: { question: "Why?" } }, [/does more than read/]],
])("a check asks only for reads and arguments that there are: %j", (check, told) => {
  const checks = checksSchema.parse({ checks: { c: check } });
  const checkAt = (path: readonly PropertyKey[]) => path.join(".");
  const found = checkProblems([{ folder: "/srv", checks, checkAt }], tools, []);
  expect(found.map(({ at, text }) => `${at}: ${text}`)).toEqual(
    told.map((each) => expect.stringMatching(each)),
  );
  expect(found.every(({ isMistake }) => isMistake)).toBe(true);
});

test("a tool whose system is not set up here is no mistake", () => {
  const checks = checksSchema.parse({ checks: { c: { tool: "redis_diagnose" } } });
  const missing = [{ name: "redis", why: "REDIS_TARGET_URL is not set" }];
  expect(checkProblems([{ folder: "/srv/a", checks }], tools, missing)).toEqual([
    {
      at: "/srv/a",
      text: "check c: redis_diagnose: not here: REDIS_TARGET_URL is not set",
      isMistake: false,
    },
  ]);
});

test("on an empty folder the skills that come with the program have no mistake", async () => {
  const { skills } = await loadSkills([join(import.meta.dirname, "../../skills")], plain);
  const missing = await unavailableIntegrations({}, {});
  const found = checkProblems(skills, tools, missing);
  expect(found.filter(({ isMistake }) => isMistake)).toEqual([]);
  expect(found.map(({ text }) => text).join("\n")).toContain("search_logs: not here: LOKI_URL");
});
