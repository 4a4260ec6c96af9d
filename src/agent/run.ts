import type { Command, Draft, JsonObject } from "../core/entry.ts";
import type { Pending, Run, Thread } from "../journal/fold.ts";

/** What one command comes to: a tool call, or a text to answer at once. */
export type Direct =
  | { kind: "call"; tool: string; args: JsonObject }
  | { kind: "text"; text: string; failed: boolean };

export interface RunParts {
  /** Reads a typed command against the tools there are. */
  direct(command: Command, thread: Thread): Direct;
  /** The answer to plain language; without a model it says so and what can be done instead. */
  plain(text: string): string;
}

type Begun = Draft<"run_started"> | Draft<"run_ended">;

/** Takes up a message: a command with a tool becomes a run of one call, everything else is answered at once. */
export function beginRun({ entry, stopped }: Pending, thread: Thread, parts: RunParts): Begun[] {
  const run = `r${thread.counts.runs + 1}`;
  const start = (calls: Draft<"run_started">["calls"]): Begun => ({
    id: `run:${run}`,
    kind: "run_started",
    run,
    answers: [entry.id],
    principals: [entry.actor.account],
    calls,
  });
  const answer = (status: Draft<"run_ended">["status"], text: string): Begun[] => [
    start([]),
    { id: `ended:${run}`, kind: "run_ended", run, status, text },
  ];
  if (stopped) return answer("cancelled", "Stopped before it began.");
  if (entry.kind === "message") return answer("completed", parts.plain(entry.text));
  const direct = parts.direct(entry.command, thread);
  if (direct.kind === "text") return answer(direct.failed ? "failed" : "completed", direct.text);
  return [start([{ call: `${run}.t1`, tool: direct.tool, args: direct.args }])];
}

/** Every call has its result: the results are the answer. */
export function endRun({ started, calls, stopped }: Run): Draft<"run_ended"> {
  const { run } = started;
  const ok = [...calls.values()].every((call) => call.finished?.outcome === "ok");
  const status = stopped && !ok ? "cancelled" : ok ? "completed" : "failed";
  return { id: `ended:${run}`, kind: "run_ended", run, status };
}
