import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AssistantBlock } from "../../src/core/block.ts";
import type { FileBlock, Turn } from "../../src/models/model.ts";
import type { Dialect } from "../models/dialects.ts";
import { CALLS, harness, PIXEL, requestOf, said } from "../models/harness.ts";
import { outputContract } from "./model-output.ts";
import { troubleContract } from "./model-trouble.ts";

/** Without the marks that move along with the conversation. */
function unmarked(value: unknown): string {
  return JSON.stringify(value, (key, part: unknown) =>
    key === "cache_control" ? undefined : part,
  );
}

function resultsOf(content: readonly AssistantBlock[], text = "ok"): Turn {
  const results = content.flatMap((block) =>
    block.kind === "tool_use" ? [{ id: block.id, text, isError: false, files: [] }] : [],
  );
  return { role: "tool", results };
}

/** What every wire promises of the model behind it. */
export function modelContract(dialect: Dialect): void {
  troubleContract(dialect);
  outputContract(dialect);
  describe(`${dialect.wire} keeps a model's promises`, () => {
    const under = harness(dialect);
    const { signal } = under;

    test("a text arrives piece by piece and then as a whole, with its tokens", async () => {
      const deltas: unknown[] = [];
      under.server.answer({
        pieces: dialect.events({
          text: ["The shop ", "is up ✓", "."],
          usage: { input: 120, output: 9, cacheRead: 80 },
        }),
      });
      const request = requestOf([said("Is the shop up?")]);
      const { content, stop, usage } = await under.model.generate(request, {
        signal,
        onDelta: (text) => deltas.push(text),
      });
      expect(deltas).toEqual(["The shop ", "is up ✓", "."]);
      expect(content).toMatchObject([{ kind: "text", text: "The shop is up ✓." }]);
      expect(stop).toBe("end_turn");
      expect(usage).toEqual({ input: 120, output: 9, cacheRead: 80, cacheWrite: 0 });
    });

    test("calls made together keep their order, ids and arguments as they were written", async () => {
      const { content, stop } = await under.answered({ text: ["Looking."], calls: CALLS });
      expect(stop).toBe("tool_use");
      expect(content).toMatchObject([
        { kind: "text", text: "Looking." },
        ...CALLS.map((call) => ({ kind: "tool_use", ...call })),
      ]);
    });

    test("arguments that are no JSON are returned as they are, and their turn can be sent back", async () => {
      const input = '{"path": "/var/log';
      const { content } = await under.answered({
        calls: [{ id: "toolu_1", name: "read_log", input }],
      });
      expect(content).toMatchObject([{ kind: "tool_use", input }]);
      const assistant: Turn = { role: "assistant", content, model: under.model.id };
      const body = await under.sent([said("a"), assistant, resultsOf(content, "not JSON")]);
      expect(body).toContain("/var/log");
    });

    test.each(dialect.stops)("a response that ended by %s says so", async (stop) => {
      const response = await under.answered({ text: ["I would rather"], stop });
      expect(response.stop).toBe(stop);
      expect(response.content).toMatchObject([{ kind: "text", text: "I would rather" }]);
    });

    test("a call in a response that was cut by the token limit is returned with that stop reason", async () => {
      const calls = [{ id: "toolu_1", name: "read_log", input: '{"path":"/va' }];
      const { content, stop } = await under.answered({ text: ["So"], calls, stop: "max_tokens" });
      expect(stop).toBe("max_tokens");
      expect(content).toMatchObject([
        { kind: "text" },
        { kind: "tool_use", input: '{"path":"/va' },
      ]);
    });

    test("the results of calls and what people said after them follow the calls, in this order", async () => {
      const { content } = await under.answered({ calls: CALLS });
      const body = await under.sent([
        said("first"),
        { role: "assistant", content, model: under.model.id },
        resultsOf(content, "result text"),
        said("second"),
        said("third"),
      ]);
      const { turns } = dialect.parts(body);
      const text = JSON.stringify(turns);
      const places = ["first", "toolu_1", "toolu_2", "result text", "second", "third"];
      const found = places.map((place) => text.indexOf(place));
      expect(found).toEqual(found.toSorted((a, b) => a - b));
      expect(Math.min(...found)).toBeGreaterThan(0);
    });

    test("what the model thought is sent back to it unchanged, and to no other model", async () => {
      const thought = 'Is it the cache? "Perhaps" ü';
      const { content } = await under.answered({ thought, text: ["Looking."], calls: CALLS });
      expect(content[0]?.kind).toBe("thinking");
      const turns = (by: string): Turn[] => [
        said("a"),
        { role: "assistant", content, model: by },
        resultsOf(content),
      ];
      const own = await under.sent(turns(under.model.id));
      expect(own).toContain(JSON.stringify(thought).slice(1, -1));
      const foreign = await under.sent(turns(`${dialect.wire}/other`));
      expect(foreign).not.toContain("Is it the cache");
      expect(foreign).toContain("Looking.");
      for (const block of content) {
        const wire = "wire" in block ? Object.values(block.wire ?? {}) : [];
        for (const value of wire) {
          if (typeof value === "string" && value.includes("_"))
            expect(foreign).not.toContain(value);
        }
      }
    });

    test("a thought that led to nothing is not sent back: providers refuse it alone", async () => {
      const { content } = await under.answered({
        thought: "Hm, so",
        text: [" "],
        stop: "max_tokens",
      });
      const assistant: Turn = { role: "assistant", content, model: under.model.id };
      const body = await under.sent([said("first"), assistant, said("second")]);
      expect(body).not.toContain("Hm, so");
      expect(body).toContain("second");
    });

    test("calls of another model are named anew, so that no provider trips over foreign ids", async () => {
      const calls = (path: string): AssistantBlock => ({
        kind: "tool_use",
        id: "functions.read_log:0",
        name: "read_log",
        input: JSON.stringify({ path }),
      });
      const turns: Turn[] = ["/a", "/b"].flatMap((path) => {
        const content = [calls(path)];
        return [
          said(path),
          { role: "assistant", content, model: "openai-compatible/moonshot" },
          resultsOf(content),
        ];
      });
      const body = await under.sent(turns);
      expect(body).not.toContain("functions.read_log:0");
      const ids = [...body.matchAll(/call_\d+_\d+/g)].map(([id]) => id);
      expect(ids).toHaveLength(4);
      expect(new Set(ids).size).toBe(2);
    });

    test("tools that may not be called now stay listed", async () => {
      const auto = JSON.parse(await under.sent([said("a")])) as Record<string, unknown>;
      const none = JSON.parse(await under.sent([said("a")], { toolChoice: "none" })) as typeof auto;
      expect(none["tools"]).toEqual(auto["tools"]);
      expect(JSON.stringify(none["tool_choice"])).toContain("none");
      const some = JSON.parse(
        await under.sent([said("a")], { allowed: ["read_log"] }),
      ) as typeof auto;
      expect(some["tools"]).toEqual(auto["tools"]);
      const bare = await under.sent([said("a")], { tools: [] });
      expect(bare).not.toContain('"tool');
    });

    test("pictures of people and of tools, and texts, reach the model", async () => {
      const note: FileBlock = {
        kind: "file",
        name: "note.txt",
        mediaType: "text/plain",
        data: Buffer.from("Grüße from the disk").toString("base64"),
      };
      const { content } = await under.answered({ calls: CALLS.slice(0, 1) });
      const result = { id: "toolu_1", text: "a graph", isError: false };
      const body = await under.sent([
        { role: "user", content: [{ kind: "text", text: "See:" }, PIXEL, note] },
        { role: "assistant", content, model: under.model.id },
        { role: "tool", results: [{ ...result, files: [PIXEL] }] },
      ]);
      expect(body.split(PIXEL.data)).toHaveLength(3);
      expect(body).toContain("image/png");
      expect(body).toContain("Grüße from the disk");
      expect(body).toContain("note.txt");
    });

    test("each request begins with the bytes of the one before, but for marks that move", async () => {
      const text = fc.string({ minLength: 0, maxLength: 8 });
      const step = fc.record({
        thought: fc.option(fc.string({ minLength: 1, maxLength: 5 }), { nil: undefined }),
        text: fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 2 }),
        calls: fc.array(fc.record({ path: text }), { maxLength: 3 }),
        result: text,
        isError: fc.boolean(),
        hasImage: fc.boolean(),
        remark: fc.option(text, { nil: undefined }),
        isForeign: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
          const turns: Turn[] = [said("Is the shop up?")];
          let before: { turns: string; rest: string } | undefined;
          for (const [n, one] of steps.entries()) {
            const { turns: list, rest } = dialect.parts(await under.sent(turns));
            const now = { turns: unmarked(list), rest: JSON.stringify(rest) };
            if (before !== undefined) {
              expect(now.rest).toBe(before.rest);
              const old = before.turns.replace(/(?:\]\})?\]$/, "");
              expect(now.turns.startsWith(old)).toBe(true);
            }
            before = now;
            const calls = one.calls.map((input, i) => ({
              id: `toolu_${n}_${i}`,
              name: "read_log",
              input: JSON.stringify(input),
            }));
            const answer = { text: one.text, calls };
            const { content } = await under.answered(
              one.thought === undefined ? answer : { ...answer, thought: one.thought },
              requestOf(turns),
            );
            const by = one.isForeign ? "other/model" : under.model.id;
            turns.push({ role: "assistant", content, model: by });
            if (calls.length > 0) {
              const files = one.hasImage ? [PIXEL] : [];
              const { result, isError } = one;
              const results = calls.map(({ id }) => ({ id, text: result, isError, files }));
              turns.push({ role: "tool", results });
            }
            turns.push(said(one.remark ?? "go on"));
          }
        }),
        { numRuns: 25 },
      );
    });
  });
}
