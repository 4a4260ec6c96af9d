import type { Logger } from "pino";
import { type Journal, type Stoppable } from "./journal.ts";
import { BEAT_MS } from "../core/host-beat.ts";

/** Says at once and every `BEAT_MS` that a process of `host` is at work. A store that is away is told the next time. */
export function startBeating(journal: Pick<Journal, "beat">, host: string, log: Logger): Stoppable {
  const beat = () => {
    journal.beat(host).catch((error: unknown) => log.debug({ err: error }, "no beat"));
  };
  beat();
  const timer = setInterval(beat, BEAT_MS).unref();
  return { stop: () => clearInterval(timer) };
}
