/**
 * What `name` was probably meant to be: the closest candidate, by insertions, deletions, replacements and swapped
 * neighbours, if one in four letters at the most is wrong (one letter in short names).
 */
export function suggest(name: string, candidates: Iterable<string>): string | undefined {
  const ranked = [...candidates]
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked[0];
  const limit = Math.max(1, Math.min(3, Math.floor(name.length / 4)));
  return best && best.distance <= limit ? best.candidate : undefined;
}

/** `unknown` and what to do about it. */
export function unknownName(name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  if (meant !== undefined) return `unknown; did you mean ${meant}?`;
  return known.length === 0
    ? "unknown; nothing goes here"
    : `unknown; known are ${known.join(", ")}`;
}

/** Optimal string alignment distance, without regard to case. */
function editDistance(from: string, to: string): number {
  const a = from.toLowerCase();
  const b = to.toLowerCase();
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const [above = 0, left = 0, diagonal = 0] = [
        last[column],
        line[column - 1],
        last[column - 1],
      ];
      const swap = swapped ? (before[column - 2] ?? 0) : Infinity;
      line[column] = Math.min(above + 1, left + 1, diagonal + (same ? 0 : 1), swap + 1);
    }
    before = last;
    last = line;
  }
  return last[b.length] ?? 0;
}
