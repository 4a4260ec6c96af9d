import { splitWords } from "./shell-words.ts";

/** What a tool is called with for a line of kubectl that only reads. */
interface KubectlCall {
  tool: string;
  args: Record<string, string>;
}

/** Flags that take a value, and what it is called here. */
const VALUED: Readonly<Record<string, string>> = {
  "-n": "namespace",
  "--namespace": "namespace",
  "-l": "labels",
  "--selector": "labels",
  "--field-selector": "fields",
  "-o": "output",
  "--output": "output",
  "-c": "container",
  "--container": "container",
  "--tail": "lines",
  "--since": "since",
};
/** Flags without one that change nothing in what is shown here. */
const PLAIN = new Set([
  "-A",
  "--all-namespaces",
  "-w",
  "--watch",
  "-f",
  "--follow",
  "--show-labels",
]);
const PREVIOUS = new Set(["-p", "--previous"]);

const NAME = /^[a-z0-9][a-z0-9._/-]*$/i;

/**
 * The call for a line as people type it into a shell, `kubectl get pods -n shop`, where a tool of ours reads the same. Undefined: it is
 * prose, changes something, or has a part that no tool knows.
 */
export function readKubectl(text: string): KubectlCall | undefined {
  const words = /^\$?\s*(?:kubectl|oc)\s/.test(text.trim()) ? splitWords(text.trim()) : undefined;
  const read = words && readWords(words.slice(words[0] === "$" ? 2 : 1));
  if (read === undefined) return undefined;
  const { named, flags } = read;
  const { output, lines, since, container, previous, ...where } = flags;
  const [verb = "", first, second, third] = named;
  if (first === undefined || third !== undefined) return undefined;
  const { namespace } = where;
  const within = namespace === undefined ? {} : { namespace };
  const [kind = "", name = second] = first.split("/", 2);
  switch (verb) {
    case "get":
      if (/^(?:ev|events?)$/i.test(first))
        return { tool: "kubernetes_events", args: { ...within } };
      return {
        tool: "kubernetes_get",
        args: {
          kind,
          ...(name !== undefined && { name }),
          ...where,
          ...(output === "yaml" && name !== undefined && { yaml: "true" }),
        },
      };
    case "describe":
      return name === undefined
        ? undefined
        : { tool: "kubernetes_describe", args: { kind, name, ...within } };
    case "top":
      return /^(?:po|pods?|no|nodes?)$/i.test(first) && second === undefined
        ? { tool: "kubernetes_top", args: { of: /^p/i.test(first) ? "pods" : "nodes", ...within } }
        : undefined;
    case "logs":
      return second !== undefined
        ? undefined
        : {
            tool: "kubernetes_logs",
            args: {
              workload: first,
              ...within,
              ...(container !== undefined && { container }),
              ...(previous !== undefined && { previous }),
              ...(since !== undefined && { since }),
              ...(lines !== undefined && { lines }),
            },
          };
    default:
      return undefined;
  }
}

function readWords(
  words: readonly string[],
): { named: string[]; flags: Record<string, string> } | undefined {
  const named: string[] = [];
  const flags: Record<string, string> = {};
  for (let at = 0; at < words.length; at++) {
    const [, word = "", given] = /^(--?[a-z-]+)(?:=([^]*))?$/i.exec(words[at] ?? "") ?? [];
    const flag = VALUED[word];
    if (flag !== undefined) {
      const value = given ?? words[++at];
      if (value === undefined || value.startsWith("-")) return undefined;
      flags[flag] = value;
    } else if (PREVIOUS.has(word)) flags["previous"] = "true";
    else if (word === "" && NAME.test(words[at] ?? "")) named.push(words[at] ?? "");
    else if (!PLAIN.has(word)) return undefined;
  }
  return { named, flags };
}
