import { once } from "node:events";
import { createBareThread } from "../../core/bare-thread.ts";
import { BotError } from "../../core/errors.ts";

const LIMIT_MS = 10_000;

/**
 * What people read of a page: its main part, without menus, pictures and the addresses of links.
 * @throws BotError TIMEOUT for a page that takes longer than 10 s; what the signal's abort makes of it
 */
export async function readableText(
  html: string,
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<string> {
  const worker = createBareThread(new URL("./readable-worker.ts", import.meta.url), {
    workerData: html,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const givenUp = AbortSignal.timeout(limitMs);
  try {
    const [text]: string[] = await once(worker, "message", {
      signal: AbortSignal.any([signal, givenUp]),
    });
    return (text ?? "").replaceAll(/\n{3,}/g, "\n\n").trim();
  } catch (error) {
    if (signal.aborted) throw error;
    if (isMemory(error))
      throw new BotError("NOT_AVAILABLE", "The page needs too much memory to read.", {
        cause: error,
      });
    if (!givenUp.aborted) throw error;
    throw new BotError("TIMEOUT", "The page takes too long to read.", { cause: error });
  } finally {
    await worker.terminate();
  }
}

function isMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** A page's title, on one line. */
export function titleOf(html: string): string | undefined {
  const [, title] = /<title[^>]{0,200}>([^<]{1,300})/i.exec(html.slice(0, 20_000)) ?? [];
  return title?.replaceAll(/\s+/g, " ").trim();
}
