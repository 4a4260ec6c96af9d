import { isUtf8 } from "node:buffer";
import type { FileType } from "./block.ts";

type BinaryType = Exclude<FileType, "text/plain">;
export type ImageType = Extract<FileType, `image/${string}`>;

/** How each format's files begin, hexadecimal; `..` is any byte. */
const SIGNATURES: readonly (readonly [type: BinaryType, begin: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
  ["application/pdf", /^255044462d/],
];

/** What an image or a PDF is by its first bytes, whatever its name says; undefined when it is neither that models take. */
export function binaryTypeOf(bytes: Uint8Array): BinaryType | undefined {
  const begin = Buffer.from(bytes.subarray(0, 12)).toString("hex");
  return SIGNATURES.find(([, pattern]) => pattern.test(begin))?.[0];
}

/** True for bytes that are what their type says. UTF-8 without a zero byte is as much of a text as can be told. */
export function isOfType(bytes: Uint8Array, type: FileType): boolean {
  if (type === "text/plain") return isUtf8(bytes) && !bytes.includes(0);
  return binaryTypeOf(bytes) === type;
}
