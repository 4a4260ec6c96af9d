import type * as z from "zod";

/** What is wrong, from a zod issue, without the value itself. */
export function issueText(issue: z.core.$ZodIssue, missing: boolean): string {
  if (
    issue.code === "invalid_union" &&
    issue.errors.length > 0 &&
    issue.message === "Invalid input"
  ) {
    const inner = issue.errors.flatMap((issues) => issues.map((one) => issueText(one, missing)));
    return [...new Set(inner)].join(", or: ");
  }
  const text = issue.message.replace(/^(?:Invalid \w+|Too (?:small|big)): /, "");
  return missing ? `missing; ${text.replace(/, received undefined$/, "")}` : text;
}

/** `rules[2].match` for `["rules", 2, "match"]`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "");
}
