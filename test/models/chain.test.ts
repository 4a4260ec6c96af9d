import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_USAGE } from "../../src/core/block.ts";
import { BotError } from "../../src/core/errors.ts";
import { createModels } from "../../src/models/chain.ts";
import { CONSEQUENCES } from "../../src/models/errors.ts";
import { createModelHealth, type HealthOptions, PROBE } from "../../src/models/health.ts";
import { type GenerateOptions, type Model, ModelError } from "../../src/models/model.ts";
import { until } from "../until.ts";
import { failureOf, requestOf, said } from "./harness.ts";

const FIRST = "test/first";
const SECOND = "test/second";
const THIRD = "test/third";
const REQUEST = requestOf([said("Is the shop up?")]);

/** What a model does with a request; undefined: it answers. */
type Trouble = ModelError | BotError | "hangs" | undefined;

function trouble(code: ModelError["code"], retryAfterMs?: number): ModelError {
  return new ModelError(code, `It said ${code}.`, { retryAfterMs });
}

/** Three models of which each does as it is told, and which were asked what, in order. */
function threeModels(options: Partial<HealthOptions> & { chain?: string[] } = {}) {
  const { chain = [FIRST, SECOND, THIRD], ...rest } = options;
  const does: Record<string, Trouble> = {};
  const windows: Record<string, number> = {};
  const asked: string[] = [];
  const probed: string[] = [];
  const changes: string[] = [];
  const load = async (id: string): Promise<Model> => ({
    id,
    contextWindow: windows[id] ?? 100_000,
    async generate(request, { signal, onDelta }: GenerateOptions) {
      (request === PROBE ? probed : asked).push(id);
      const now = does[id];
      onDelta?.(`from ${id}`);
      if (now === "hangs") {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        throw new BotError("ABORTED", "It was stopped.");
      }
      if (now !== undefined) throw now;
      return { content: [{ kind: "text", text: id }], stop: "end_turn", usage: NO_USAGE };
    },
  });
  const health = createModelHealth({
    load,
    firstProbeMs: 60_000,
    lookAgainMs: 60_000,
    onChange: (id, outage) => changes.push(`${id} ${outage?.code ?? "is back"}`),
    ...rest,
  });
  onTestFinished(() => health.stop());
  const models = createModels({ chain, load, health });
  const ask = async (
    more: { newest?: string; requestTokens?: number } = {},
    deltas: unknown[] = [],
  ) => {
    const wanted = { own: FIRST, newest: FIRST, requestTokens: 100, places: [], ...more };
    const { signal } = new AbortController();
    const { model, instead } = await models.generate(REQUEST, wanted, {
      signal,
      onDelta: (text) => deltas.push(text),
    });
    return instead === undefined ? model : `${model} because of ${instead}`;
  };
  return { does, windows, asked, probed, changes, health, models, ask };
}

const CODES = Object.keys(CONSEQUENCES) as (keyof typeof CONSEQUENCES)[];

describe("a request that a model fails", () => {
  test.each(CODES.filter((code) => CONSEQUENCES[code].switches))(
    "because of %s is answered by the one behind it",
    async (code) => {
      const { does, ask } = threeModels();
      does[FIRST] = trouble(code);
      expect(await ask()).toBe(`${SECOND} because of ${code}`);
    },
  );

  test.each(CODES.filter((code) => !CONSEQUENCES[code].switches))(
    "because of %s is no other model's, and says nothing of the model",
    async (code) => {
      const { does, asked, ask, health } = threeModels();
      does[FIRST] = trouble(code);
      for (const _ of [1, 2, 3]) expect((await failureOf(ask())).code).toBe(code);
      expect(asked).toEqual([FIRST, FIRST, FIRST]);
      expect(health.outage(FIRST)).toBeUndefined();
    },
  );

  test("because somebody stopped it or its time is over is no other model's", async () => {
    const { does, asked, ask } = threeModels();
    for (const code of ["ABORTED", "TIMEOUT", "BUDGET_EXHAUSTED"] as const) {
      does[FIRST] = new BotError(code, "No more.");
      expect((await failureOf(ask())).code).toBe(code);
    }
    expect(asked).toEqual([FIRST, FIRST, FIRST]);
  });

  test("takes back what it had written before another one writes", async () => {
    const { does, ask } = threeModels();
    does[FIRST] = trouble("MODEL_CUT");
    const deltas: unknown[] = [];
    await ask({}, deltas);
    expect(deltas).toEqual([`from ${FIRST}`, undefined, `from ${SECOND}`]);
  });

  test("goes past one whose window is too small for it, and past one that does not accept it", async () => {
    const { does, windows, asked, ask } = threeModels();
    does[FIRST] = trouble("MODEL_OVERLOADED");
    windows[SECOND] = 5_000;
    expect(await ask({ requestTokens: 4_500 })).toContain(THIRD);
    windows[SECOND] = 100_000;
    does[SECOND] = trouble("MODEL_REQUEST_INVALID");
    does[FIRST] = trouble("MODEL_OVERLOADED");
    expect(await ask()).toContain(THIRD);
    expect(asked.filter((id) => id === SECOND)).toHaveLength(1);
  });

  test("is not offered to others by one that stands in and withholds it", async () => {
    const { does, asked, ask } = threeModels();
    does[FIRST] = trouble("MODEL_OVERLOADED");
    does[SECOND] = trouble("MODEL_FILTERED");
    expect((await failureOf(ask())).code).toBe("MODEL_FILTERED");
    expect(asked).toEqual([FIRST, SECOND]);
  });

  test("which all fail says what each said, under the run's own model's code", async () => {
    const { does, windows, ask } = threeModels();
    does[FIRST] = trouble("MODEL_UNREACHABLE");
    does[SECOND] = trouble("MODEL_AUTH");
    windows[THIRD] = 1_000;
    const { code, message } = await failureOf(ask());
    expect(code).toBe("MODEL_UNREACHABLE");
    expect(message).toMatch(/MODEL_UNREACHABLE[^]*MODEL_AUTH[^]*does not fit into its 1000 tokens/);
  });

  test("with nothing behind the model fails as it did", async () => {
    const { does, ask } = threeModels({ chain: [FIRST] });
    const error = trouble("MODEL_OVERLOADED");
    does[FIRST] = error;
    expect(await failureOf(ask())).toBe(error);
  });

  test("of a run that switched goes to the model that it switched to, and to its own last", async () => {
    const { does, asked, ask } = threeModels();
    expect(await ask({ newest: SECOND })).toBe(SECOND);
    does[SECOND] = trouble("MODEL_OVERLOADED");
    does[THIRD] = trouble("MODEL_OVERLOADED");
    expect(await ask({ newest: SECOND })).toBe(FIRST);
    expect(asked).toEqual([SECOND, SECOND, THIRD, FIRST]);
  });
});

test("docs/model.md has a row for each failure that says what follows from it", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/model.md"), "utf8");
  const rows = [
    ...page.matchAll(/^\| `(MODEL_\w+)` *\| (yes|no) *\| (never|\d) ?(?:failures?)? *\|/gm),
  ];
  const told = rows.map(([, code, another, after]) => [
    code,
    { switches: another === "yes", downAfter: after === "never" ? 0 : Number(after) },
  ]);
  expect(Object.fromEntries(told)).toEqual(CONSEQUENCES);
});

describe("a model that failed", () => {
  test("twice in a row is left alone, and a success between makes it start again", async () => {
    const { does, asked, ask, changes } = threeModels();
    const fail = () => (does[FIRST] = trouble("MODEL_OVERLOADED"));
    fail();
    await ask();
    does[FIRST] = undefined;
    expect(await ask()).toBe(FIRST);
    fail();
    await ask();
    expect(changes).toEqual([]);
    await ask();
    expect(changes).toEqual([`${FIRST} MODEL_OVERLOADED`]);
    asked.length = 0;
    expect(await ask()).toBe(`${SECOND} because of MODEL_OVERLOADED`);
    expect(asked).toEqual([SECOND]);
  });

  test("because of its key, its name or its quota is left alone at once", async () => {
    for (const code of ["MODEL_AUTH", "MODEL_UNKNOWN", "MODEL_SPEND_CAP"] as const) {
      const { does, ask, health } = threeModels();
      does[FIRST] = trouble(code);
      await ask();
      expect(health.outage(FIRST)).toMatchObject({ code });
    }
  });

  test("is probed, and asked again once it answers one", async () => {
    const { does, probed, changes, ask, health } = threeModels({ firstProbeMs: 10 });
    does[FIRST] = trouble("MODEL_AUTH");
    await ask();
    await until(() => probed.length >= 3);
    expect(health.outage(FIRST)).toBeDefined();
    does[FIRST] = undefined;
    await until(() => health.outage(FIRST) === undefined);
    expect(await ask()).toBe(FIRST);
    expect(changes).toEqual([`${FIRST} MODEL_AUTH`, `${FIRST} is back`]);
  });

  test("is probed less and less often, and each probe has its limit", async () => {
    const { does, probed, ask, health } = threeModels({ firstProbeMs: 8, probeLimitMs: 5 });
    does[FIRST] = trouble("MODEL_AUTH");
    await ask();
    does[FIRST] = "hangs";
    const began = performance.now();
    await until(() => probed.length === 5);
    // 8 + 16 + 32 + 64 + 128 ms, less a quarter.
    expect(performance.now() - began).toBeGreaterThan(180);
    does[FIRST] = undefined;
    await until(() => health.outage(FIRST) === undefined);
  });

  test("is left alone for as long as its provider asks", async () => {
    const { does, probed, ask, health } = threeModels({
      firstProbeMs: 1,
      lookAgainMs: 0,
      chain: [FIRST],
    });
    does[FIRST] = trouble("MODEL_RATE_LIMITED", 200);
    await failureOf(ask());
    does[FIRST] = undefined;
    const { message } = await failureOf(ask());
    expect(message).toMatch(/has not answered since .* UTC: the provider's rate limit is used up/);
    expect(probed).toEqual([]);
    await until(() => health.outage(FIRST) === undefined);
    expect(await ask()).toBe(FIRST);
  });

  test("answers who waits as soon as it can, where every model was left alone", async () => {
    const { does, probed, ask } = threeModels({ lookAgainMs: 0 });
    for (const id of [FIRST, SECOND, THIRD]) does[id] = trouble("MODEL_AUTH");
    await failureOf(ask());
    does[SECOND] = undefined;
    expect(await ask()).toBe(`${SECOND} because of MODEL_AUTH`);
    expect(probed.toSorted()).toEqual([FIRST, SECOND, THIRD]);
  });

  test("keeps nobody waiting who asks while its probe hangs", async () => {
    const { does, ask } = threeModels({ chain: [FIRST], lookAgainMs: 0, lookLimitMs: 10 });
    does[FIRST] = trouble("MODEL_AUTH");
    await failureOf(ask());
    does[FIRST] = "hangs";
    expect((await failureOf(ask())).code).toBe("MODEL_AUTH");
  });

  test("is told with what answers in its place", async () => {
    const { does, models, ask } = threeModels();
    expect(models.standing(FIRST)).toBe(FIRST);
    does[FIRST] = trouble("MODEL_SPEND_CAP");
    await ask();
    expect(models.standing(FIRST)).toMatch(
      /^test\/second, because test\/first has not answered since [\d: -]+ UTC: the quota or spending limit at the provider is used up$/,
    );
    for (const id of [SECOND, THIRD]) does[id] = trouble("MODEL_AUTH");
    await failureOf(ask());
    expect(models.standing(FIRST)).toMatch(
      /^none answers: test\/first .*; test\/second .*; test\/third/,
    );
  });
});
