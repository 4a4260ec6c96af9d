import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ModelError } from "../../src/models/model.ts";
import { createRetryingModel } from "../../src/models/retrying.ts";
import { failureOf, requestOf, said } from "./harness.ts";
import { type ModelServer, type Reply, startModelServer } from "../fakes/model-server.ts";
import { anthropic } from "./dialects.ts";

describe("a model that is asked again", () => {
  let server: ModelServer;
  const { signal } = new AbortController();
  const request = requestOf([said("Is the shop up?")]);
  const whole: Reply = { pieces: anthropic.events({ text: ["It ", "is."] }) };
  const cut: Reply = { pieces: anthropic.events({ text: ["It ", "is."] }).slice(0, -3) };
  function status(code: number, headers: Record<string, string> = {}): Reply {
    return { status: code, headers, pieces: [anthropic.error("e", "Sorry.")] };
  }
  function patient(options: Parameters<typeof createRetryingModel>[1] = {}) {
    return createRetryingModel(anthropic.create({ baseURL: server.url, idleMs: 1000 }), {
      firstDelayMs: 2,
      ...options,
    });
  }
  // One of its own for each: an attempt that a deadline has cut may still arrive later.
  beforeEach(async () => {
    server = await startModelServer();
  });
  afterEach(() => server.close());

  test("outlasts two failures, not three", async () => {
    server.answer(status(529), status(500), whole);
    expect((await patient().generate(request, { signal })).stop).toBe("end_turn");
    server.seen.length = 0;
    server.answer(status(529), cut, status(503), whole);
    const error = await failureOf(patient().generate(request, { signal }));
    expect(error.code).toBe("MODEL_OVERLOADED");
    expect(error.message).toContain("HTTP 503");
    expect(error.message).toContain("I tried 3 times");
    expect(server.seen).toHaveLength(3);
  });

  test("sends the very same bytes again", async () => {
    server.answer(status(529), cut, whole);
    await patient().generate(request, { signal });
    expect(new Set(server.seen.map(({ body }) => body)).size).toBe(1);
  });

  test("takes back what was delivered of a cut response, and only then", async () => {
    const deltas: (string | undefined)[] = [];
    server.answer(status(500), cut, whole);
    await patient().generate(request, { signal, onDelta: (text) => deltas.push(text) });
    expect(deltas).toEqual(["It ", "is.", undefined, "It ", "is."]);
  });

  test("repeats no request that would fail again", async () => {
    for (const code of [400, 401, 402, 403, 404, 413, 422, 429]) {
      server.seen.length = 0;
      server.answer(status(code), whole);
      await failureOf(patient().generate(request, { signal }));
      expect(server.seen).toHaveLength(1);
    }
  });

  test("waits twice as long each time, give or take a quarter", async () => {
    for (let round = 0; round < 5; round += 1) {
      const times: number[] = [];
      server.answerAll(() => {
        times.push(performance.now());
        return status(529);
      });
      await failureOf(patient({ firstDelayMs: 20 }).generate(request, { signal }));
      const [first = 0, second = 0, third = 0] = times;
      expect(second - first).toBeGreaterThan(14);
      expect(third - second).toBeGreaterThan(29);
    }
  });

  test("waits for as long as the provider asks, instead of the usual time", async () => {
    server.answer(status(429, { "retry-after-ms": "30" }), whole);
    const before = performance.now();
    await patient({ firstDelayMs: 60_000 }).generate(request, { signal });
    expect(performance.now() - before).toBeGreaterThan(28);
  });

  test("does not wait for longer than a minute: it says until when the provider wants peace", async () => {
    server.answer(status(429, { "retry-after": "3600" }), whole);
    const error = await failureOf(patient().generate(request, { signal }));
    expect(error.code).toBe("MODEL_RATE_LIMITED");
    const [until = ""] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(error.message) ?? [];
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(3_590_000);
    expect(error.retryAfterMs).toBe(3_600_000);
    expect(server.seen).toHaveLength(1);
  });

  test("ends at its deadline with the failure that began it, even within an attempt", async () => {
    server.answer(status(529), { mute: true });
    const before = performance.now();
    const error = await failureOf(patient({ deadlineMs: 40 }).generate(request, { signal }));
    expect(performance.now() - before).toBeLessThan(20_000);
    expect(error.code).toBe("MODEL_OVERLOADED");
    await server.seen[1]?.closed;
  });

  test("does not begin a wait that would end after its deadline", async () => {
    server.answer(status(429, { "retry-after": "59" }), whole);
    const error = await failureOf(patient({ deadlineMs: 58_000 }).generate(request, { signal }));
    expect(error.code).toBe("MODEL_RATE_LIMITED");
    expect(error.message).toContain("I don't wait that long");
  });

  test("a first response may take longer than the deadline", async () => {
    const [first = ""] = whole.pieces ?? [];
    server.answer({ pieces: [first], after: "hang" });
    const stop = new AbortController();
    const ended = failureOf(patient({ deadlineMs: 1 }).generate(request, { signal: stop.signal }));
    await expect.poll(() => server.seen.length, { interval: 1 }).toBe(1);
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
    stop.abort();
    expect((await ended).code).toBe("ABORTED");
  });

  test("a Stop ends the wait at once", async () => {
    const stop = new AbortController();
    let attempts = 0;
    const limited = createRetryingModel({
      id: "anthropic/limited",
      contextWindow: 1,
      generate() {
        attempts += 1;
        // By then it waits.
        setTimeout(() => stop.abort(), 10);
        const options = { retryAfterMs: 30_000 };
        return Promise.reject(new ModelError("MODEL_RATE_LIMITED", "Later.", options));
      },
    });
    const before = performance.now();
    const error = await failureOf(limited.generate(request, { signal: stop.signal }));
    expect(error.code).toBe("ABORTED");
    expect(performance.now() - before).toBeLessThan(20_000);
    expect(attempts).toBe(1);
  });
});
