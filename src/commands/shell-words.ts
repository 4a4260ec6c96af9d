/** Words and `name=value` pairs as people type them in commands, with the quotes of a shell. */

/** A name begins with a letter, so it is never `__proto__`. */
export const ASSIGNMENT = /^([a-z][a-z0-9_-]*)=/i;

/** Words as a shell splits them, with their quotes; undefined if a quote is never closed. */
export function splitWords(text: string): string[] | undefined {
  const piece = /\s+|(?:'[^']*'|"(?:[^"\\]|\\[^])*"|[^\s'"]+)+/y;
  const words: string[] = [];
  while (piece.lastIndex < text.length) {
    const [found] = piece.exec(text) ?? [];
    if (found === undefined) return undefined;
    if (found.trim() !== "") words.push(found);
  }
  return words;
}

export function unquote(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\[^])*)"/g,
    (_, single: string | undefined, double: string = "") =>
      single ?? double.replaceAll(/\\(["\\])/g, "$1"),
  );
}

/** What is wrong with quotes that would otherwise silently be lost or become text. */
export function valueProblem(name: string, value: string): string | undefined {
  if (/^[“”„‘’]/.test(value))
    return `${name} begins with a curly quote. Use straight ones: ' or ".`;
  if (/^[[{][^]*["']/.test(value))
    return `${name} is JSON. Put single quotes around it: ${name}='…'`;
  return undefined;
}
