import { type Gate, refuse } from "./gate.ts";

/** Once a run may only answer, no call of it is made, also where the provider let the model ask for one. */
export const lastWord: Gate = {
  name: "last_word",
  about: "refuses calls once the run may only answer",
  beforeCall: ({ modelRun }) =>
    modelRun.toolsOff === undefined
      ? undefined
      : refuse("No tools may be called any more in this run. Answer now."),
};
