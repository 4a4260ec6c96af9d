import { HOUSEKEEPING } from "../housekeeping.ts";
import type { Gate } from "./gate.ts";

/** Several observations are put together before they become an answer. */
const MIN_CALLS = 2;

export const synthesis: Gate = {
  name: "synthesis",
  about:
    "sends the first answer after several observations back once, to be put together from all of them",
  beforeAnswer({ run }) {
    const seen = [...run.calls.values()].filter(
      ({ tool, finished }) =>
        finished?.outcome === "ok" && finished.gate === undefined && !HOUSEKEEPING.test(tool),
    );
    if (seen.length < MIN_CALLS) return undefined;
    return "Before your answer is shown: put together what the results say, what speaks against it, and what nobody looked at. Then write the whole answer again, changed where that changes it.";
  },
};
