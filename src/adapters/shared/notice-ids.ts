import { createHash } from "node:crypto";
import type { Delivery } from "../view.ts";

/** As long as the same words to the same person count as said already. */
const SAME_MS = 10_000;

/**
 * Why a platform says something that no journal tells it to, about one message: it can't be kept (`usage`), isn't kept
 * yet (`unrecorded`), is from nobody that is served (`refused`) or from a bot that is not listed (`bot`), can't have a thread
 * (`nothread`), was written too long ago when the bot came back (`away`), is a thread's first one, with what somebody asked
 * (`asked`), says hello to a server (`hello`); or the platform drops messages (`dropped`).
 */
type Reason =
  | "usage"
  | "unrecorded"
  | "refused"
  | "bot"
  | "away"
  | "nothread"
  | "asked"
  | "hello"
  | "dropped";

/** The delivery of such a notice. `isRetry`: an earlier process may have said it. */
export function noticeDelivery(reason: Reason, about: string, isRetry = false): Delivery {
  return { id: `${reason}:${about}`, isRetry };
}

/** The delivery of a private text that can only be said aloud: not twice within 10 s; said again later, it is meant to be. */
export function aloudDelivery(account: string, text: string): Delivery {
  const words = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { id: `aloud:${account}:${words}:${Math.floor(Date.now() / SAME_MS)}`, isRetry: false };
}
