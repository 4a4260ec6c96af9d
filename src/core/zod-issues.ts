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
  const text = issue.message
    .replace(/^(?:Invalid \w+|Too (?:small|big)): /, "")
    .replace(/, received undefined$/, "")
    .replace("expected int, received number", "expected int")
    .replace(" to be ", " ")
    .replace(" to have ", " with ")
    .replaceAll(/(expected|received) (\w+)/g, (_, verb: string, type: string) => {
      return `${verb === "received" ? "got" : verb} ${KINDS[type] ?? type}`;
    });
  return missing ? `required; ${text}` : text;
}

/** zod's names of what a value is, as people say them. */
const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "nothing",
};

/** `rules[2].match` for `["rules", 2, "match"]`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "");
}
