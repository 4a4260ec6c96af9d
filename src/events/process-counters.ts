import type { Counter, Histogram } from "prom-client";
import type { BotEvent } from "./event.ts";

/** The code of a failure that is none of our table. */
const OTHER_CODE = "other";

/** Makes a counter `watchkeeper_<name>`. */
export type MakeCounter = (name: string, help: string, labelNames: readonly string[]) => Counter;

/** Makes a histogram `watchkeeper_<name>`. */
export type MakeHistogram = (
  name: string,
  help: string,
  labelNames: string[],
  buckets: number[],
) => Histogram;

/** Counts what no journal keeps. `nameOf`: a tool's name as a label. */
export function countProcess(
  counter: MakeCounter,
  nameOf: (tool: string) => string,
): (event: BotEvent) => void {
  const crashes = counter("tool_crashes_total", "Calls whose tool's code failed", ["tool"]);
  const circuits = counter("circuits_opened_total", "Times that a tool was left alone", ["tool"]);
  const taken = counter("journals_taken_total", "Leases taken, by the attempt", ["attempt"]);
  const refused = counter("deliveries_refused_total", "Messages that a platform did not show", [
    "transport",
    "code",
  ]);
  const copies = counter("copies_taken_back_total", "Messages shown twice", ["transport"]);

  return (event) => {
    switch (event.kind) {
      case "tool_crashed":
        return crashes.inc({ tool: nameOf(event.tool) });
      case "circuit_opened":
        return circuits.inc({ tool: nameOf(event.tool) });
      case "taken":
        return taken.inc({ attempt: attemptOf(event.attempts) });
      case "refused":
        return refused.inc({ transport: event.transport, code: event.code ?? OTHER_CODE });
      case "copied":
        return copies.inc({ transport: event.transport });
      case "written":
      case "memory":
      case "model_asked":
      case "tool_began":
    }
  };
}

/** From the third on its work has crashed twice. */
const attemptOf = (attempts: number) => (attempts > 2 ? "3_or_more" : attempts);
