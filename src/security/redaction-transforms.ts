import { type View, viewsOf } from "./redaction-dumps.ts";
import { base64Cores, type HeldSpan, type HeldSecret } from "./redaction-encodings.ts";

/**
 * Finds known values in what programs make of them at a second glance: encoded twice, in base32, spelled in another
 * case or with space between the letters, as lists of numbers, in the dumps of xxd, hexdump and od. Everything here is a
 * search for a fixed text in something that the text was made into once: it stays linear, however the text is made.
 */

/** Fewer letters of an encoding are found by chance. */
const SHORTEST_CORE = 7;
/** Shorter ones occur in ordinary text when spaces do not count, or the case of letters. */
const SHORTEST_SPACED = 12;
const SHORTEST_FOLDED = 20;

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

interface Core {
  name: string;
  text: string;
  form: "folded" | "spaceless" | "spacelessFolded" | "bytes";
}

/** Lists where the values occur in a text, transformed in any of these ways. */
export function createTransformFinder(values: readonly HeldSecret[]): (text: string) => HeldSpan[] {
  const all = values.flatMap(coresOf);
  const isOfBytes = ({ form }: Core): boolean => form === "bytes";
  const sorted = [...all.filter((core) => !isOfBytes(core)), ...all.filter(isOfBytes)];
  return (text) => {
    // None of the ways makes a text longer.
    const cores = sorted.filter((core) => core.text.length <= text.length);
    if (cores.length === 0) return [];
    const spaceless = withoutSpace(text);
    const views: Readonly<Record<Core["form"], readonly View[]>> = {
      folded: [{ text: folded(text), rangesOf: (from, to) => [[from, to]] }],
      spaceless: [{ ...spaceless, text: base64Letters(spaceless.text) }],
      spacelessFolded: [{ ...spaceless, text: folded(spaceless.text) }],
      bytes: viewsOf(text),
    };
    return cores.flatMap(({ name, text: core, form }) =>
      views[form].flatMap((view) =>
        placesOf(core, view.text)
          .flatMap((at) => view.rangesOf(at, at + core.length))
          .map(([start, end]) => ({ name, start, end })),
      ),
    );
  };
}

function coresOf({ name, value }: HeldSecret): Core[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const once = base64Cores(bytes);
  const twice = [...once, ...once.map((core) => core.replaceAll("+", "-").replaceAll("/", "_"))];
  const spaceless = [
    ...base32Cores(bytes),
    ...[...twice, hex, hex.toUpperCase()].flatMap((text) => base64Cores(Buffer.from(text))),
  ];
  const inHex = twice.map((core) => Buffer.from(core).toString("hex"));
  const isLong = (least: number) => (text: string) => text.length >= least;
  const make = (form: Core["form"], texts: readonly string[], least: number): Core[] =>
    [...new Set(texts)].filter(isLong(least)).map((text) => ({ name, text, form }));
  return [
    ...make("spaceless", spaceless, SHORTEST_CORE),
    ...make(
      "spaceless",
      [base64Letters(withoutSpace(value).text)].filter(() => /^\S+$/.test(value)),
      SHORTEST_SPACED,
    ),
    ...make("spacelessFolded", inHex, 2 * SHORTEST_CORE),
    ...make("folded", [folded(value)], SHORTEST_FOLDED),
    ...make("bytes", [bytes.toString("latin1")], 1),
    ...make("bytes", isLong(SHORTEST_FOLDED)(value) ? caseVariants(value) : [], 1),
  ];
}

function caseVariants(value: string): string[] {
  return [value.toUpperCase(), value.toLowerCase()].map((text) =>
    Buffer.from(text).toString("latin1"),
  );
}

function base32Cores(bytes: Buffer): string[] {
  return [0, 1, 2, 3, 4].map((offset) => {
    const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
    const skipped = (5 - ((offset * 8) % 5)) % 5;
    const groups = bits.slice(skipped).match(/.{5}/g) ?? [];
    return groups.map((group) => BASE32.charAt(Number.parseInt(group, 2))).join("");
  });
}

/** In the letters of base64 as first defined; the letters for URLs stand for the same. */
function base64Letters(text: string): string {
  return /[-_]/.test(text) ? text.replaceAll("-", "+").replaceAll("_", "/") : text;
}

/** In lower case, each character where it was. */
function folded(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length
    ? lower
    : text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function withoutSpace(text: string): View {
  const parts: string[] = [];
  /** Of each part: where it begins without space, and in the text. */
  const begins: number[] = [];
  const places: number[] = [];
  let length = 0;
  for (const { 0: part, index } of text.matchAll(/\S+/g)) {
    parts.push(part);
    begins.push(length);
    places.push(index);
    length += part.length;
  }
  const placeOf = (at: number): number => {
    let low = 0;
    let high = begins.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((begins[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return (places[low] ?? 0) + at - (begins[low] ?? 0);
  };
  return { text: parts.join(""), rangesOf: (from, to) => [[placeOf(from), placeOf(to - 1) + 1]] };
}

function placesOf(core: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(core); at !== -1; at = text.indexOf(core, at + core.length)) {
    places.push(at);
  }
  return places;
}
