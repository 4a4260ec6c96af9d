import { describe, expect, test } from "vitest";
import type { MemoryIndex, Row } from "../../src/memory/index-port.ts";

const HERE = "public:slack:T1";
const THERE = "private:slack:T1:C9";
const JOURNAL = "memory:slack:T1:2026-11";

export function row(id: string, terms: string, changes: Partial<Row> = {}): Row {
  const item = JSON.stringify({ id });
  return {
    id,
    journal: JOURNAL,
    seq: 1,
    at: 1,
    space: HERE,
    kind: "note",
    item,
    terms,
    ...changes,
  };
}

const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id);
const known = (last: number) => ({ last, head: `h${last}` });
const ALL = { limit: 10 };

/** What every index of memory promises; `vectors`: it also finds by nearness, in three dimensions. */
export function describeMemoryIndex(
  name: string,
  open: () => Promise<MemoryIndex>,
  { vectors = false } = {},
): void {
  describe(`${name} as an index of memory`, () => {
    test("finds texts that have any of the terms, those with more of them and rarer ones first", async () => {
      const index = await open();
      const rows = [
        row("a", "disk full web host"),
        row("b", "disk latency"),
        row("c", "queue lag"),
        row("d", "disk slow"),
      ];
      await index.put(JOURNAL, rows, known(4));
      const found = await index.matching(["disk", "full"], [HERE], ALL);
      expect(ids(found)[0]).toBe("a");
      expect(new Set(ids(found))).toEqual(new Set(["a", "b", "d"]));
      expect(found[0]).toMatchObject({
        item: '{"id":"a"}',
        terms: "disk full web host",
        space: HERE,
      });
      expect(await index.matching(["nothing"], [HERE], ALL)).toEqual([]);
      expect(await index.matching(["disk"], [HERE], { limit: 2 })).toHaveLength(2);
      const statistics = await index.statistics(["disk", "lag", "nothing"], [HERE]);
      expect(statistics).toEqual({ texts: 4, terms: 10, having: [3, 1, 0] });
    });

    test("what is as good and as new comes in one order, whatever was put first", async () => {
      const rows = ["c", "a", "d", "b"].flatMap((id) => [
        row(id, "disk full"),
        row(id, "disk full", { journal: `${JOURNAL}-2`, item: JSON.stringify({ id, more: 1 }) }),
      ]);
      const answersOf = async (given: readonly Row[]) => {
        const index = await open();
        for (const each of given) await index.put(each.journal, [each], known(1));
        const matching = await index.matching(["disk"], [HERE], { limit: 3 });
        return [matching, await index.newest([HERE], { limit: 3 })].map((found) =>
          found.map(({ id, journal }) => `${id} ${journal}`),
        );
      };
      const first = [`a ${JOURNAL}`, `a ${JOURNAL}-2`, `b ${JOURNAL}`];
      expect(await answersOf(rows)).toEqual([first, first]);
      expect(await answersOf(rows.toReversed())).toEqual([first, first]);
    });

    test("a space knows nothing of another", async () => {
      const index = await open();
      const rows = [row("a", "disk"), row("b", "disk queue", { space: THERE })];
      await index.put(JOURNAL, rows, known(2));
      expect(ids(await index.matching(["disk"], [HERE], ALL))).toEqual(["a"]);
      expect(ids(await index.newest([HERE], ALL))).toEqual(["a"]);
      expect(await index.find("b", [HERE])).toEqual([]);
      expect(ids(await index.find("b", [THERE, HERE]))).toEqual(["b"]);
      expect((await index.statistics(["queue"], [HERE])).having).toEqual([0]);
      expect(await index.statistics(["disk"], [HERE, THERE])).toEqual({
        texts: 2,
        terms: 3,
        having: [2],
      });
      expect((await index.spaces()).toSorted()).toEqual([THERE, HERE]);
      expect(await index.matching(["disk"], [], ALL)).toEqual([]);
    });

    test("of one id the newest counts, and what was forgotten never comes back", async () => {
      const index = await open();
      await index.put(JOURNAL, [row("a", "old words", { seq: 2 }), row("b", "other")], known(2));
      await index.put(JOURNAL, [row("a", "new words", { seq: 3 })], known(3));
      await index.put(JOURNAL, [row("a", "older", { seq: 1 })], known(3));
      expect(await index.matching(["old", "older"], [HERE], ALL)).toEqual([]);
      expect(ids(await index.matching(["new"], [HERE], ALL))).toEqual(["a"]);
      await index.put(JOURNAL, [{ id: "a", journal: JOURNAL, forgotten: true }], known(4));
      await index.put(JOURNAL, [row("a", "new words", { seq: 5 })], known(5));
      expect(await index.matching(["new"], [HERE], ALL)).toEqual([]);
      expect(await index.statistics(["new"], [HERE])).toEqual({ texts: 1, terms: 1, having: [0] });
      expect(await index.marks()).toEqual([{ journal: JOURNAL, known: known(5) }]);
    });

    test("the newest come first, of one kind where that is asked", async () => {
      const index = await open();
      const rows = [
        row("a", "x", { at: 1 }),
        row("b", "x", { at: 3, kind: "task" }),
        row("c", "x", { at: 2 }),
      ];
      await index.put(JOURNAL, rows, known(3));
      expect(ids(await index.newest([HERE], ALL))).toEqual(["b", "c", "a"]);
      expect(ids(await index.newest([HERE], { kind: "note", limit: 1 }))).toEqual(["c"]);
      expect(ids(await index.matching(["x"], [HERE], { kind: "task", limit: 9 }))).toEqual(["b"]);
    });

    test("what came from a journal goes with it, and may come again", async () => {
      const index = await open();
      const other = "memory:slack:T1:2026-10";
      await index.put(
        JOURNAL,
        [row("a", "x"), { id: "b", journal: JOURNAL, forgotten: true }],
        known(2),
      );
      await index.put(other, [row("c", "x", { journal: other })], known(1));
      await index.drop(JOURNAL);
      expect(ids(await index.newest([HERE], ALL))).toEqual(["c"]);
      expect(await index.marks()).toEqual([{ journal: other, known: known(1) }]);
      await index.put(JOURNAL, [row("b", "x")], known(1));
      expect(new Set(ids(await index.newest([HERE], ALL)))).toEqual(new Set(["b", "c"]));
    });

    test("quotes, operators and odd characters are only words", async () => {
      const index = await open();
      await index.put(JOURNAL, [row("a", 'near "x" or not% 502')], known(1));
      for (const term of ["502", "not", 'a"b', "x*", "'; DROP", "(", "\\", "é"])
        await index.matching([term], [HERE], ALL);
      expect(ids(await index.matching(["502"], [HERE], ALL))).toEqual(["a"]);
      const others = [row("b", "drained web web-2"), row("c", "drained web web-3")];
      await index.put(JOURNAL, others, known(3));
      expect(ids(await index.matching(["web-3"], [HERE], ALL))).toEqual(["c"]);
      expect((await index.statistics(["web-3", "web"], [HERE])).having).toEqual([1, 2]);
    });

    test.runIf(vectors)("the nearest come first, and what has no vector yet is told", async () => {
      const index = await open();
      const vector = (...numbers: number[]) => Float32Array.from(numbers);
      const rows = [
        row("a", "x", { vector: vector(1, 0, 0) }),
        row("b", "x"),
        row("c", "x", { vector: vector(0.9, 0.1, 0), space: THERE }),
      ];
      await index.put(JOURNAL, rows, known(3));
      expect(ids(await index.unembedded(10))).toEqual(["b"]);
      await index.embed([{ id: "b", journal: JOURNAL, seq: 1, vector: vector(0, 1, 0) }]);
      expect(await index.unembedded(10)).toEqual([]);
      const found = await index.nearest(vector(1, 0.1, 0), [HERE], ALL);
      expect(ids(found)).toEqual(["a", "b"]);
      expect(found[0]?.near).toBeCloseTo(0.995, 2);
      expect(found[1]?.near).toBeCloseTo(0.0995, 2);
      // Other words have another vector.
      await index.put(JOURNAL, [row("a", "y", { seq: 2 })], known(4));
      expect(ids(await index.nearest(vector(1, 0, 0), [HERE, THERE], ALL))).toEqual(["c", "b"]);
      // A vector of the old words that comes late is no vector of the new ones.
      await index.embed([{ id: "a", journal: JOURNAL, seq: 1, vector: vector(1, 0, 0) }]);
      expect(await index.unembedded(10)).toMatchObject([{ id: "a", seq: 2 }]);
      await index.put(JOURNAL, [{ id: "b", journal: JOURNAL, forgotten: true }], known(5));
      expect(ids(await index.nearest(vector(0, 1, 0), [HERE, THERE], ALL))).toEqual(["c"]);
    });

    test.runIf(vectors)("vectors of texts in no journal are kept by name", async () => {
      const index = await open();
      const [one, two] = [Float32Array.of(1, 0.5, 0), Float32Array.of(0, 1, 0)];
      expect(await index.textVectors(["one"])).toEqual(new Map());
      await index.keepTextVectors([["one", one]]);
      await index.put(JOURNAL, [row("a", "x", { vector: two })], known(1));
      await index.keepTextVectors([["two", two]]);
      expect(await index.textVectors(["two", "three", "one"])).toEqual(
        new Map([
          ["two", two],
          ["one", one],
        ]),
      );
      expect(ids(await index.nearest(two, [HERE], ALL))).toEqual(["a"]);
    });
  });
}
