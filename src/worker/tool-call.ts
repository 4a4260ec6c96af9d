import type { AppendKind, Draft } from "../core/entry.ts";
import type { Call } from "../journal/fold.ts";
import type { Finished } from "../tools/dispatch.ts";
import { begin, decide, type Drive, ensureLive, storeNow } from "./drive.ts";

/** What is executed: the displayed arguments of an action, else the ones written down at the start. */
function argsOf(call: Call) {
  return call.action?.proposal.args ?? call.started?.args ?? call.args;
}

/** Runs a call whose `tool_started` is in the journal, and writes down how it ended. */
export function runTool(drive: Drive, call: Call): void {
  const { tool } = call;
  const args = argsOf(call);
  begin(drive, `call:${call.call}`, async (signal) => {
    // Narrows the window in which a worker that was frozen right here acts after another has taken over.
    if (!(await ensureLive(drive))) return async () => {};
    drive.view.progress({ kind: "tool_started", call: call.call, tool, args });
    const finished = await drive.parts.dispatcher.run(tool, args, {
      signal,
      startedAt: call.started?.at ?? storeNow(drive),
      keep: (bytes) => drive.parts.journal.putArtifact(drive.key, bytes),
    });
    const { outcome, ms } = finished;
    drive.view.progress({ kind: "tool_finished", call: call.call, tool, outcome, ms });
    return () => record(drive, call, finished);
  });
}

/**
 * Writes down an outcome this worker knows. A fenced worker posts it as a late word instead, so that it is not lost. A
 * read that was cut because of a shutdown is left as it is: the next start runs it again.
 */
async function record(drive: Drive, call: Call, finished: Finished): Promise<void> {
  const { outcome, text, ms, artifacts } = finished;
  if (outcome === "cancelled" && drive.draining) return;
  const draft: Draft<"tool_finished"> = {
    id: `finished:${call.call}`,
    kind: "tool_finished",
    run: call.run,
    call: call.call,
    outcome,
    text,
    ms,
    ...(artifacts.length > 0 && { artifacts }),
  };
  const drafts = outcome === "unknown" ? [draft, unknownNotice(call, text)] : [draft];
  if (!drive.over && !drive.fenced) {
    await decide(drive, () => (call.finished === undefined ? drafts : undefined));
  }
  if ((drive.over || drive.fenced) && call.finished === undefined)
    await postLate(drive, call, finished);
}

async function postLate(drive: Drive, call: Call, { outcome, text }: Finished): Promise<void> {
  if (call.started?.effect === "read") return;
  const id = `late:${call.call}`;
  await drive.parts.journal.post(drive.key, { id, kind: "signal", call: call.call, outcome, text });
}

/**
 * A call whose worker died. A read is run again. Anything else is never run again: its verifier may report that it was
 * done; whatever else it says is evidence for the person who settles it.
 */
export function recover(drive: Drive, key: string, call: Call): void {
  const { started } = call;
  if (started === undefined) return;
  if (started.effect === "read") {
    runTool(drive, call);
    return;
  }
  begin(drive, key, async (signal) => {
    const { verdict, evidence } = drive.thread.parked
      ? { verdict: "unknown" as const, evidence: "not read back: its work crashed twice" }
      : await drive.parts.dispatcher.verify(call.tool, argsOf(call), started.at, signal);
    return () =>
      decide(drive, () =>
        call.finished === undefined ? recovered(call, verdict, evidence) : undefined,
      );
  });
}

function recovered(
  call: Call,
  verdict: "done" | "not done" | "unknown",
  evidence: string,
): Draft<AppendKind>[] {
  const done = verdict === "done";
  const interrupted = `The process that ran ${call.tool} ended before it could say how it went.`;
  const text = done
    ? `${interrupted} Read back: it was done. ${evidence}`
    : `${interrupted} The outcome is unknown; it is not run again. Read back: ${evidence}`;
  const finished: Draft<"tool_finished"> = {
    id: `finished:${call.call}`,
    kind: "tool_finished",
    run: call.run,
    call: call.call,
    outcome: done ? "ok" : "unknown",
    text,
    recovered: true,
  };
  return done ? [finished] : [finished, unknownNotice(call, text)];
}

function unknownNotice(call: Call, text: string): Draft<"notice"> {
  const ref = call.action?.action ?? call.call;
  return {
    id: `unknown:${call.call}`,
    kind: "notice",
    text: `UNKNOWN outcome of ${ref} (${call.tool}). ${text} Please look, then say: settle ${ref} happened | not-happened [because …].`,
    settles: ref,
  };
}
