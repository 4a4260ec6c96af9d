import type * as z from "zod";

/** What is wrong, from a zod issue, without the value itself; `mistakeText` puts a name before it. */
export function issueText(issue: z.core.$ZodIssue, missing: boolean): string {
  const { code, message } = issue;
  if (code === "invalid_union" && issue.errors.length > 0 && message === "Invalid input") {
    const inner = issue.errors.flatMap((issues) => issues.map((one) => issueText(one, missing)));
    return [...new Set(inner)].join(", or: ");
  }
  const text = message
    .replace(/^(?:Invalid \w+|Too (?:small|big)): /, "")
    .replace("expected int, received number", "expected int")
    .replace(" to be ", " ")
    .replace(" to have ", " with ")
    .replace(/(?<=^expected )\w+/, (type) => KINDS[type] ?? type)
    .replace(
      /( with)? ([<>]=?)(?=-?\d)/,
      (_, of = "", sign: string) => `${of} ${boundOf(sign, of)} `,
    );
  if (missing) return issue.code === "invalid_type" ? "is required" : `is required; ${text}`;
  return text.replace(/^expected (.+), received (\w+)$/, (_, wanted: string, type: string) => {
    const quotes = wanted === KINDS["string"] && type === "number" ? "; write it in quotes" : "";
    return `takes ${wanted}, not ${KINDS[type] ?? type}${quotes}`;
  });
}

/** `a number up to 5`, `text with at most 5 characters` */
function boundOf(sign: string, of: string): string {
  if (of !== "")
    return { "<=": "at most", ">=": "at least", "<": "less than" }[sign] ?? "more than";
  return { "<=": "up to", ">=": "of at least", "<": "below" }[sign] ?? "above";
}

/** `url is required`, `port: must be …` */
export function mistakeText(name: string, text: string): string {
  return `${name}${/^(?:is|takes) /.test(text) ? "" : ":"} ${text}`;
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
