import { STAY_SILENT, USE_TOOL } from "../../core/tool-spec.ts";
import { type Gate, refuse } from "./gate.ts";

/** Only tools that the run has may be called, whatever the model writes. */
export const known: Gate = {
  name: "known",
  about: "refuses a call of a tool that the run does not have, and names those that it has",
  beforeCall({ call: { tool }, terms }) {
    if (tool === STAY_SILENT) return refuse("You were asked, or have begun to look: answer.");
    if (tool === USE_TOOL)
      return refuse(
        `${USE_TOOL} takes the name of a tool as "tool" and its arguments, a JSON object, as "arguments".`,
      );
    const names = terms?.tools.map(({ name }) => name) ?? [];
    if (names.includes(tool) || terms?.foundTools?.includes(tool) === true) return undefined;
    return refuse(
      `There is no tool ${tool} in this run. There are: ${names.join(", ") || "none"}.`,
    );
  },
};
