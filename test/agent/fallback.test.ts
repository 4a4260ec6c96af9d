import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { openModels } from "../../src/app/models.ts";
import { loadConfig } from "../../src/config/config.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";
import { eventually, until } from "../until.ts";
import { lastAnswer, ofKind } from "./talking.ts";

const PRIMARY = "anthropic/claude-sonnet-5-5";
const OTHER = "openai/gpt-6-sol";

/** A provider on a real socket that answers as it is told, and can die and come back. */
async function provider(answer: (results: number) => object) {
  const requests: ChatCompletionRequest[] = [];
  const state = { dead: false, probes: 0 };
  const mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
  mock.on({ predicate: () => true }, (body) => {
    const isProbe = JSON.stringify(body.messages).includes("Say: ok");
    if (isProbe) state.probes += 1;
    else requests.push(body);
    if (state.dead)
      return { error: { message: "Overloaded", type: "overloaded_error" }, status: 529 };
    if (isProbe) return { content: "ok" };
    return answer(body.messages.filter(({ role }) => role === "tool").length);
  });
  await mock.start();
  onTestFinished(() => mock.stop());
  return { url: mock.url, requests, state };
}

/** Two providers, the second one behind the first, and a thread with the program's own models. */
async function twoProviders({
  fallbacks = [OTHER],
  skills,
}: { fallbacks?: string[]; skills?: NonNullable<StageOptions["skills"]> } = {}) {
  let calls = 0;
  const call = () => ({
    toolCalls: [{ id: `toolu_${++calls}`, name: "look", arguments: '{"name":"web"}' }],
  });
  const first = await provider((results) => {
    // It dies after its first call.
    if (results === 0) first.state.dead = dies.now;
    return results === 0 ? call() : { content: "CONFIRMED: the first saw it in [T1]." };
  });
  const dies = { now: true };
  const second = await provider((results) =>
    results === 1 ? call() : { content: "CONFIRMED: the second saw it in [T2]." },
  );
  const env = {
    MODEL: PRIMARY,
    ANTHROPIC_API_KEY: "sk-ant-fake-key-of-a-test",
    ANTHROPIC_BASE_URL: first.url,
    OPENAI_API_KEY: "sk-fake-key-of-a-test",
    OPENAI_BASE_URL: `${second.url}/v1`,
  };
  const config = await loadConfig(env, { cwd: "/nowhere" });
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const told: string[] = [];
  const models = openModels(
    { ...config.model, fallbacks: fallbacks.map((model) => ({ model })) },
    {
      log,
      ops: { tell: async (_id, text) => told.push(text) > 0 },
      probing: { firstProbeMs: 20, lookAgainMs: 60_000 },
    },
  );
  onTestFinished(async () => models.stop());
  const look = fakeTool({ name: "look" });
  const model = scriptedModel([], PRIMARY);
  const stage = await createStage({ tools: [look], model, models, ...(skills && { skills }) });
  const ask = async (text: string) => {
    await stage.say(text);
    await stage.settle();
  };
  return { ...stage, ask, first, second, models, look, lines, told, dies };
}

/** Each call has its result right behind it. */
function expectPairs({ messages }: ChatCompletionRequest): void {
  const ids = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const results = messages.flatMap(({ tool_call_id: id }) => id ?? []);
  expect(results).toEqual(ids);
}

describe("a provider that dies between two calls of a run", () => {
  test("is stood in for to the end of the run, and has the next run once it is back", async () => {
    const stage = await twoProviders();
    await stage.ask("is web well?");
    expect(lastAnswer(stage)).toContain("the second saw it");
    expect(stage.look.runs).toEqual(["web", "web"]);
    for (const body of stage.second.requests) expectPairs(body);
    expect(stage.second.requests).toHaveLength(2);
    // It is told once, and from the turn on that the other gave.
    expect(stage.chat.notices().map(({ text }) => text)).toEqual([
      `${PRIMARY} isn't answering (its provider is overloaded), so ${OTHER} goes on here.`,
    ]);
    const turns = ofKind(await stage.entries(), "assistant");
    expect(turns.map(({ model, instead }) => [model, instead])).toEqual([
      [undefined, undefined],
      [OTHER, "MODEL_OVERLOADED"],
      [OTHER, undefined],
    ]);

    await stage.ask("and now?");
    expect(stage.models.standing(PRIMARY)).toContain(`${OTHER}, because ${PRIMARY} has not`);
    await until(() => stage.first.state.probes > 0);
    stage.dies.now = false;
    stage.first.state.dead = false;
    await until(() => stage.models.standing(PRIMARY) === PRIMARY);
    const before = stage.second.requests.length;
    await stage.ask("still well?");
    expect(stage.second.requests).toHaveLength(before);
    expect(lastAnswer(stage)).toContain("the first saw it");
    for (const body of stage.first.requests) expectPairs(body);
    expect(stage.lines.filter((line) => line.includes("does not answer"))).toHaveLength(1);
    expect(stage.lines.filter((line) => line.includes("answers again"))).toHaveLength(1);
    expect(stage.told).toEqual([]);
  });

  test("with nothing behind it ends the run with what was found, and the operations channel hears of it and of the return", async () => {
    const stage = await twoProviders({ fallbacks: [] });
    await stage.ask("is web well?");
    expect(lastAnswer(stage)).toMatch(/could not answer[^]*overloaded[^]*\[T1\] look: ok/);
    await stage.ask("is web well?");
    await eventually(() => expect(stage.told).toHaveLength(1));
    expect(stage.told[0]).toBe(
      `No AI model answers. ${PRIMARY}: the provider is overloaded or has an error of its own. Commands still work; I keep trying.`,
    );
    const asked = stage.first.requests.length;
    await stage.ask("is web well?");
    expect(stage.first.requests).toHaveLength(asked);
    expect(lastAnswer(stage)).toContain("has not answered since");
    stage.dies.now = false;
    stage.first.state.dead = false;
    await eventually(() => expect(stage.told).toHaveLength(2));
    expect(stage.told[1]).toMatch(/claude-sonnet-5-5 answers again, after .* without any AI model/);
    await stage.ask("is web well?");
    expect(lastAnswer(stage)).toContain("the first saw it");
  });

  test("with nothing behind it leaves the next question to checks, until it is back", async () => {
    const checks = { pods: { tool: "look", with: { name: "web" } } };
    const skills = { "web-down": { when: { words: ["web is down"] }, checks, rules: [] } };
    const stage = await twoProviders({ fallbacks: [], skills });
    stage.first.state.dead = true;
    for (const _ of [1, 2, 3]) {
      await stage.ask("why is it that the web is down?");
      expect(lastAnswer(stage)).toMatch(/_Without a model: .*1 check of `web-down` looked._/);
    }
    // The third did not wait for it.
    expect(lastAnswer(stage)).toContain("has not answered since");
    stage.dies.now = false;
    stage.first.state.dead = false;
    await until(() => stage.models.standing(PRIMARY) === PRIMARY);
    await stage.ask("why is it that the web is down?");
    expect(lastAnswer(stage)).toContain("the first saw it");
  });

  test("as all others behind it ends the run with what each of them said", async () => {
    const stage = await twoProviders();
    stage.second.state.dead = true;
    await stage.ask("is web well?");
    expect(lastAnswer(stage)).toMatch(
      /None of 2 models answers:\n- anthropic[^]*tried 3 times[^]*- openai[^]*tried 3 times/,
    );
    expect(stage.chat.notices()).toEqual([]);
  });
});
