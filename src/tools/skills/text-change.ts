/** A piece of text in place of another, as people are shown it. */
export interface TextChange {
  /** Undefined: the file is not there. */
  before: string | undefined;
  after: string | undefined;
}

/** Lines around a change. */
const AROUND = 3;

/** The one hunk of a unified diff that has the change, with some lines around it. */
export function unifiedDiff(name: string, { before, after }: TextChange): string {
  const [was, is] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(was.length, is.length);
  let head = 0;
  while (head < shorter && was[head] === is[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && was.at(-1 - tail) === is.at(-1 - tail)) tail += 1;
  const from = Math.max(0, head - AROUND);
  const behind = Math.min(tail, AROUND);
  const count = (lines: readonly string[]) => lines.length - tail + behind - from;
  const range = (lines: readonly string[]) => {
    const many = count(lines);
    return `${many === 0 ? from : from + 1},${many}`;
  };
  const marked = (mark: string, lines: readonly string[]) => lines.map((line) => shown(mark, line));
  return [
    `--- ${before === undefined ? "/dev/null" : name}`,
    `+++ ${after === undefined ? "/dev/null" : name}`,
    `@@ -${range(was)} +${range(is)} @@`,
    ...marked(" ", was.slice(from, head)),
    ...marked("-", was.slice(head, was.length - tail)),
    ...marked("+", is.slice(head, is.length - tail)),
    ...marked(" ", was.slice(was.length - tail, was.length - tail + behind)),
  ].join("\n");
}

/** Each with its end. */
function linesOf(text = ""): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function shown(mark: string, line: string): string {
  return line.endsWith("\n")
    ? `${mark}${line.slice(0, -1)}`
    : `${mark}${line}\n\\ No newline at end of file`;
}
