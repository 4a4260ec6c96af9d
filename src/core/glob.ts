/**
 * True if `text` matches `glob`, in which `*` stands for any run of characters, even an empty one. There is no way to
 * write a literal star. Linear in the text: people's patterns never become regular expressions.
 */
export function globMatches(glob: string, text: string): boolean {
  const [head = "", ...rest] = glob.split("*");
  const tail = rest.pop();
  if (tail === undefined) return text === glob;
  const end = text.length - tail.length;
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let from = head.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
