import type { Seeded } from "../core/seeded.ts";

const bytesOf = (text: string): number[] => Array.from(Buffer.from(text));
const hex = (byte: number): string => byte.toString(16).padStart(2, "0");
const wrapped = (text: string, width: number, end: string): string =>
  text.replaceAll(new RegExp(`.{${width}}`, "gu"), `$&${end}`);
const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const times = (count: number, encode: (text: string) => string, text: string): string =>
  Array.from({ length: count }).reduce<string>((encoded) => encode(encoded), text);

const inAscii = (value: string): string =>
  JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** How programs write a value down. Base64 comes with something before and after, so in all three alignments. */
export const ENCODINGS: Record<string, (value: string, random: Seeded) => string> = {
  "as it is": (value) => value,
  "URL-encoded": (value) => encodeURIComponent(value),
  "URL-encoded twice": (value) => times(2, encodeURIComponent, value),
  "URL-encoded to the last letter": (value) =>
    bytesOf(value)
      .map((byte) => `%${hex(byte).toUpperCase()}`)
      .join(""),
  "URL-encoded in part": (value, random) =>
    Array.from(value, (c) =>
      random.int(2) === 0
        ? encodeURIComponent(c)
        : bytesOf(c)
            .map((byte) => `%${hex(byte)}`)
            .join(""),
    ).join(""),
  "a form field": (value) => new URLSearchParams({ value }).toString(),
  "a JSON string": (value) => JSON.stringify(value),
  "JSON in JSON": (value) => times(2, JSON.stringify, value),
  "JSON in JSON in JSON": (value) => times(3, JSON.stringify, value),
  "JSON in ASCII": inAscii,
  "JSON in ASCII in JSON in JSON": (value) => times(2, JSON.stringify, inAscii(value)),
  "PHP's JSON": (value) => JSON.stringify(value).replaceAll("/", String.raw`\/`),
  "escaped to the last letter": (value) =>
    Array.from(
      { length: value.length },
      (_, i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, "0")}`,
    ).join(""),
  "quoted for a shell": shellQuoted,
  "escaped for a shell": (value) => value.replaceAll(/[^\w\n-]/gu, String.raw`\$&`),
  "in HTML": (value) =>
    value
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll('"', "&quot;")
      .replaceAll("'", "&#39;"),
  hexadecimal: (value) => Buffer.from(value).toString("hex"),
  "hexadecimal in capitals": (value) => Buffer.from(value).toString("hex").toUpperCase(),
  "hexadecimal with colons": (value) => bytesOf(value).map(hex).join(":"),
  "hexadecimal as xxd prints it": (value) => wrapped(Buffer.from(value).toString("hex"), 4, " "),
  "a byte string": (value) =>
    bytesOf(value)
      .map((byte) => `\\x${hex(byte)}`)
      .join(""),
  base64: (value, random) => framed(value, random).toString("base64"),
  "base64 for URLs": (value, random) => framed(value, random).toString("base64url"),
  "base64, URL-encoded": (value, random) =>
    encodeURIComponent(framed(value, random).toString("base64")),
  "base64 in lines": (value, random) => wrapped(framed(value, random).toString("base64"), 11, "\n"),
  "base64 in lines, in JSON": (value, random) =>
    JSON.stringify(wrapped(framed(value, random).toString("base64"), 13, "\r\n")),
  fullwidth: (value) =>
    value.replaceAll(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
};

/** What else becomes of a value when somebody encodes it again or has the bytes of a file dumped. */
export const TRANSFORMS: typeof ENCODINGS = {
  "base64 of base64": (value, random) => twice(framed(value, random), "base64", "base64"),
  "base64 of hexadecimal": (value, random) => twice(framed(value, random), "hex", "base64"),
  "hexadecimal of base64": (value, random) => twice(framed(value, random), "base64", "hex"),
  base32: (value, random) => base32(framed(value, random)),
  "base32 in lines": (value, random) => wrapped(base32(framed(value, random)), 16, "\n"),
  "a list of bytes": (value) => `[${bytesOf(value).join(", ")}]`,
  "bytes as numbers with spaces": (value) => bytesOf(value).join(" "),
  "bytes in octal": (value) =>
    bytesOf(value)
      .map((byte) => `0${byte.toString(8)}`)
      .join(", "),
  "octal escapes as short as they can be": (value) =>
    bytesOf(value)
      .map((byte) => `\\${byte.toString(8)}`)
      .join(""),
  "xxd's dump": (value, random) => dumped(framed(value, random), xxdLine),
  "hexdump's canonical dump": (value, random) => dumped(framed(value, random), canonicalLine),
  "od -c": (value, random) => dumped(framed(value, random), odCharacters),
  "od -x": (value, random) => dumped(framed(value, random), odWords),
  "od -tx1": (value, random) => dumped(framed(value, random), odBytes),
};

function framed(value: string, random: Seeded): Buffer {
  return Buffer.from(
    `${random.text("user:", random.int(4))}${value}${random.text(" end", random.int(4))}`,
  );
}

function twice(bytes: Buffer, first: "base64" | "hex", second: "base64" | "hex"): string {
  return Buffer.from(bytes.toString(first)).toString(second);
}

function base32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  const letters = groups.map((group) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".charAt(Number.parseInt(group.padEnd(5, "0"), 2)),
  );
  return letters.join("").padEnd(Math.ceil(letters.length / 8) * 8, "=");
}

/** Sixteen bytes in each line, and the lines' own offset. */
function dumped(bytes: Buffer, line: (bytes: number[], offset: number) => string): string {
  const lines = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, i) =>
    line([...bytes.subarray(16 * i, 16 * i + 16)], 16 * i),
  );
  return `\n${lines.join("\n")}\n`;
}

const glyphs = (bytes: number[]): string =>
  bytes.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");

const octalOffset = (offset: number): string => offset.toString(8).padStart(7, "0");

function xxdLine(bytes: number[], offset: number): string {
  const words =
    bytes
      .map(hex)
      .join("")
      .match(/.{1,4}/g) ?? [];
  return `${offset.toString(16).padStart(8, "0")}: ${words.join(" ").padEnd(39)}  ${glyphs(bytes)}`;
}

function canonicalLine(bytes: number[], offset: number): string {
  const halves = [bytes.slice(0, 8), bytes.slice(8)].map((half) =>
    half.map(hex).join(" ").padEnd(23),
  );
  return `${offset.toString(16).padStart(8, "0")}  ${halves.join("  ")}  |${glyphs(bytes)}|`;
}

const OD_ESCAPES: Record<number, string> = {
  0: String.raw`\0`,
  7: String.raw`\a`,
  8: String.raw`\b`,
  9: String.raw`\t`,
  10: String.raw`\n`,
  11: String.raw`\v`,
  12: String.raw`\f`,
  13: String.raw`\r`,
};

function odCharacters(bytes: number[], offset: number): string {
  const cells = bytes.map((byte) => {
    const shown = byte >= 32 && byte < 127 ? String.fromCharCode(byte) : byte.toString(8);
    return (OD_ESCAPES[byte] ?? (shown.length > 1 ? shown.padStart(3, "0") : shown)).padStart(4);
  });
  return `${octalOffset(offset)}${cells.join("")}`;
}

function odWords(bytes: number[], offset: number): string {
  const words = Array.from({ length: Math.ceil(bytes.length / 2) }, (_, i) =>
    [bytes[2 * i + 1] ?? 0, bytes[2 * i] ?? 0].map(hex).join(""),
  );
  return `${octalOffset(offset)} ${words.join(" ")}`;
}

function odBytes(bytes: number[], offset: number): string {
  return `${octalOffset(offset)} ${bytes.map(hex).join(" ")}`;
}
