/** Random choices that are the same in every run with the same seed (mulberry32). */
export interface Seeded {
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number;
  pick<T>(items: readonly T[]): T;
  /** `length` characters of `alphabet`. */
  text(alphabet: string, length: number): string;
}

export function seeded(seed: number): Seeded {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    pick(items) {
      const item = items[int(items.length)];
      if (item === undefined) throw new Error("Nothing to pick from.");
      return item;
    },
    text: (alphabet, length) =>
      Array.from({ length }, () => alphabet.charAt(int(alphabet.length))).join(""),
  };
}
