import { createHash } from "node:crypto";

/** As long as the same words to the same person count as said already. */
const SAME_MS = 10_000;

/** The delivery of a private word that can only be said aloud: not twice at the same moment; said again later, it is meant to be. */
export function aloudDelivery(account: string, text: string): { id: string; isRetry: false } {
  const words = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { id: `aloud:${account}:${words}:${Math.floor(Date.now() / SAME_MS)}`, isRetry: false };
}
