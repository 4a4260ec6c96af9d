import * as z from "zod";

/** What the rules of `approvals` and of `access` have in common. */

export const filled = z.string().regex(/\S/, "expected a text that is not empty");
export const effectForm = z.enum(["read", "write", "destructive"]);
export const decisionForm = z.enum(["allow", "ask", "deny"]);

/** A week: after that the world has changed too much for an approval to make sense. */
export const MAX_EXPIRY_MINUTES = 7 * 24 * 60;
export const DEFAULT_EXPIRY_MINUTES = 60;

/** One item, or a list of them. */
export function oneOrMore<T extends z.ZodType>(
  item: T,
  expected: string,
  empty = "is empty, so the rule could never match",
) {
  return z.union([item, z.array(item).min(1, empty)], { error: `${expected}; or a list of these` });
}

/** The tools that a rule names, or patterns of their names. */
export const toolNames = oneOrMore(filled, "expected a tool's name or a glob such as kubernetes_*");
export const TOOL_NAMES = "A tool's name, a pattern such as `kubernetes_*`, or a list of these.";

/** The items of such a field; none where it is left out. */
export function itemsOf(field: string | string[] | undefined): string[] {
  return [field ?? []].flat();
}
