import type { Range } from "./redaction-encodings.ts";

/** Secrets that one pattern cannot find. */

const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
/** What is left of a key whose end is cut off. */
const KEY_LINES =
  /(?:(?:\s|\\{1,7}[nrt]|["',|>])*(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]*))*(?:\s[A-Za-z0-9+/=]+(?=\s*$|\.\.|…))?/y;
const LONGEST_KEY = 65_536;

/** Private keys in PEM, also where their beginning or end is cut off. */
export function findPrivateKeys(text: string): Range[] {
  const ranges: Range[] = [];
  for (const begin of text.matchAll(/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)) {
    const body = begin.index + begin[0].length;
    const dashes = text.indexOf("-----", body);
    KEY_END.lastIndex = dashes;
    KEY_LINES.lastIndex = body;
    const isWhole = dashes !== -1 && dashes - body < LONGEST_KEY && KEY_END.test(text);
    const rest = KEY_LINES.exec(text)?.[0].length ?? 0;
    ranges.push([begin.index, isWhole ? KEY_END.lastIndex : body + rest]);
  }
  for (const end of text.matchAll(/-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)) {
    // In case its beginning is cut off: the lines above it are the key as far as they look like base64.
    let start = end.index;
    while (text[start - 1] === "\n") {
      const line = text.lastIndexOf("\n", start - 2) + 1;
      if (!/^[A-Za-z0-9+/=]+\n$/.test(text.slice(line, start))) break;
      start = line;
    }
    ranges.push([start, end.index + end[0].length]);
  }
  return ranges;
}

/** The values under `data` and `stringData` wherever a manifest of kind Secret is shown, as YAML or JSON. */
export function findKubernetesSecrets(text: string): Range[] {
  if (!/kind\\{0,7}["']?:\s{0,8}\\{0,7}["']?Secret\b/.test(text)) return [];
  const maps =
    /\b(?:data|stringData)\\{0,7}"\s{0,8}:\s{0,80}\{(?<json>[^{}]*)\}|^(?<indent>[ \t]*)(?:data|stringData):[ \t]*\n(?<yaml>(?:\k<indent>[ \t]+[^\n]*(?:\n|$))+)/gm;
  const inJson = /(?<keep>[\w.-]\\{0,7}":\s{0,8}\\{0,7}")[^"\\]*/g;
  // Lines without a name continue the value above them.
  const inYaml = /^(?<keep>[ \t]+(?:["']?[\w./-]+["']?:(?:[ \t]+|$))?)[^\n]*$/gm;
  return Array.from(text.matchAll(maps)).flatMap(({ index, 0: map, groups = {} }) => {
    const content = groups["json"] ?? groups["yaml"] ?? "";
    const at = index + map.lastIndexOf(content);
    return Array.from(content.matchAll(groups["json"] === undefined ? inYaml : inJson))
      .map((value): Range => {
        const kept = value.groups?.["keep"]?.length ?? 0;
        return [at + value.index + kept, at + value.index + value[0].length];
      })
      .filter(([start, end]) => end - start > 2);
  });
}
