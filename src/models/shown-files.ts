import { megabytes } from "../core/text.ts";
import type { KnownModel } from "./known.ts";
import type { FileBlock, Turn } from "./model.ts";

/** Which of a request's files a model is shown. */

type Shown = Pick<KnownModel, "images" | "documents">;

/**
 * Bytes of a request's files together, before they are base64, where its provider says nothing else. Anthropic takes requests of 32 MB,
 * by which these are 29.4 MB (docs.claude.com, "Request size limits"); OpenAI takes 50 MB of files.
 */
const MAX_REQUEST_FILE_BYTES = 22 * 1024 * 1024;

/**
 * The turns without files of kinds that the model is known not to take, and without those that are too much for one request, the newest
 * first. It reads that there was one, and why it is not shown.
 */
export function shownTo(
  known: Shown,
  turns: readonly Turn[],
  maxBytes = MAX_REQUEST_FILE_BYTES,
): readonly Turn[] {
  const files = turns.flatMap(filesOf);
  const untaken = new Set(files.filter((file) => !takes(known, file)));
  const excess = excessOf(
    files.filter((file) => !untaken.has(file)),
    maxBytes,
  );
  if (untaken.size + excess.size === 0) return turns;
  const isShown = (file: FileBlock) => !untaken.has(file) && !excess.has(file);
  const note = (file: FileBlock) => {
    const { name, mediaType } = file;
    const why = untaken.has(file)
      ? "this model takes no such files"
      : `it has ${megabytes(bytesOf(file))}, and with this model the files of one request may have ${megabytes(maxBytes)} together, the newest first. Say so if you need it: people can send a part of it, or choose another model`;
    return `[${JSON.stringify(name)} (${mediaType}) is not shown: ${why}]`;
  };
  return turns.map((turn): Turn => {
    if (turn.role === "assistant") return turn;
    if (turn.role === "user") {
      const content = turn.content.map((block) =>
        block.kind === "text" || isShown(block)
          ? block
          : { kind: "text" as const, text: note(block) },
      );
      return { ...turn, content };
    }
    const results = turn.results.map((result) => {
      const left = result.files.filter((file) => !isShown(file)).map(note);
      const text = [result.text, ...left].join("\n");
      return left.length === 0 ? result : { ...result, text, files: result.files.filter(isShown) };
    });
    return { ...turn, results };
  });
}

function filesOf(turn: Turn): readonly FileBlock[] {
  if (turn.role === "tool") return turn.results.flatMap(({ files }) => files);
  if (turn.role === "assistant") return [];
  return turn.content.flatMap((block) => (block.kind === "file" ? block : []));
}

function takes({ images, documents }: Shown, { mediaType }: FileBlock): boolean {
  if (mediaType === "text/plain") return true;
  return mediaType === "application/pdf" ? documents !== false : images !== false;
}

/** The files that are too much, as the newer ones come first. */
function excessOf(files: readonly FileBlock[], maxBytes: number): Set<FileBlock> {
  let left = maxBytes;
  const excess = new Set<FileBlock>();
  for (const file of files.toReversed()) {
    const bytes = bytesOf(file);
    if (bytes > left) excess.add(file);
    else left -= bytes;
  }
  return excess;
}

function bytesOf({ data }: FileBlock): number {
  return Math.floor((data.length * 3) / 4);
}
