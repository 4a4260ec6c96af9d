import type { TranscriptTurn } from "../../src/agent/transcript-turns.ts";

/** Every call has its one result, in the turn right after it and in the calls' order. */
export function checkPaired(turns: readonly TranscriptTurn[]): void {
  turns.forEach((turn, i) => {
    const next = turns[i + 1];
    if (turn.role === "tool" && turns[i - 1]?.role !== "assistant")
      throw new Error(`results without calls at ${i}`);
    if (turn.role !== "assistant") return;
    const ids = turn.content.flatMap((block) => (block.kind === "tool_use" ? [block.id] : []));
    const results = next?.role === "tool" ? next.results.map(({ id }) => id) : [];
    if (ids.join() !== results.join())
      throw new Error(`calls ${ids.join()} have results ${results.join()}`);
  });
}
