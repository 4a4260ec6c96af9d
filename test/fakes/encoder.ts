import { createEncoder, type Encoder } from "../../src/core/encoder.ts";

/** Holds nothing: it takes out what has a secret's shape. */
export const nothingHeld: Encoder = createEncoder([]);

/** One that does this to whole texts. */
export function encoderOf(encode: (text: string) => string, hide = encode): Encoder {
  return {
    ...nothingHeld,
    encode,
    hide,
    aside: {
      ...nothingHeld.aside,
      encode: async (text) => encode(text),
      hide: async (text) => hide(text),
    },
  };
}
