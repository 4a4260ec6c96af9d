import { emptyTranscript, type Transcript } from "../../agent/transcript.ts";
import { follow, retryUntilStored } from "../store.ts";
import type { ThreadContext } from "./context.ts";

/** The thread as its model is told it: read whole once, then kept up with the fold. */
export async function transcriptOf(ctx: ThreadContext): Promise<Transcript> {
  if (ctx.transcript !== undefined) return ctx.transcript;
  const transcript = emptyTranscript();
  // The fold may get ahead while the entries are read.
  while (transcript.last < ctx.thread.last) {
    const { last } = transcript;
    follow(
      ctx,
      transcript,
      await retryUntilStored(ctx, () => ctx.parts.journal.read(ctx.key, last)),
    );
  }
  ctx.transcript = transcript;
  return transcript;
}
