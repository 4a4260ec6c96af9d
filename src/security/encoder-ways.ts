/** The ways in which an `Encoder` takes secrets out of a text. */
export interface Ways {
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
  [Way in keyof Ways]: [way: Way, ...args: Parameters<Ways[Way]>];
}[keyof Ways];

/** Does what a thread was told. */
export function carryOut(ways: Ways, call: EncoderCall): string {
  switch (call[0]) {
    case "encode":
    case "hide":
      return ways[call[0]](call[1]);
    case "encodeWithin":
      return ways.encodeWithin(call[1], call[2], call[3]);
    case "encodeCut":
      return ways.encodeCut(call[1], call[2]);
  }
}
