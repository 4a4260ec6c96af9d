import { bySeverity } from "../../../core/finding.ts";
import { keyOf } from "./cluster.ts";
import { cut, type Found } from "./found.ts";

/** A finding with what explains it. */
export interface Ranked {
  found: Found;
  /** The finding that this is a consequence of. */
  because: Found | undefined;
}

/**
 * The most likely cause first; what follows from another comes after everything that does not. What explains something that is
 * broken is itself no mere warning.
 */
export function rank(all: readonly Found[]): Ranked[] {
  const byWeight = unique(withShared(all).toSorted(compare));
  const causes = new Map<string, Found[]>();
  for (const one of byWeight)
    for (const key of new Set([keyOf(one.object), ...(one.breaks ?? [])]))
      causes.set(key, [...(causes.get(key) ?? []), one]);

  const explain = (one: Found): Found | undefined => {
    const candidates = (one.restsOn ?? []).flatMap((key) => causes.get(key) ?? []);
    return candidates
      .filter((other) => other !== one && other.severity !== "info" && explains(other, one))
      .toSorted((a, b) => b.weight - a.weight)[0];
  };
  const because = new Map(byWeight.map((one) => [one, explain(one)]));
  // No circles: a chain that comes back to where it began is cut there.
  for (const one of byWeight) {
    const seen = new Set([one]);
    for (let next = because.get(one); next !== undefined; next = because.get(next)) {
      if (seen.has(next)) {
        because.set(one, undefined);
        break;
      }
      seen.add(next);
    }
  }
  const raised = new Set<Found>();
  for (const one of byWeight)
    if (one.severity === "error")
      for (let root = because.get(one); root !== undefined; root = because.get(root))
        raised.add(root);
  const ranked = byWeight.map((one) => ({
    one,
    found: raised.has(one) ? { ...one, severity: "error" as const } : one,
    because: because.get(one),
  }));
  const place = new Map(ranked.map(({ one, found }) => [one, found]));
  return ranked
    .filter(({ one, because: root }) => one.isGeneral !== true || root === undefined)
    .toSorted(
      (a, b) =>
        bySeverity(a.found, b.found) ||
        Number(a.because !== undefined) - Number(b.because !== undefined) ||
        compare(a.found, b.found),
    )
    .map(({ found, because: root }) => ({
      found,
      because: root === undefined ? undefined : place.get(root),
    }));
}

/** One finding more for each object that several others name as what they share. */
function withShared(all: readonly Found[]): Found[] {
  const groups = Map.groupBy(
    all.filter(({ shared }) => shared !== undefined).toSorted(compare),
    ({ shared }) => (shared === undefined ? "" : keyOf(shared)),
  );
  const gathered = [...groups].flatMap(([key, group]): [string, Found][] => {
    const victims = new Map(group.map((one) => [keyOf(one.object), one.object]));
    const [first] = group;
    if (first?.shared === undefined || victims.size < 2) return [];
    const names = [...victims.values()].map(({ kind, name }) => `${kind} ${name}`);
    const rest = names.length > 3 ? ` and ${names.length - 3} more` : "";
    return [
      [
        key,
        {
          ...first,
          object: first.shared,
          evidence: cut(
            `${names.slice(0, 3).join(", ")}${rest} suffer from it. ${first.evidence}`,
            360,
          ),
          breaks: [...victims.keys(), ...(first.breaks ?? [])],
          weight: Math.max(...group.map(({ weight }) => weight)) + 1,
        },
      ],
    ];
  });
  const shared = new Map(gathered);
  return [
    ...shared.values(),
    ...all.map((one) => {
      const key = one.shared === undefined ? "" : keyOf(one.shared);
      return shared.has(key) ? { ...one, restsOn: [...(one.restsOn ?? []), key] } : one;
    }),
  ];
}

/** Two analyzers may see the same; the one that is surer tells it. */
function unique(sorted: readonly Found[]): Found[] {
  const seen = new Set<string>();
  return sorted.filter(({ object, cause }) => {
    const id = `${keyOf(object)} ${cause}`;
    return !seen.has(id) && seen.add(id);
  });
}

/** What weighs no more is not sure enough to explain anything. */
const MAX_GUESS = 35;

/** A cause weighs more, or the consequence does not claim to be one. */
function explains(cause: Found, consequence: Found): boolean {
  if (keyOf(cause.object) === keyOf(consequence.object)) return cause.weight > consequence.weight;
  return cause.weight > MAX_GUESS;
}

function compare(a: Found, b: Found): number {
  return (
    bySeverity(a, b) ||
    b.weight - a.weight ||
    (a.since ?? "~").localeCompare(b.since ?? "~") ||
    a.object.name.localeCompare(b.object.name)
  );
}
