import type {
  Labels,
  LabelSelector,
  NodeSelectorTerm,
  Requirement,
  Taint,
  Toleration,
} from "./objects.ts";

export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** An empty selector matches everything, a missing one nothing. */
export function selects(selector: LabelSelector | null | undefined, labels: Labels): boolean {
  if (selector === null || selector === undefined) return false;
  return (
    hasLabels(labels, selector.matchLabels ?? {}) &&
    (selector.matchExpressions ?? []).every((one) => meets(one, labels[one.key ?? ""]))
  );
}

function meets({ operator = "In", values }: Requirement, value: string | undefined): boolean {
  const listed = value !== undefined && (values ?? []).includes(value);
  if (operator === "In") return listed;
  if (operator === "NotIn") return !listed;
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  const bound = Number(values?.[0]);
  return operator === "Gt" ? Number(value) > bound : Number(value) < bound;
}

/** Any of the terms is enough; without terms there is nothing to fail. */
export function matchesNode(
  terms: readonly NodeSelectorTerm[] | null | undefined,
  node: { name: string; labels: Labels },
): boolean {
  if (terms === null || terms === undefined || terms.length === 0) return true;
  return terms.some(
    ({ matchExpressions, matchFields }) =>
      (matchExpressions ?? []).every((one) => meets(one, node.labels[one.key ?? ""])) &&
      (matchFields ?? []).every((one) => meets(one, node.name)),
  );
}

export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(
    ({ key = "", operator = "Equal", value = "", effect = "" }) =>
      (effect === "" || effect === taint.effect) &&
      (operator === "Exists"
        ? key === "" || key === taint.key
        : key === taint.key && value === (taint.value ?? "")),
  );
}

/** `zone In (a, b), disk Exists` */
export function showTerms(terms: readonly NodeSelectorTerm[]): string {
  return terms
    .map(({ matchExpressions, matchFields }) =>
      [...(matchExpressions ?? []), ...(matchFields ?? [])].map(showRequirement).join(", "),
    )
    .join(" or ");
}

function showRequirement({ key = "", operator = "In", values }: Requirement): string {
  const listed = values === null || values === undefined || values.length === 0;
  return listed ? `${key} ${operator}` : `${key} ${operator} (${values.join(", ")})`;
}

export function showLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

export function showTaint({ key = "", value, effect = "" }: Taint): string {
  return `${key}${value === undefined || value === "" ? "" : `=${value}`}:${effect}`;
}
