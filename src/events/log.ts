import type { Logger } from "pino";
import type { Kind } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import type { BotEvent, MemoryEvent } from "./event.ts";
import type { Subscriber } from "./bus.ts";

/** Entries that an operator who watches wants to see; all others are told at `debug`. */
const NOTABLE: ReadonlySet<Kind> = new Set([
  "run_started",
  "run_ended",
  "condensed",
  "overflow",
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
        return log.debug({ key, run, step }, "model asked");
      }
      case "tool_began": {
        const { key, run, call, tool } = event;
        return log.debug({ key, run, call, tool }, "tool began");
      }
      // The worker has logged what is wrong with these.
      case "taken":
      case "refused":
      case "copied":
        return;
      case "tool_crashed": {
        const { tool, error } = event;
        return log.error(
          { tool, err: error },
          "a tool crashed; its caller was told: this is a fault in it",
        );
      }
      case "circuit_opened": {
        const { tool, failures, waitMs } = event;
        return log.warn({ tool, failures, waitMs }, "a tool only fails and is left alone");
      }
      case "memory":
        return logMemory(log, event);
    }
  };
}

function logMemory(log: Logger, event: MemoryEvent): void {
  const { kind: _kind, did, ...of } = event;
  if (event.did !== "failed") return log.debug(of, `memory ${did}`);
  const { doing, error: err, model } = event;
  if (doing === "embed")
    log.warn({ err }, `${model} makes no vectors; memory compares words alone for a minute`);
  // Who asked says more of it, and louder.
  else log.debug({ err }, `memory failed to ${doing}`);
}

function logEntry(log: Logger, { key, entry }: Extract<BotEvent, { kind: "written" }>): void {
  const level = NOTABLE.has(entry.kind) ? "info" : "debug";
  if (!log.isLevelEnabled(level)) return;
  const about = {
    key,
    id: entry.id,
    ...("run" in entry && { run: entry.run }),
    ...(entry.kind === "run_ended" && { status: entry.status }),
  };
  log[level](about, entry.kind.replaceAll("_", " "));
}

/** For `createBus`: a subscriber that throws is a fault of ours. */
export function logFault(log: Logger): (name: string, error: unknown) => void {
  return (subscriber, error) =>
    log.error({ subscriber, err: error }, `what watches events failed: ${messageOf(error)}`);
}
