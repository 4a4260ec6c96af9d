import type { Logger } from "pino";
import type { Entry, Kind } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import type { BotEvent, MemoryEvent } from "./event.ts";
import type { Subscriber } from "./bus.ts";

/** Entries that an operator who watches wants to see; all others are told at `debug`. */
const NOTABLE: ReadonlySet<Kind> = new Set([
  "run_started",
  "run_ended",
  "condensed",
  "overflow",
  "goal_started",
  "goal_state",
  "view_added",
  "view_removed",
  "alert_thread",
]);

/** Tells the log of what happens: what was written, and with its stack what nobody foresaw. */
export function logEvents(log: Logger): Subscriber {
  return (event) => {
    switch (event.kind) {
      case "written":
        return logEntry(log, event);
      case "model_asked": {
        const { key, run, step } = event;
        return log.debug({ event: event.kind, key, run, step }, "model asked");
      }
      case "tool_began": {
        const { key, run, call, tool } = event;
        return log.debug({ event: event.kind, key, run, call, tool }, "tool began");
      }
      // The worker has logged what is wrong with these.
      case "taken":
      case "refused":
      case "copied":
        return;
      case "tool_crashed": {
        const { tool, error } = event;
        return log.error(
          { event: event.kind, tool, err: error },
          "a tool crashed; its caller was told: this is a fault in it",
        );
      }
      case "circuit_opened": {
        const { tool, failures, waitMs } = event;
        return log.warn(
          { event: event.kind, tool, failures, waitMs },
          "a tool only fails and is left alone",
        );
      }
      case "memory":
        return logMemory(log, event);
    }
  };
}

function logMemory(log: Logger, event: MemoryEvent): void {
  const { kind: _kind, did, ...of } = event;
  const name = `memory_${did}`;
  if (event.did !== "failed") return log.debug({ event: name, ...of }, `memory ${did}`);
  const { doing, error: err, model } = event;
  if (doing === "embed")
    log.warn(
      { event: name, err },
      `${model} makes no vectors; memory compares words alone for a minute`,
    );
  // Who asked says more of it, and louder.
  else log.debug({ event: name, err }, `memory failed to ${doing}`);
}

function logEntry(log: Logger, { key, entry }: Extract<BotEvent, { kind: "written" }>): void {
  const level = NOTABLE.has(entry.kind) ? "info" : "debug";
  if (!log.isLevelEnabled(level)) return;
  const about = { event: entry.kind, key, id: entry.id, ...namesIn(entry), ...figuresOf(entry) };
  log[level](about, entry.kind.replaceAll("_", " "));
}

/** What an entry is about, by its names: never what people wrote or tools found. */
function namesIn(entry: Entry) {
  return {
    ...("run" in entry && { run: entry.run }),
    ...("goal" in entry && typeof entry.goal === "string" && { goal: entry.goal }),
    ...("call" in entry && { call: entry.call }),
    ...("action" in entry && { action: entry.action }),
    ...("tool" in entry && { tool: entry.tool }),
    ...("gate" in entry && { gate: entry.gate }),
  };
}

/** How something ended, and what it took. */
function figuresOf(entry: Entry) {
  if (entry.kind === "run_ended") return { status: entry.status };
  if (entry.kind === "action_closed") return { outcome: entry.outcome };
  if (entry.kind === "tool_finished") {
    const { outcome, ms } = entry;
    return { outcome, ...(ms !== undefined && { ms }) };
  }
  if (entry.kind !== "assistant") return {};
  const { step, model, ms, usage } = entry;
  const { input: inputTokens, output: outputTokens, cacheRead: cachedTokens } = usage;
  return {
    step,
    ...(model !== undefined && { model }),
    ms,
    inputTokens,
    outputTokens,
    cachedTokens,
  };
}

/** For `createBus`: a subscriber that throws is a fault of ours. */
export function logFault(log: Logger): (name: string, error: unknown) => void {
  return (subscriber, error) =>
    log.error({ subscriber, err: error }, `what watches events failed: ${messageOf(error)}`);
}
