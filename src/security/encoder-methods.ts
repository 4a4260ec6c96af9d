/** How an `Encoder` takes secrets out of a text. */
export interface EncoderMethods {
  /** As `encodeText`. */
  encode(text: string): string;
  /** Without secrets and otherwise as it is: for what people type and models write, before anything is made of it. */
  hide(text: string): string;
  /**
   * The clean text between two places of it. What is found across one of them stands whole in the answer, as its
   * placeholder; with `reach` characters more on both sides no held value is overlooked, however it is written.
   * `text` has to be what `cleanText` gives.
   */
  encodeWithin(text: string, from: number, to: number): string;
  /** A text of which more stood before or behind and is gone: less `reach` characters at each such end. */
  encodeCut(text: string, cut: { before: boolean; behind: boolean }): string;
}

/** One request to do one of these, as a thread is told it. */
export type EncoderCall = {
  [Method in keyof EncoderMethods]: [method: Method, ...args: Parameters<EncoderMethods[Method]>];
}[keyof EncoderMethods];

/** Does what a thread was asked for. */
export function callMethod(methods: EncoderMethods, call: EncoderCall): string {
  switch (call[0]) {
    case "encode":
    case "hide":
      return methods[call[0]](call[1]);
    case "encodeWithin":
      return methods.encodeWithin(call[1], call[2], call[3]);
    case "encodeCut":
      return methods.encodeCut(call[1], call[2]);
  }
}
