import { foldTranscript, Transcript } from "../../agent/transcript.ts";
import type { StoredEntry } from "../../core/entry.ts";
import { inPages } from "../../core/pages.ts";
import { retryUntilStored } from "../store.ts";
import type { ThreadContext } from "./parts.ts";

/** The thread as its model is told it: read whole once, then kept up with the fold. */
export async function transcriptOf(ctx: ThreadContext): Promise<Transcript> {
  if (ctx.transcript !== undefined) return ctx.transcript;
  const transcript = new Transcript();
  // The fold may get ahead while the entries are read.
  while (transcript.last < ctx.thread.last) {
    const { last } = transcript;
    const entries = await retryUntilStored(ctx, () => ctx.journal.read(ctx.key, last));
    for await (const page of inPages(entries)) follow(ctx, transcript, page);
  }
  ctx.transcript = transcript;
  return transcript;
}

/** Brings the transcript up to where the fold is, never further: both are of the same moment. */
export function follow(
  { thread }: ThreadContext,
  transcript: Transcript,
  entries: readonly StoredEntry[],
): void {
  for (const entry of entries) {
    if (entry.kind !== "newer" && entry.seq <= thread.last) foldTranscript(transcript, entry);
  }
}
