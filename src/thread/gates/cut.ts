import type { Gate } from "./gate.ts";

/** An answer that was cut off, is empty, or is a call that the provider refused is written again. */
export const cut: Gate = {
  name: "cut",
  about: "sends back an answer that was cut off or is empty",
  hearsNothing: true,
  beforeAnswer({ text, last: { stop } }) {
    if (stop === "max_tokens")
      return "Your answer was cut off at the output limit. Write it again, shorter.";
    if (stop === "malformed_call")
      return "Your call was refused: it is not a valid call of a listed tool. Call it again with arguments that fit its schema, or answer.";
    return text === "" ? "Your turn was empty. Write the answer." : undefined;
  },
};
