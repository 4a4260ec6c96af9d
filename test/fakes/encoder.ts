import { createEncoder, type Encoder } from "../../src/security/encoder.ts";

/** Holds nothing: it takes out what has a secret's shape. */
export const nothingHeld: Encoder = createEncoder([]);

/** One that does this to whole texts, and to pieces of them what `pieces` does. */
export function encoderOf(
  encode: (text: string) => string,
  hide = encode,
  pieces: Encoder = nothingHeld,
): Encoder {
  return {
    ...pieces,
    encode,
    hide,
    aside: {
      ...pieces.aside,
      encode: async (text) => encode(text),
      hide: async (text) => hide(text),
    },
  };
}
