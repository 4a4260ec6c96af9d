import { suggest } from "./suggest.ts";

/** What `name` may have been meant to be, the most likely first: one that is spelled almost so, then those that share most words. */
export function nearest(name: string, names: readonly string[], most = 3): string[] {
  const spelled = suggest(name, names);
  const words = wordsOf(name);
  const sharing = names
    .map((candidate) => ({ candidate, share: shareOf(words, wordsOf(candidate)) }))
    .filter(({ share }) => share >= 0.5)
    .toSorted((a, b) => b.share - a.share || a.candidate.length - b.candidate.length)
    .slice(0, most)
    .map(({ candidate }) => candidate);
  return [...new Set([...(spelled === undefined ? [] : [spelled]), ...sharing])].slice(0, most);
}

function wordsOf(name: string): Set<string> {
  return new Set(name.toLowerCase().split(/[^a-z0-9]+/));
}

/** 1: the same words. */
function shareOf(one: Set<string>, other: Set<string>): number {
  const both = [...one].filter((word) => other.has(word)).length;
  return (2 * both) / (one.size + other.size);
}
