import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { withFiles } from "../../src/config/secret-files.ts";
import { SETTINGS } from "../../src/config/table.ts";
import { failureOf } from "../models/harness.ts";

async function folder() {
  const cwd = await mkdtemp(join(tmpdir(), "wk-secrets-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  const file = async (name: string, text: string) => {
    await writeFile(join(cwd, name), text);
    return join(cwd, name);
  };
  return { cwd, file };
}

test("every variable can be in a file, and none is taken for a file of another", async () => {
  const { file } = await folder();
  const names = SETTINGS.flatMap(({ name, source }) => (source === "env" ? name : []));
  const path = await file("value", "from-a-file\n");
  for (const name of names) {
    const mistakes: string[] = [];
    expect(withFiles({ [`${name}_FILE`]: path }, names, mistakes)[name], name).toBe("from-a-file");
    expect(mistakes).toEqual([]);
    expect(names).not.toContain(`${name}_FILE`);
  }
});

test("a secret from a file is used and held, also one that the yaml names", async () => {
  const { cwd, file } = await folder();
  await file(
    "watchkeeper.yaml",
    "integrations: { redis: { prod: { url: 'redis://bot@cache.example:6379', password: SHOP_PASS } } }\n",
  );
  const env = {
    ANTHROPIC_API_KEY_FILE: await file("key", "sk-ant-from-a-file-1\n"),
    SHOP_PASS_FILE: await file("pass", "correct horse battery\r\n"),
  };
  const config = await loadConfig(env, { cwd });
  expect(config.model.values["ANTHROPIC_API_KEY"]).toBe("sk-ant-from-a-file-1");
  expect(config.variables).toEqual({ SHOP_PASS: "correct horse battery" });
  expect(config.secrets.map(({ name }) => name).toSorted()).toEqual([
    "ANTHROPIC_API_KEY",
    "SHOP_PASS",
  ]);
});

test("what is wrong with such a file is said by the variable, without its path", async () => {
  const { cwd, file } = await folder();
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-1",
    ANTHROPIC_API_KEY_FILE: await file("a", "x"),
    OPENAI_API_KEY_FILE: join(cwd, "nowhere"),
    REDIS_URL_FILE: await file("b", "\n"),
    SLACK_BOT_TOKEN_FILE: cwd,
  };
  const { message } = await failureOf(loadConfig(env, { cwd }));
  expect(message).toContain("ANTHROPIC_API_KEY_FILE: ANTHROPIC_API_KEY is set too");
  expect(message).toContain("OPENAI_API_KEY_FILE: the file can't be read (ENOENT)");
  expect(message).toContain("REDIS_URL_FILE: the file is empty");
  expect(message).toContain("SLACK_BOT_TOKEN_FILE: the file can't be read");
  expect(message).not.toContain(cwd);
});
