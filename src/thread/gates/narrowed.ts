import { whyNarrowed } from "../narrowed.ts";
import { type Gate, refuse } from "./gate.ts";

/** A skill that the run follows may allow only some calls. */
export const narrowed: Gate = {
  name: "narrowed",
  about: "refuses what a skill that the run follows does not allow (`allowed-tools`)",
  beforeCall({ call, run, terms }) {
    const why = terms && whyNarrowed(call, run, terms);
    return why === undefined ? undefined : refuse(why);
  },
};
