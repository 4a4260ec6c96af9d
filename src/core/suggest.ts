import damerauLevenshtein from "damerau-levenshtein";

/**
 * What `name` was probably meant to be: the closest candidate, by insertions, deletions, replacements and swapped
 * neighbours, if one in four letters at the most is wrong (one letter in short names). Case does not count.
 */
export function suggest(name: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.min(3, Math.floor(name.length / 4)));
  const written = name.toLowerCase();
  return [...candidates]
    .filter(({ length }) => Math.abs(length - name.length) <= limit)
    .map((candidate) => ({
      candidate,
      distance: damerauLevenshtein(written, candidate.toLowerCase()).steps,
    }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** `unknown` and what to do about it. */
export function unknownName(name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  if (meant !== undefined) return `unknown; did you mean ${meant}?`;
  return known.length === 0
    ? "unknown; nothing goes here"
    : `unknown; known are ${known.join(", ")}`;
}

/** `There is no container mailr. Did you mean mailer?` */
export function noSuch(kind: string, name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  if (meant !== undefined) return `There is no ${kind} ${name}. Did you mean ${meant}?`;
  const others = known.length === 0 ? "Nor is there any other." : `There are ${known.join(", ")}.`;
  return `There is no ${kind} ${name}. ${others}`;
}
