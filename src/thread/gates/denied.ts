import { callKey } from "../model-run.ts";
import { type Gate, refuse } from "./gate.ts";

/** Denials in a row after which the model has to answer instead of asking for more (CORE case 13). */
const MAX_DENIALS = 2;

/** What people said no to is not asked again. */
export const denied: Gate = {
  name: "denied",
  about:
    "does not ask people again what they denied; after two denials in a row the model has to answer",
  beforeCall({ call, modelRun }) {
    if (!modelRun.denied.has(callKey(call.tool, call.args))) return undefined;
    return refuse(
      "A person denied this very call before, so nobody was asked again. The tool was not executed.",
    );
  },
  afterCalls(_run, { denials }) {
    if (denials < MAX_DENIALS) return undefined;
    const text = `People denied ${denials} calls in a row. Ask for no more; answer with what is known and what you would have done.`;
    return { text, toolsOff: true };
  },
};
