import type { Line, Script } from "./peer.ts";

/** A model as `@ai-sdk/provider` 4 defines it; `ai` and `@mastra/core` both take it. */
export function languageModel(script: Script) {
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "script",
    supportedUrls: {},
    async doGenerate({ prompt }: { prompt: readonly unknown[] }) {
      const line = script.next(prompt);
      return {
        content: [contentOf(line)],
        finishReason: { unified: line.kind === "call" ? "tool-calls" : "stop", raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error("the script does not stream")),
  };
}

function contentOf(line: Line) {
  if (line.kind === "answer") return { type: "text", text: line.text };
  const { id, tool, input } = line;
  return {
    type: "tool-call",
    toolCallId: id,
    toolName: tool,
    input: JSON.stringify(input),
  };
}
