import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Candidate } from "../../src/memory/index-port.ts";
import { byNearness, byTerms, fuse } from "../../src/memory/ranking.ts";

const namesOf = (ranked: readonly { candidate: Candidate }[]) =>
  ranked.map(({ candidate: { journal, id } }) => `${journal} ${id}`);

test("what is as good, as new and named the same is ranked in one order, however an index lists it", () => {
  const candidate = fc.record({
    id: fc.constantFrom("m-1", "m-2"),
    journal: fc.constantFrom("memory:a", "memory:b", "memory:c"),
    at: fc.nat({ max: 1 }),
    item: fc.constant("{}"),
    terms: fc.constantFrom("disk full", "full disk", "dns"),
    space: fc.constant("public:test"),
    near: fc.constantFrom(0, 0.5),
  });
  const all = fc.uniqueArray(candidate, {
    selector: ({ id, journal }) => `${journal} ${id}`,
    minLength: 2,
    maxLength: 6,
  });
  const both = all.chain((given) =>
    fc.tuple(
      fc.constant(given),
      fc.shuffledSubarray(given, { minLength: given.length, maxLength: given.length }),
    ),
  );
  const statistics = { texts: 6, terms: 12, having: [2] };
  const rank = (given: readonly Candidate[]) => {
    const words = byTerms(["disk"], statistics, given);
    const near = byNearness(given);
    return [words, near, fuse([words, near])].map(namesOf);
  };
  fc.assert(
    fc.property(both, ([given, shuffled]) => {
      expect(rank(shuffled)).toEqual(rank(given));
    }),
  );
});
