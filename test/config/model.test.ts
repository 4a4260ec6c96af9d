import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { settingsFor } from "../../src/app/models.ts";
import { loadConfig } from "../../src/config/config.ts";
import { messageOf } from "../../src/core/errors.ts";
import { settingsOf } from "../../src/core/settings.ts";
import { PROVIDERS } from "../../src/models/load.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "watchkeeper-config-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

async function load(yaml: string | undefined, env: Record<string, string> = {}) {
  if (yaml !== undefined) await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  return loadConfig(env, { cwd });
}

/** The lines of the error, without the first. */
async function mistakes(yaml: string | undefined, env: Record<string, string> = {}) {
  const said = await load(yaml, env).then(() => "not refused", messageOf);
  return said.split("\n- ").slice(1);
}

describe("a model", () => {
  const KEY = "sk-hidden-value";
  const ADDRESS = "http://localhost:11434/v1";

  it.each<[id: string, env: Record<string, string>]>([
    ["anthropic/claude-sonnet-5-5", { ANTHROPIC_API_KEY: KEY }],
    ["openai/gpt-5.4", { OPENAI_API_KEY: KEY }],
    ["openai-compatible/llama3.2:3b", { OPENAI_BASE_URL: ADDRESS }],
    [
      "openai-compatible/meta-llama/Llama-3.1-8B",
      { OPENAI_BASE_URL: ADDRESS, OPENAI_API_KEY: KEY },
    ],
  ])("%s needs no more than this", async (id, env) => {
    const config = await load(undefined, { MODEL: ` ${id}\n`, ...env });
    const provider = PROVIDERS.find(({ name }) => name === id.split("/")[0]);
    expect(config.model.id).toBe(id);
    expect(provider && settingsOf(provider, config.values)).toEqual({
      apiKey: Object.keys(env).some((name) => name.endsWith("_KEY")) ? KEY : undefined,
      baseURL: env["OPENAI_BASE_URL"],
    });
    expect(config.secrets.every(({ value }) => value === KEY)).toBe(true);
  });

  it.each<[id: string | undefined, env: Record<string, string>]>([
    ["anthropic/claude-sonnet-5-5", { ANTHROPIC_API_KEY: KEY }],
    ["anthropic/claude-sonnet-5-5", { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY }],
    ["openai/gpt-5.4", { OPENAI_API_KEY: KEY }],
    // That server's models are not known.
    [undefined, { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: ADDRESS }],
    [undefined, { ANTHROPIC_API_KEY: KEY, MODEL: "none" }],
    [undefined, {}],
  ])("is %s with nothing but %j", async (id, env) => {
    expect((await load(undefined, env)).model).toMatchObject({ id, isStandard: id !== undefined });
  });

  it.each([
    ["anthropic/x", "ANTHROPIC_API_KEY"],
    ["openai/x", "OPENAI_API_KEY"],
    ["openai-compatible/x", "OPENAI_BASE_URL"],
  ])("%s without %s is a mistake that names it", async (model, variable) => {
    const wire = model.split("/")[0];
    const others = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, OPENAI_BASE_URL: ADDRESS };
    expect(await mistakes(undefined, { ...others, [variable]: " ", MODEL: model })).toEqual([
      `${variable}: missing; with MODEL=${wire}/<name> it is needed`,
    ]);
  });

  it.each(["claude-sonnet-5-5", "anthropic/", "anthropic/a b", "ollama/x", "/x", "constructor/x"])(
    "%s is none",
    async (model) => {
      expect(await mistakes(undefined, { MODEL: model, ANTHROPIC_API_KEY: KEY })).toEqual([
        expect.stringMatching(/^MODEL: expected /),
      ]);
    },
  );

  it.each([
    "models.example.com",
    "ftp://models.example.com",
    "https://",
    "https:models.example.com",
    "https://user@models.example.com",
    "https://user:password@models.example.com",
    "https://@models.example.com",
    "https://models.example.com/v1?key=x",
    "https://models.example.com/v1#",
    "https://models.example.com/a b",
    "https://models.example.com:99999",
  ])("%s is no address of one", async (url) => {
    expect(await mistakes(undefined, { OPENAI_BASE_URL: url })).toEqual([
      expect.stringMatching(/^OPENAI_BASE_URL: expected an http or https URL/),
    ]);
  });

  it.each(["https://models.example.com", "HTTP://[::1]:8000/v1/", "https://h/@cf/ai"])(
    "%s is an address of one",
    async (url) => {
      const { values } = await load(undefined, { ANTHROPIC_BASE_URL: url });
      expect(values["ANTHROPIC_BASE_URL"]).toBe(url);
    },
  );

  it("a key has no line break within, which no header can carry", async () => {
    const key = `${KEY}\n${KEY}`;
    const found = await mistakes(undefined, { MODEL: "anthropic/x", ANTHROPIC_API_KEY: key });
    expect(found).toEqual([expect.stringMatching(/^ANTHROPIC_API_KEY: expected the key alone/)]);
    expect(found.join()).not.toContain(KEY);
  });

  it("and its budgets are set in the yaml, within reason", async () => {
    const config = await load(`model: { effort: high, contextWindow: 32768, maxOutputTokens: 2048 }
budgets: { stepsPerRun: 5, tokensPerRun: 9000, minutesPerRun: 0.5, tokensPerDay: 100000 }
`);
    expect(config.model).toMatchObject({
      effort: "high",
      contextWindow: 32_768,
      maxOutputTokens: 2_048,
    });
    expect(config.budgets).toEqual({
      stepsPerRun: 5,
      tokensPerRun: 9_000,
      minutesPerRun: 0.5,
      tokensPerDay: 100_000,
      tokensPerPersonDay: 10_000,
      tokensPerPlaceDay: 50_000,
      tokensPerGuestDay: 1_000,
    });
    const own = await load("budgets: { tokensPerPersonDay: 9, tokensPerGuestDay: 0 }");
    expect(own.budgets).toMatchObject({
      tokensPerPersonDay: 9,
      tokensPerPlaceDay: 2_500_000,
      tokensPerGuestDay: 0,
    });
    for (const yaml of [
      "model: { contextWindow: 8192, maxOutputTokens: 8192 }",
      "model: { maxOutputTokens: 0 }",
      "budgets: { tokensPerDay: -1 }",
      "budgets: { minutesPerRun: 0 }",
      "budgets: { stepsPerRun: 1.5 }",
    ]) {
      expect(await mistakes(yaml), yaml).toHaveLength(1);
    }
  });

  it("can be another in some places, or none there", async () => {
    const yaml = `model:
  routes:
    - { channels: "slack:T1:CPRIV", model: none }
    - { channels: ["slack:T2", "discord:*"], model: openai-compatible/b }
`;
    const env = { MODEL: "anthropic/x", ANTHROPIC_API_KEY: KEY };
    const { model } = await load(yaml, { ...env, OPENAI_BASE_URL: "http://localhost:1/v1" });
    expect(model.routes).toHaveLength(2);
    expect(await mistakes(yaml, env)).toEqual([
      expect.stringMatching(/:4:\d+: model\.routes\[1\]\.model: .* needs OPENAI_BASE_URL/),
    ]);
    const alone = await mistakes(yaml, { OPENAI_BASE_URL: "http://localhost:1/v1" });
    expect(alone).toEqual([expect.stringContaining("stands beside MODEL, which isn't set")]);
    const odd = await mistakes('model: { routes: [{ channels: "#private", model: none }] }', env);
    expect(odd).toEqual([expect.stringContaining("expected a channel such as")]);
  });

  it("leaves a quarter of a small window for a response, unless it is told otherwise", async () => {
    const outputOf = async (yaml: string) => (await load(yaml)).model.maxOutputTokens;
    expect(await outputOf("model: { contextWindow: 8192 }")).toBe(2_048);
    expect(await outputOf("model: { contextWindow: 200000 }")).toBe(8_192);
    expect(await outputOf("model: { contextWindow: 8192, maxOutputTokens: 1000 }")).toBe(1_000);
  });

  it("can have others behind it, each as a name or with a window and effort of its own", async () => {
    const yaml = `model:
  contextWindow: 9000
  fallbacks: ["openai/a", { model: openai-compatible/b, contextWindow: 32000, effort: low }]
`;
    const env = { MODEL: "anthropic/x", ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY };
    const all = { ...env, OPENAI_BASE_URL: "http://localhost:1/v1" };
    const { model } = await load(yaml, all);
    expect(model.fallbacks).toEqual([
      { model: "openai/a" },
      { model: "openai-compatible/b", contextWindow: 32_000, effort: "low" },
    ]);
    expect(settingsFor("anthropic/x", model).contextWindow).toBe(9_000);
    expect(settingsFor("openai/a", model).contextWindow).toBeUndefined();
    expect(settingsFor("openai-compatible/b", model).contextWindow).toBe(32_000);
    // One that people chose for a thread.
    expect(settingsFor("anthropic/y", model).contextWindow).toBeUndefined();

    const found = await mistakes(yaml, { MODEL: "anthropic/x", ANTHROPIC_API_KEY: KEY });
    expect(found).toEqual([
      expect.stringMatching(
        /^watchkeeper\.yaml:3:15: .*openai\/a needs OPENAI_API_KEY, which isn't/,
      ),
      expect.stringMatching(/:3:27: .*openai-compatible\/b needs OPENAI_BASE_URL, which isn't set/),
    ]);
  });

  it("needs a known price where money is limited", async () => {
    const models =
      "models: { anthropic/claude-opus-5: {}, openai/x: { price: { input: 0, output: 0 } } }";
    const fallbacks = (id: string) =>
      `model: { fallbacks: [${id}] }\nbudgets: { centsPerDay: 5 }\n${models}`;
    const env = {
      MODEL: "anthropic/claude-opus-5",
      ANTHROPIC_API_KEY: "sk-ant-of-the-tests",
      OPENAI_API_KEY: "sk-of-the-tests",
    };
    expect(await mistakes(fallbacks("openai/gpt-99"), env)).toEqual([
      expect.stringMatching(
        /^watchkeeper\.yaml:2:\d+: budgets\.centsPerDay: the price of openai\/gpt-99 is unknown/,
      ),
    ]);
    expect(await mistakes(fallbacks("openai/x"), env)).toEqual([]);
  });

  it("that stands behind must have a known form, and something in front of it", async () => {
    for (const wrong of ["opnai/a", "{ model: gpt }", "7"]) {
      const [found, ...others] = await mistakes(`model: { fallbacks: [${wrong}] }`);
      expect(found).toMatch(
        /^watchkeeper\.yaml:1:2\d: .*expected anthropic\/<name>, openai\/<name>/,
      );
      expect(others).toEqual([]);
    }
    const alone = await mistakes("model: { fallbacks: [openai-compatible/a] }", {
      OPENAI_BASE_URL: "http://localhost:1/v1",
    });
    expect(alone).toEqual([expect.stringContaining("stands behind MODEL, which isn't set")]);
  });
});
