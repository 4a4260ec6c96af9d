import type { Tool, ToolContext, ToolOutput } from "./tool.ts";

/** A call as an integration's `around` meets it: its input passed the tool's schema. */
interface Around {
  readonly tool: string;
  readonly input: unknown;
  readonly ctx: ToolContext;
}

/**
 * Carries out each call of an integration's tools: before, after or instead of `run`. It stands inside the time limit and the
 * breaker, so that what it throws is the call's failure (CORE 003.11), and approvals were settled before it.
 */
export type Wrapper = (call: Around, run: () => Promise<ToolOutput>) => Promise<ToolOutput>;

export function withWrapper(tools: readonly Tool[], wrapper: Wrapper | undefined): readonly Tool[] {
  if (wrapper === undefined) return tools;
  return tools.map((tool) => ({
    ...tool,
    run: async (input, ctx) =>
      wrapper({ tool: tool.name, input, ctx }, async () => tool.run(input, ctx)),
  }));
}
