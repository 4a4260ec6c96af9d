import { estimateTokens } from "../../src/core/block.ts";
import { type Model, ModelError, type ModelRequest } from "../../src/models/model.ts";
import { type Line, scriptedModel } from "./scripted-model.ts";

export interface CountingModel extends Model {
  /** Every request that it took, in order. */
  requests: ModelRequest[];
  /** Those of them that asked for a summary. */
  summaries: ModelRequest[];
  /** How many it refused as too long. */
  refused: number;
}

/** Tokens of a request, as an estimator counts them. */
export function countTokens({ system, tools, turns }: ModelRequest): number {
  return estimateTokens(JSON.stringify({ system, tools })) + estimateTokens(JSON.stringify(turns));
}

function isForSummary({ toolChoice, turns }: ModelRequest): boolean {
  return toolChoice === "none" && JSON.stringify(turns.at(-1)).includes("Write a summary");
}

/**
 * A model that counts its tokens and refuses what does not fit into its window with the response. `say`: what it says to its n-th
 * request, those for summaries apart; `summary`: to these.
 */
export function countingModel(
  contextWindow: number,
  say: (n: number, request: ModelRequest) => Line,
  summary: (n: number, request: ModelRequest) => Line = (n) => ({ text: `Goal\nSummary ${n}.` }),
): CountingModel {
  const requests: ModelRequest[] = [];
  const summaries: ModelRequest[] = [];
  const counting: CountingModel = {
    id: "test/counting",
    contextWindow,
    requests,
    summaries,
    refused: 0,
    async generate(request, options) {
      const input = countTokens(request);
      if (input + request.maxOutputTokens > contextWindow) {
        counting.refused += 1;
        throw new ModelError("MODEL_CONTEXT_TOO_LONG", "context_length_exceeded");
      }
      const isSummary = isForSummary(request);
      const asked = isSummary ? summaries : requests;
      asked.push(request);
      const line = (isSummary ? summary : say)(asked.length, request);
      const { content, ...said } = await scriptedModel([line]).generate(request, options);
      const ids = content.map((block, i) =>
        block.kind === "tool_use" ? { ...block, id: `call_${requests.length}_${i}` } : block,
      );
      const output = estimateTokens(JSON.stringify(content));
      return { ...said, content: ids, usage: { ...said.usage, input, output, ...line.usage } };
    },
  };
  return counting;
}
