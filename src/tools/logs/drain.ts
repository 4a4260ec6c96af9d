import type { Severity } from "./line-text.ts";

/** Lines of one shape. */
export interface Shape {
  readonly service: string;
  readonly severity: Severity;
  /** Its words; `ANY` where a line's varies by its form, `WHATEVER` where words were found to. */
  words: string[];
  /** One of its lines, safe to show. */
  readonly example: string;
  count: number;
  /** ms since 1970, as far as lines say when they were written. */
  first: number | undefined;
  last: number | undefined;
  /** It was found to be a case of another one, which has its count. */
  partOf: Shape | undefined;
}

export const ANY = "\0";
export const WHATEVER = "\0\0";

const UNSEEN = { count: 0, first: undefined, last: undefined, partOf: undefined };

/** Shapes that differ by the same words are one as soon as there are so many: `login ana`, `login bob`, … */
const MANY = 8;
/** Of a line's words may be others. */
const SHARE = 0.4;
/** Shapes that a new one is compared with. */
const MAX_SIBLINGS = 200;
const MAX_CHILDREN = 100;

/**
 * A tree of fixed depth (service, severity, length, first two words) with shapes at its leaves, after Drain (He et al., 2017).
 * Unlike there, what differs stays apart until many do: "started" and "finished" are no variable part.
 */
export function createDrain(maxShapes: number) {
  const leaves = new Map<string, Shape[]>();
  const children = new Map<string, Set<string>>();
  let size = 0;

  function leafOf(service: string, severity: Severity, words: readonly string[]): Shape[] {
    let path = `${service}\n${severity}\n${words.length}`;
    for (const word of words.filter((each) => each !== ANY).slice(0, 2)) {
      let known = children.get(path);
      if (known === undefined) {
        known = new Set();
        children.set(path, known);
      }
      if (known.size < MAX_CHILDREN) known.add(word);
      path += `\n${known.has(word) ? word : ANY}`;
    }
    let leaf = leaves.get(path);
    if (leaf === undefined) {
      leaf = [];
      leaves.set(path, leaf);
    }
    return leaf;
  }

  /** Those that it makes many of, if it does. */
  function manyLike(leaf: readonly Shape[], words: readonly string[]) {
    const most = Math.max(1, Math.floor(words.length * SHARE));
    const groups = new Map<string, { places: number[]; shapes: Shape[] }>();
    if (words.length < 2) return undefined;
    for (const shape of leaf.slice(-MAX_SIBLINGS)) {
      const places = differences(shape.words, words, most);
      if (places === undefined) continue;
      const key = places.join();
      const group = groups.get(key) ?? { places, shapes: [] };
      group.shapes.push(shape);
      groups.set(key, group);
      if (group.shapes.length >= MANY - 1) return group;
    }
    return undefined;
  }

  function remove(leaf: Shape[], shape: Shape, joint: Shape): void {
    join(joint, shape);
    leaf.splice(leaf.indexOf(shape), 1);
    size -= 1;
  }

  /** What was there before it and is a case of it: the order of lines does not count. */
  function absorb(leaf: Shape[], joint: Shape): void {
    for (const shape of leaf.filter((each) => each !== joint && matches(joint.words, each.words)))
      remove(leaf, shape, joint);
  }

  return {
    /** The shape of such a line; a new one with its example, unless there are too many. */
    shapeOf(
      line: { service: string; severity: Severity; words: string[] },
      example: () => string,
    ): Shape | undefined {
      const { service, severity, words } = line;
      const leaf = leafOf(service, severity, words);
      const known = leaf.find((shape) => matches(shape.words, words));
      if (known !== undefined) return known;
      const many = manyLike(leaf, words);
      const [joint, ...others] = many?.shapes ?? [];
      if (many !== undefined && joint !== undefined) {
        joint.words = joint.words.map((word, at) => (many.places.includes(at) ? WHATEVER : word));
        for (const other of others) remove(leaf, other, joint);
        absorb(leaf, joint);
        return joint;
      }
      if (size >= maxShapes) return undefined;
      size += 1;
      const shape: Shape = { ...UNSEEN, ...line, example: example() };
      leaf.push(shape);
      absorb(leaf, shape);
      return shape;
    },
    shapes: (): Shape[] => [...leaves.values()].flat(),
  };
}

/** A host or a path stands where others have digits in theirs; `closed` and `17` say different things. */
const NAME = /[a-z][._@:/-][a-z]/i;

/** Asked for each shape of a leaf, so no closures. */
function matches(shape: readonly string[], words: readonly string[]): boolean {
  for (let at = 0; at < shape.length; at += 1) {
    const word = shape[at];
    const other = words[at] ?? "";
    if (word === other || word === WHATEVER || (word === ANY && NAME.test(other))) continue;
    return false;
  }
  return true;
}

/** Where they differ, at no more than so many places. */
function differences(
  one: readonly string[],
  other: readonly string[],
  most: number,
): number[] | undefined {
  const places: number[] = [];
  for (let at = 0; at < one.length; at += 1) {
    if (one[at] === other[at]) continue;
    if (places.length === most) return undefined;
    places.push(at);
  }
  return places;
}

function join(joint: Shape, other: Shape): void {
  joint.count += other.count;
  seen(joint, other.first);
  seen(joint, other.last);
  other.partOf = joint;
}

/** Lines of it were written then. */
export function seen(shape: Pick<Shape, "first" | "last">, at: number | undefined): void {
  if (at === undefined) return;
  if (shape.first === undefined || at < shape.first) shape.first = at;
  if (shape.last === undefined || at > shape.last) shape.last = at;
}
