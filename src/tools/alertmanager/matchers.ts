import { RE2JS, RE2JSException } from "re2js";
import { BotError } from "../../core/errors.ts";
import { inQuotes } from "../../core/text.ts";

/** A condition on a label, as Alertmanager's API has it. */
export interface Matcher {
  name: string;
  value: string;
  isRegex: boolean;
  isEqual: boolean;
}

const FORM = /^\s*([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s;

/**
 * Matchers as people write them: `alertname=HighLatency`, `instance=~"web-.*"`, with quotes or without.
 * @throws BotError INPUT_INVALID
 */
export function readMatchers(texts: readonly string[]): Matcher[] {
  return texts.map((text) => {
    const [, name, sign = "", written = ""] = FORM.exec(text) ?? [];
    if (name === undefined)
      throw invalid(
        `matchers: cannot read ${inQuotes(text)}; write them as severity=critical or instance=~"web-.*".`,
      );
    const matcher = {
      name,
      value: unquoted(written),
      isRegex: sign.endsWith("~"),
      isEqual: !sign.startsWith("!"),
    };
    if (matcher.isRegex) checkRegex(matcher.value);
    return matcher;
  });
}

/** As Alertmanager's own rule: a silence needs a label that is there, or it would hide what has none. @throws BotError INPUT_INVALID */
export function checkMatchSomething(matchers: readonly Matcher[]): void {
  if (matchers.some((matcher) => !matchesEmpty(matcher))) return;
  throw invalid(
    "matchers: they also match alerts without these labels, so the silence could hide everything. Name at least one value that a label must have.",
  );
}

function matchesEmpty({ value, isRegex, isEqual }: Matcher): boolean {
  const matches = isRegex ? RE2JS.compile(`^(?:${value})$`).test("") : value === "";
  return matches === isEqual;
}

function checkRegex(value: string): void {
  try {
    RE2JS.compile(value);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw invalid(`matchers: ${inQuotes(value)} is no RE2 expression (${error.message}).`);
  }
}

function unquoted(text: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"$/s.exec(text) ?? [];
  if (inner === undefined) return text;
  return inner.replaceAll(/\\(.)/gs, (_, character: string) =>
    character === "n" ? "\n" : character,
  );
}

/** `instance=~"web-.*"`: as `readMatchers` and Alertmanager's filters take it. */
export function matcherText({ name, value, isRegex, isEqual }: Matcher): string {
  const sign = `${isEqual ? (isRegex ? "=" : "") : "!"}${isRegex ? "~" : "="}`;
  const quoted = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `${name}${sign}"${quoted}"`;
}

/** The same in any order. */
export function areSame(one: readonly Matcher[], other: readonly Matcher[]): boolean {
  const key = (matchers: readonly Matcher[]) => matchers.map(matcherText).toSorted().join("\n");
  return key(one) === key(other);
}

function invalid(text: string): BotError {
  return new BotError("INPUT_INVALID", text);
}
