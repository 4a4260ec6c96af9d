import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../src/models/model.ts";
import type { Dialect } from "../models/dialects.ts";
import { failureOf, harness, requestOf, said } from "../models/harness.ts";

const output = {
  name: "plan",
  schema: {
    type: "object",
    properties: { title: { type: "string" }, count: { type: "integer", minimum: 1 } },
    required: ["title", "count"],
    additionalProperties: false,
  },
} satisfies ModelRequest["output"];
const VALUE = '{"title":"Read the log","count":2}';
const REFUSED = { status: 400, headers: { "content-type": "application/json" } };

/** How every wire makes its model answer in a form. */
export function outputContract(dialect: Dialect): void {
  describe(`${dialect.wire} makes its model answer in a form`, () => {
    const under = harness(dialect);
    const { signal } = under;
    const request = requestOf([said("Plan it.")], { tools: [], output });
    const asCall = { calls: [{ id: "toolu_1", name: "plan", input: VALUE }] };
    const refusal = {
      ...REFUSED,
      pieces: [dialect.error("invalid_request_error", "unknown setting: format")],
    };
    const bodies = () => under.server.seen.map(({ body }) => body);

    test("by its provider's own setting, and a request without a form has none", async () => {
      const { content, stop } = await under.answered({ text: [VALUE] }, request);
      expect(content).toMatchObject([{ kind: "text", text: VALUE }]);
      expect(stop).toBe("end_turn");
      const [body = ""] = bodies();
      expect(body).toMatch(/json_schema/);
      expect(JSON.stringify(JSON.parse(body))).toContain('"count":{"type":"integer"');
      expect(body).not.toContain('"tool_choice"');
      expect(await under.sent([said("a")], { tools: [] })).not.toContain("json_schema");
    });

    test("by a call where the server knows no such setting, and remembers that", async () => {
      under.server.answer(
        refusal,
        { pieces: dialect.events(asCall) },
        { pieces: dialect.events(asCall) },
      );
      for (let n = 0; n < 2; n += 1) {
        const { content, stop } = await under.model.generate(request, { signal });
        expect(content).toEqual([{ kind: "text", text: VALUE }]);
        expect(stop).toBe("end_turn");
      }
      const [format, first, second, ...more] = bodies();
      expect(format).toContain("json_schema");
      expect(first).toMatch(/"tool_choice":\{[^{]*("name":"plan"|\{"name":"plan"\})/);
      expect(first).not.toContain('"json_schema"');
      expect([second, more]).toEqual([first, []]);
    });

    test("what no way is taken for fails with the first refusal; any other failure at once", async () => {
      under.server.answer(refusal, refusal, refusal);
      const refused = await failureOf(under.model.generate(request, { signal }));
      expect(refused.code).toBe("MODEL_REQUEST_INVALID");
      expect(refused.message).toContain("unknown setting: format");
      under.server.seen.length = 0;
      const overloaded = await under.failed({ status: 529 }, request);
      expect([overloaded.code, under.server.seen.length]).toEqual(["MODEL_OVERLOADED", 1]);
    });

    test("and its own tools stay listed before", async () => {
      under.server.answer(refusal, { pieces: dialect.events(asCall) });
      await under.model.generate(requestOf([said("Plan it.")], { output }), { signal });
      const { tools } = JSON.parse(bodies()[1] ?? "") as { tools: object[] };
      expect(tools).toHaveLength(3);
      expect(JSON.stringify(tools[2])).toContain('"plan"');
    });
  });
}
