import type { TranscriptTurn } from "./transcript-turns.ts";

/**
 * Every call has its one result, in the turn right after it and in the calls' order; no result stands alone. Providers refuse
 * any other request, and every one that begins with it.
 * @throws Error that says where not
 */
export function assertPaired(turns: readonly TranscriptTurn[]): void {
  turns.forEach((turn, i) => {
    if (turn.role === "tool" && turns[i - 1]?.role !== "assistant")
      throw new Error(`Turn ${i} has results without calls.`);
    if (turn.role !== "assistant") return;
    const next = turns[i + 1];
    const results = next?.role === "tool" ? next.results : [];
    const calls = turn.content.filter(({ kind }) => kind === "tool_use");
    const isPaired =
      calls.length === results.length &&
      calls.every((call, at) => call.kind === "tool_use" && call.id === results[at]?.id);
    if (!isPaired) {
      const ids = calls.map((call) => (call.kind === "tool_use" ? call.id : "")).join();
      const found = results.map(({ id }) => id).join();
      throw new Error(
        `Turn ${i} calls ${ids || "nothing"}, and its results are of ${found || "nothing"}.`,
      );
    }
  });
}
