import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type ModelServer, startModelServer } from "../fakes/model-server.ts";
import { publicRecords } from "../public-data.ts";
import { anthropic, compatible, type Dialect, openai } from "./dialects.ts";
import { requestOf, said } from "./harness.ts";

const record = z.object({
  origin: z.string(),
  wire: z.enum(["anthropic", "chat", "responses"]),
  sse: z.string(),
});
const DIALECTS: Record<z.infer<typeof record>["wire"], Dialect> = {
  anthropic,
  chat: compatible,
  responses: openai,
};

/** Recorded in part only: the response's last event is missing. */
const CUT = "parallel-tool-call-wrapper";

const records = publicRecords("payloads/model-streams.ndjson.gz").map((line) => record.parse(line));

describe.skipIf(records.length === 0)("streams that others recorded", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());

  test("are read to their end, and what they say can be sent back", async () => {
    const { signal } = new AbortController();
    const ended: [string, string][] = [];
    for (const { origin, wire, sse } of records) {
      const dialect = DIALECTS[wire];
      const model = dialect.create({ baseURL: server.url });
      server.answer({ pieces: [sse] }, { pieces: dialect.events({ text: ["ok"] }) });
      const response = await model
        .generate(requestOf([said("a")]), { signal })
        .catch((error: unknown) => String(error));
      if (typeof response === "string") {
        ended.push([origin, response]);
        continue;
      }
      const results = response.content.flatMap((block) =>
        block.kind === "tool_use" ? [{ id: block.id, text: "ok", isError: false, files: [] }] : [],
      );
      const tools = results.length === 0 ? said("b") : ({ role: "tool", results } as const);
      const turns = [
        said("a"),
        { role: "assistant", content: response.content, model: model.id } as const,
        tools,
      ];
      const next = await model.generate(requestOf(turns), { signal });
      ended.push([origin, next.stop]);
    }
    expect(ended).toHaveLength(records.length);
    expect(ended.filter(([, stop]) => stop !== "end_turn").map(([origin]) => origin)).toEqual(
      records.flatMap(({ origin }) => (origin.includes(CUT) ? [origin] : [])),
    );
  });
});
