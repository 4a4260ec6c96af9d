import { MAX_FILE_BYTES } from "../core/block.ts";
import type { ArtifactRef, ResultImage } from "../core/entry.ts";
import { binaryTypeOf } from "../core/file-type.ts";
import { oneLine } from "../core/text.ts";
import type { ToolImage } from "./tool.ts";

/** More than these are not looked at, and would crowd a model's request. */
const MAX_IMAGES = 10;
const MAX_NAME_LENGTH = 100;
/** Discord takes 1 024 characters, Slack 2 000. */
const MAX_ALT_LENGTH = 1_000;

/**
 * Keeps a result's images, and says of each that could not be kept why, a line each. Nothing throws: losing an image
 * must not lose the outcome.
 */
export async function keepImages(
  images: readonly ToolImage[],
  keep: (bytes: Uint8Array) => Promise<ArtifactRef>,
  encode: (text: string) => string,
): Promise<{ files: ResultImage[]; left: string[] }> {
  const files: ResultImage[] = [];
  const left: string[] = [];
  for (const { name: given, mediaType, bytes, alt, unseen } of images.slice(0, MAX_IMAGES)) {
    const name = encode(given).replaceAll(/\s/g, " ").slice(0, MAX_NAME_LENGTH);
    const problem = problemOf(mediaType, bytes);
    const artifact = problem === undefined ? await keep(bytes).catch(() => undefined) : undefined;
    const told = alt === undefined ? {} : { alt: oneLine(encode(alt)).slice(0, MAX_ALT_LENGTH) };
    if (artifact !== undefined)
      files.push({ name, mediaType, artifact, ...told, ...(unseen && { unseen }) });
    else left.push(`[image ${name} left out: ${problem ?? "it could not be stored"}]`);
  }
  const more = images.length - MAX_IMAGES;
  if (more > 0) left.push(`[${more} more images left out: a result holds ${MAX_IMAGES}]`);
  return { files, left };
}

function problemOf(mediaType: ToolImage["mediaType"], bytes: Uint8Array): string | undefined {
  const most = MAX_FILE_BYTES[mediaType];
  if (bytes.byteLength > most) return `it has ${bytes.byteLength} bytes, at most ${most} are taken`;
  return binaryTypeOf(bytes) === mediaType ? undefined : `it is not ${mediaType}`;
}
