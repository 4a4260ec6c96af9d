import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { describe, expect, onTestFinished, test } from "vitest";
import { startRecorder, startReplay } from "../../eval/traffic.ts";
import type { Model, ModelResponse, Turn } from "../../src/models/model.ts";
import { anthropic, compatible, KEY, openai } from "../models/dialects.ts";
import { failureOf, requestOf, said } from "../models/harness.ts";

const { signal } = new AbortController();

function fileFor(): string {
  const folder = mkdtempSync(join(tmpdir(), "wk-traffic-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "one.jsonl");
}

/** A call, its result, and an answer. */
async function converse(model: Model): Promise<ModelResponse[]> {
  const turns: Turn[] = [said("is the shop up")];
  const first = await model.generate(requestOf(turns), { signal });
  const [use] = first.content.filter((block) => block.kind === "tool_use");
  turns.push(
    { role: "assistant", content: first.content, model: model.id },
    {
      role: "tool",
      results: [{ id: use?.id ?? "", text: "HTTP 503", isError: false, files: [] }],
    },
  );
  return [first, await model.generate(requestOf(turns), { signal })];
}

describe.each([anthropic, openai, compatible])("$wire", (dialect) => {
  test("a recorded conversation is the same without its provider, and holds neither a key nor what was asked", async () => {
    const mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
    await mock.start();
    mock.on(
      { userMessage: "is the shop up", hasToolResult: false },
      {
        content: "Looking.",
        toolCalls: [
          { id: "toolu_1", name: "http_check", arguments: '{"url":"https://a.example"}' },
        ],
      },
    );
    mock.on({ userMessage: "is the shop up", hasToolResult: true }, { content: "No: 503." });
    const file = fileFor();
    const recorder = await startRecorder(mock.url, file);
    const live = await converse(dialect.create({ baseURL: recorder.url }));
    await recorder.stop();
    await mock.stop();
    const kept = readFileSync(file, "utf8");
    expect(kept.trim().split("\n")).toHaveLength(2);
    expect(kept).not.toContain(KEY);
    expect(kept).not.toContain("is the shop up");
    // oxlint-disable-next-line no-bitwise -- a file's mode
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const replay = await startReplay(file);
    onTestFinished(() => replay.stop());
    const model = dialect.create({ baseURL: replay.url });
    expect(await converse(model)).toEqual(live);
    expect(replay.problems).toEqual([]);
    const failure = await failureOf(model.generate(requestOf([said("and now")]), { signal }));
    expect(failure.message).toContain("left the record");
    expect(replay.problems).toHaveLength(1);
  });
});
