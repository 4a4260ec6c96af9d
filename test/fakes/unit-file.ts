/** The fields of a systemd unit file: the last of a name, and all of one that may stand there several times. */
export function fields(text: string): {
  last(name: string): string | undefined;
  all(name: string): string[];
} {
  const pairs = text.split("\n").flatMap((line) => {
    const at = line.indexOf("=");
    return line.startsWith("#") || at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
  });
  const all = (name: string) => pairs.flatMap(([each, value]) => (each === name ? value : []));
  return { all, last: (name) => all(name).at(-1) };
}
