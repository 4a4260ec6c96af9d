import { RE2JS } from "re2js";

/**
 * A regular expression as JSONata's evaluator uses one, in time linear in the text: foreign text meets it, and one that backtracks
 * would hold up the whole program.
 */
export class LinearRegex {
  lastIndex = 0;
  readonly #regex: RE2JS;

  /** @throws RE2JSException for what RE2 does not have, such as look-ahead and back-references */
  constructor({ source, flags }: RegExp) {
    const ignoresCase = flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0;
    const isMultiline = flags.includes("m") ? RE2JS.MULTILINE : 0;
    this.#regex = RE2JS.compile(source, ignoresCase | isMultiline);
  }

  /** The first match from `lastIndex` on, which is its end then. */
  exec(text: string): (string[] & { index: number }) | null {
    const matcher = this.#regex.matcher(text);
    if (!matcher.find(this.lastIndex)) return null;
    this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i));
    return Object.assign(
      groups.map((group) => group ?? ""),
      { index: matcher.start() },
    );
  }
}

/** Every regular expression within what JSONata made of a mapping. */
export function regexesIn(node: unknown): RegExp[] {
  if (node instanceof RegExp) return [node];
  if (typeof node !== "object" || node === null) return [];
  return Object.values(node).flatMap(regexesIn);
}
