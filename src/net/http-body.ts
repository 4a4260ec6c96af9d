import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import { TextDecoder } from "node:util";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { readCapped } from "../core/read-capped.ts";
import { formatBytes } from "../core/text.ts";
import { messageOf } from "../core/errors.ts";

/** Web pages compress up to about 20-fold, a compression bomb 1 000-fold. Small bodies may be anything. */
const MAX_RATIO = 100;
const SMALL_BYTES = 16 * 1024;

export interface Body {
  receivedBytes: number;
  /** Decompressed. */
  bytes: Uint8Array;
  /** Decoded; empty when the body is binary. */
  text: string;
  isBinary: boolean;
  /** More would have come than may be received. */
  isCapped: boolean;
  /** False when more follows than `text` holds. */
  isWhole: boolean;
  /** Its encoding, and where decoding stopped. */
  notes: string[];
  /** What is wrong with its bytes. */
  damage: string | undefined;
}

/** Undoes gzip, deflate or Brotli, at most `maxBytes` and a bounded ratio of it, and the charset. */
export async function decodeBody(
  bytes: Buffer,
  isWhole: boolean,
  headers: IncomingHttpHeaders,
  maxBytes: number,
): Promise<Body> {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const plain = await decompress(bytes, encoding, maxBytes);
  const text = decodeText(plain.bytes, headers["content-type"] ?? "");
  return {
    receivedBytes: bytes.length,
    bytes: plain.bytes,
    text: text ?? "",
    isBinary: text === undefined,
    isCapped: !isWhole && bytes.length >= maxBytes,
    isWhole: isWhole && plain.isWhole,
    notes: plain.notes,
    // A cut body ends mid-stream; the caller already reports the cut.
    damage: isWhole ? plain.damage : undefined,
  };
}

interface Decompressed {
  bytes: Buffer;
  isWhole: boolean;
  notes: string[];
  damage?: string;
}

async function decompress(
  bytes: Buffer,
  encoding: string,
  maxBytes: number,
): Promise<Decompressed> {
  if (bytes.length === 0 || encoding === "identity") return { bytes, isWhole: true, notes: [] };
  const decoder = createDecoder(encoding);
  if (decoder === undefined) return { bytes, isWhole: true, notes: [`${encoding}, not decoded`] };

  decoder.end(bytes);
  const expanded = Math.max(SMALL_BYTES, bytes.length * MAX_RATIO);
  const plain = await readCapped(decoder, Math.min(maxBytes, expanded));
  if (plain.error !== undefined) {
    const damage = `its ${encoding} encoding is broken (${messageOf(plain.error)})`;
    return { ...plain, notes: [encoding], damage };
  }
  if (plain.isWhole) return { ...plain, notes: [encoding] };
  const stop =
    expanded < maxBytes
      ? `: it expands more than ${MAX_RATIO}-fold`
      : ` at ${formatBytes(maxBytes)}`;
  return { ...plain, notes: [`${encoding}, decoding stopped${stop}`] };
}

function createDecoder(encoding: string): Transform | undefined {
  if (encoding === "br") return createBrotliDecompress();
  return ["gzip", "x-gzip", "deflate"].includes(encoding) ? createUnzip() : undefined;
}

/** Undefined for what is not text: it holds a zero byte, or a tenth of it cannot be decoded. */
function decodeText(bytes: Buffer, contentType: string): string | undefined {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  const text = decoderFor(charset).decode(bytes);
  const unreadable = text.match(/[\0\uFFFD]/g)?.length ?? 0;
  return text.includes("\0") || unreadable > text.length / 10 ? undefined : text;
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
