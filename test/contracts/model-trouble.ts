import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { ModelError } from "../../src/models/model.ts";
import { type Reply, startModelServer } from "../fakes/model-server.ts";
import { type Dialect, KEY } from "../models/dialects.ts";
import { CALLS, failureOf, harness, requestOf, said } from "../models/harness.ts";

/** What every wire promises of requests that go wrong: never a part of a response, and an error that says what to do. */
export function troubleContract(dialect: Dialect): void {
  describe(`${dialect.wire} in trouble`, () => {
    const under = harness(dialect);
    const { signal } = under;

    test("a stream that breaks off after any byte brings no response", async () => {
      const answer = { thought: "hm", text: ["Let me ü"], calls: CALLS.slice(0, 1) };
      const stream = Buffer.from(dialect.events(answer).join(""));
      const whole = await under.answered(answer);
      const lengths = cutsOf(stream);
      const odd: unknown[] = [];
      async function attempt(length: number): Promise<void> {
        const after = length % 2 === 0 ? "cut" : "end";
        const error = await under.model
          .generate(requestOf([said(`cut at ${length} ${after}`)]), { signal })
          .then(
            // The end of the last event may be missing: blank lines, `[DONE]`, the count of tokens.
            (response) =>
              JSON.stringify(response.content) === JSON.stringify(whole.content) &&
              response.stop === "tool_use"
                ? undefined
                : response,
            (thrown: unknown) => thrown,
          );
        if (error === undefined) return;
        if (
          error instanceof ModelError &&
          ["MODEL_CUT", "MODEL_UNREACHABLE"].includes(error.code)
        ) {
          return;
        }
        odd.push({ length, error });
      }
      under.server.answerAll(({ body }) => {
        const [, length, after] = /cut at (\d+) (cut|end)/.exec(body) ?? [];
        return {
          pieces: [stream.subarray(0, Number(length))],
          after: after === "cut" ? "cut" : "end",
        };
      });
      while (lengths.length > 0) await Promise.all(lengths.splice(0, 25).map(attempt));
      expect(odd).toEqual([]);
    });

    test("a stream that breaks off after any event but the last brings no response", async () => {
      const events = dialect.events({ text: ["Let ", "me see"], calls: CALLS });
      const last = events.findLastIndex((event) =>
        /message_stop|response\.completed|"finish_reason":"/.test(event),
      );
      expect(last).toBeGreaterThan(5);
      for (let count = 1; count <= last; count += 1) {
        for (const after of ["cut", "end"] as const) {
          const { code } = await under.failed({ pieces: events.slice(0, count), after });
          expect(code).toBe("MODEL_CUT");
        }
      }
    });

    test("a stream of something else than events brings no response", async () => {
      for (const text of [
        "data: {not json}\n\n",
        "<html>Hello</html>",
        "event: x\ndata: [1]\n\n",
      ]) {
        expect((await under.failed({ pieces: [text] })).code).toBe("MODEL_CUT");
      }
    });

    const cases: [number, Record<string, string>, string, string][] = [
      [400, {}, "invalid_request_error", "MODEL_REQUEST_INVALID"],
      [401, {}, "authentication_error", "MODEL_AUTH"],
      [402, {}, "payment", "MODEL_SPEND_CAP"],
      [403, {}, "permission_error", "MODEL_AUTH"],
      [404, {}, "not_found_error", "MODEL_UNKNOWN"],
      [408, {}, "timeout", "MODEL_OVERLOADED"],
      [409, {}, "conflict", "MODEL_OVERLOADED"],
      [413, {}, "request_too_large", "MODEL_CONTEXT_TOO_LONG"],
      [422, {}, "unprocessable", "MODEL_REQUEST_INVALID"],
      [429, { "retry-after": "7" }, "rate_limit_error", "MODEL_RATE_LIMITED"],
      [429, {}, "rate_limit_error", "MODEL_SPEND_CAP"],
      [429, { "retry-after": "7" }, "insufficient_quota", "MODEL_SPEND_CAP"],
      [500, {}, "api_error", "MODEL_OVERLOADED"],
      [503, {}, "unavailable", "MODEL_OVERLOADED"],
      [529, {}, "overloaded_error", "MODEL_OVERLOADED"],
    ];
    test.each(cases)("status %i with %o and type %s is %s", async (status, headers, type, code) => {
      const body = dialect.error(type, "It went wrong.");
      const error = await under.failed({ status, headers, pieces: [body] });
      expect(error.code).toBe(code);
      expect(error.retryAfterMs).toBe(code === "MODEL_RATE_LIMITED" ? 7000 : undefined);
      expect(error.message).toContain(`HTTP ${status}`);
      expect(error.message).toContain(under.model.id);
      expect(under.server.seen).toHaveLength(1);
    });

    test("a conversation that is too long and a filter are told apart from other refusals", async () => {
      for (const [[status, type, message], code] of [
        [dialect.tooLong, "MODEL_CONTEXT_TOO_LONG"],
        [dialect.filtered, "MODEL_FILTERED"],
        [[400, "invalid_request_error", "Your credit balance is too low."], "MODEL_SPEND_CAP"],
      ] as const) {
        const error = await under.failed({ status, pieces: [dialect.error(type, message)] });
        expect(error.code).toBe(code);
      }
    });

    test("a message holds neither the key nor a whole body nor what rewrites a terminal", async () => {
      const told = `Incorrect API key provided: ${KEY}, sk-pr**********f9. \u001b[2J${"x".repeat(5000)}`;
      for (const pieces of [[dialect.error("e", told)], [`<html><b>${told}</b></html>`]]) {
        const { message } = await under.failed({ status: 401, pieces });
        expect(message).not.toMatch(/4f9a1c77|sk-|\[2J|<|x{300}/);
        expect(message).toContain("_API_KEY");
      }
    });

    test("a key that no header can carry is quoted nowhere", async () => {
      for (const apiKey of ["wk-4f9a1c77\nx", "4f9a1c77-ключ"]) {
        const keyed = dialect.create({ baseURL: under.server.url, apiKey });
        const error = await failureOf(keyed.generate(requestOf([said("a")]), { signal }));
        expect(error.code).toBe("MODEL_AUTH");
        expect(inspect(error)).not.toContain("4f9a1c77");
      }
      expect(under.server.seen).toHaveLength(0);
    });

    test("a redirect is not followed: it would take the key along", async () => {
      const headers = { location: `${under.server.url}/elsewhere` };
      expect((await under.failed({ status: 307, headers })).code).toBe("MODEL_UNKNOWN");
      expect(under.server.seen).toHaveLength(1);
    });

    test("a provider that is not there is unreachable", async () => {
      const gone = await startModelServer();
      await gone.close();
      const away = dialect.create({ baseURL: gone.url });
      const error = await failureOf(away.generate(requestOf([said("a")]), { signal }));
      expect(error.code).toBe("MODEL_UNREACHABLE");
      expect(error.message).toContain("ECONNREFUSED");
    });

    test("a provider that falls silent is given up, before its response and within it", async () => {
      // Loads the provider's library, which takes longer than the silence below on a busy machine.
      await under.answered({ text: ["ok"] });
      const hasty = dialect.create({ baseURL: under.server.url, idleMs: 2_000 });
      const [first = ""] = dialect.events({ text: ["a"] });
      const replies: Record<string, Reply> = {
        MODEL_UNREACHABLE: { mute: true },
        MODEL_CUT: { pieces: [first], after: "hang" },
        MODEL_OVERLOADED: { status: 500, pieces: ["{"], after: "hang" },
      };
      const codes = Object.keys(replies);
      under.server.answerAll(({ body }) => {
        const code = codes.find((each) => body.includes(each)) ?? "";
        return replies[code] ?? { status: 599 };
      });
      const errors = codes.map((code) =>
        failureOf(hasty.generate(requestOf([said(code)]), { signal })),
      );
      expect((await Promise.all(errors)).map(({ code }) => code)).toEqual(codes);
      await Promise.all(under.server.seen.map(({ closed }) => closed));
    });

    test("a provider that is slow but not silent is not given up", async () => {
      const hasty = dialect.create({ baseURL: under.server.url, idleMs: 1_000 });
      const pieces = dialect.events({ text: "Let me see.".repeat(4).split("") });
      under.server.answer({ pieces, everyMs: 30 });
      const before = performance.now();
      await hasty.generate(requestOf([said("a")]), { signal });
      expect(performance.now() - before).toBeGreaterThan(1_200);
    });

    test("a response without end is stopped at 8 MB", async () => {
      const delta = dialect.events({ text: ["x".repeat(500_000)] }).slice(0, -1);
      const pieces = Array.from({ length: 20 }, () => delta).flat();
      const error = await under.failed({ pieces: pieces.slice(0, -1), after: "hang" });
      expect(error.code).toBe("MODEL_CUT");
      expect(error.message).toContain("8 MB");
      await under.server.seen.at(-1)?.closed;
    });

    test("a Stop ends the request at once, whenever it comes, and closes the connection", async () => {
      const events = dialect.events({ text: ["Let ", "me see"], calls: CALLS });
      const replies: Reply[] = [
        { mute: true },
        ...events.slice(3).map((_, count): Reply => {
          return { pieces: events.slice(0, count), after: "hang" };
        }),
      ];
      for (const reply of replies) {
        const stop = new AbortController();
        under.server.seen.length = 0;
        under.server.answer(reply);
        const ended = failureOf(
          under.model.generate(requestOf([said("a")]), { signal: stop.signal, onDelta: () => {} }),
        );
        await expect.poll(() => under.server.seen.length, { interval: 1 }).toBe(1);
        const before = Date.now();
        stop.abort();
        expect((await ended).code).toBe("ABORTED");
        expect(Date.now() - before).toBeLessThan(20_000);
        await under.server.seen[0]?.closed;
      }
      const gone = under.model.generate(requestOf([said("a")]), { signal: AbortSignal.abort() });
      expect((await failureOf(gone)).code).toBe("ABORTED");
    });
  });
}

/** Every byte near a line's end and within a character of several bytes, and each seventh of those between. */
function cutsOf(stream: Buffer): number[] {
  const isNear = (length: number) =>
    [-3, -2, -1, 0, 1, 2].some(
      (by) => stream[length + by] === 0x0a || (stream[length + by] ?? 0) > 0x7f,
    );
  return Array.from({ length: stream.length }, (_, length) => length).filter(
    (length) => length % 7 === 0 || isNear(length),
  );
}
