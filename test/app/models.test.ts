import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { expect, onTestFinished, test } from "vitest";
import { examine } from "../../src/app/cli/examine.ts";
import { aboutLines } from "../../src/commands/status.ts";
import { loadConfig } from "../../src/config/config.ts";
import { hashTerms } from "../../src/core/run-terms.ts";

async function provider(isDead: boolean): Promise<string> {
  const mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
  const error = { error: { message: "invalid x-api-key", type: "authentication_error" } };
  mock.on({ predicate: () => true }, () =>
    isDead ? { ...error, status: 401 } : { content: "ok" },
  );
  await mock.start();
  onTestFinished(() => mock.stop());
  return mock.url;
}

test("doctor asks the model and each one behind it, and says which is used now and why", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "watchkeeper-models-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "watchkeeper.yaml"), "model: { fallbacks: [openai/gpt-6-sol] }");
  const env = {
    MODEL: "anthropic/claude-sonnet-5-5",
    ANTHROPIC_API_KEY: "sk-ant-fake-key-of-a-test",
    ANTHROPIC_BASE_URL: await provider(true),
    OPENAI_API_KEY: "sk-fake-key-of-a-test",
    OPENAI_BASE_URL: `${await provider(false)}/v1`,
  };
  const config = await loadConfig(env, { cwd });
  const seen: string[] = [];
  for await (const { state, subject, text } of examine({ config, envFile: undefined }))
    if (["model", "fallback"].includes(subject)) seen.push(`${subject} ${state}: ${text}`);
  expect(seen).toEqual([
    expect.stringMatching(/^model broken: anthropic\/claude-sonnet-5-5: .*refused the key/),
    expect.stringMatching(
      /^fallback ok: openai\/gpt-6-sol answers in .*; it is used now, because anthropic\/claude-sonnet-5-5 doesn't answer$/,
    ),
  ]);
});

test("status and Slack's Home say which model answers in place of the thread's", () => {
  const terms = hashTerms({
    model: "anthropic/x",
    system: "",
    tools: [],
    budget: { steps: 1, tokens: 1, minutes: 1 },
    maxOutputTokens: 1,
    tokensPerDay: 1,
    contextWindow: 1,
  });
  const standing = (id: string) => `openai/y, because ${id} has not answered`;
  expect(aboutLines({ tools: [], terms, standing })[0]).toBe(
    "Model: openai/y, because anthropic/x has not answered",
  );
  expect(aboutLines({ tools: [], terms, standing }, "anthropic/chosen")[0]).toContain("chosen has");
});
