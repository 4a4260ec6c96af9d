import type { Seeded } from "./seeded.ts";

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

function framed(value: string, random: Seeded): Buffer {
  return Buffer.from(
    `${random.text("user:", random.int(4))}${value}${random.text(" end", random.int(4))}`,
  );
}
