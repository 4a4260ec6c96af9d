import type { Circle } from "../model-run.ts";
import type { Gate } from "./gate.ts";

/** A model that goes in circles is told so, and the second time has to answer (CORE case 28). */
export const stuck: Gate = {
  name: "stuck",
  about:
    "tells a model that goes in circles, and the second time has it answer with what it has found",
  afterCalls(_run, { loop: { found }, gates }) {
    if (found === undefined) return undefined;
    const toolsOff = gates.some(({ gate }) => gate === "stuck");
    const text = toolsOff
      ? `You are going in circles again: ${circleText(found)}. Answer now with what you found and what is still open.`
      : `You are going in circles: ${circleText(found)}. Take another way, or answer with what you have.`;
    return { text, toolsOff };
  },
};

function circleText({ kind, tool, calls }: Circle): string {
  switch (kind) {
    case "same":
      return `the same call of ${tool} ${calls} times in a row`;
    case "two_in_turn":
      return "the same two calls in turn, with the same results";
    case "nothing_new":
      return `${calls} calls of ${tool} that brought nothing new`;
  }
}
