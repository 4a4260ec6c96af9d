import { createBackoff } from "../core/backoff.ts";
import { atMost, untilAborted } from "../core/time-limit.ts";
import { CONSEQUENCES } from "./errors.ts";
import { type Model, ModelError, type ModelErrorCode, type ModelRequest } from "./model.ts";

/** The least request: the key, the name, the quota and the way there are right if it is answered. */
export const PROBE: ModelRequest = {
  system: "You are being tested.",
  tools: [],
  turns: [{ role: "user", content: [{ kind: "text", text: "Say: ok" }] }],
  toolChoice: "auto",
  // Enough for a word, also of a model that thinks first.
  maxOutputTokens: 1_024,
};

/** A model is left alone. */
export interface Outage {
  /** Of the newest failure. */
  readonly code: ModelErrorCode;
  /** Ms since 1970. */
  readonly since: number;
}

export interface HealthOptions {
  /** A model by its id, which repeats nothing. */
  load(id: string): Promise<Model>;
  /** Called once per change; undefined: it answers again. */
  onChange?(id: string, outage: Outage | undefined): void;
  /** From a failure to the first probe; then twice as long each time, ±25 %. Default 5 000. */
  firstProbeMs?: number;
  /** Default 300 000. */
  maxProbeMs?: number;
  /** For one probe. Default 15 000. */
  probeLimitMs?: number;
  /** `look` does not probe a model that was probed within this time. Default 5 000. */
  lookAgainMs?: number;
  /** So long `look` takes at most. Default 3 000. */
  lookLimitMs?: number;
}

/**
 * Which models answer, as this process has seen it; after a restart it finds out again. A model that failed often enough in a
 * row (`CONSEQUENCES`) is left alone, and a probe tells when it answers again.
 */
export interface ModelHealth {
  /** Undefined: it may be asked. */
  outage(id: string): Outage | undefined;
  answered(id: string): void;
  /** A request failed after its retries. */
  failed(id: string, error: ModelError): void;
  /**
   * Probes those of them that are left alone now, since somebody waits; who needs longer for it is not waited for.
   * @throws the signal's reason when it aborts
   */
  look(ids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Ends all probes. */
  stop(): Promise<void>;
}

/** No provider's word keeps a model away for longer without a look. */
const MAX_TOLD_WAIT_MS = 600_000;
const SPREAD = 0.25;

interface Down extends Outage {
  code: ModelErrorCode;
  readonly waits: ReturnType<typeof createBackoff>;
  /** The provider asked to be left alone until then, ms since 1970. */
  notBefore: number;
  probedAt: number;
  timer: NodeJS.Timeout | undefined;
  probing: Promise<void> | undefined;
}

function noteFailure(down: Down, { code, retryAfterMs = 0 }: ModelError): void {
  down.code = code;
  down.notBefore = Date.now() + Math.min(retryAfterMs, MAX_TOLD_WAIT_MS);
}

export function createModelHealth(options: HealthOptions): ModelHealth {
  const { onChange, firstProbeMs = 5_000, maxProbeMs = 300_000 } = options;
  const { lookAgainMs = 5_000, lookLimitMs = 3_000 } = options;
  /** Failures in a row of models that are still asked. */
  const failures = new Map<string, number>();
  const downs = new Map<string, Down>();
  const ended = new AbortController();
  const { probe, probeLater } = createProbes(options, { downs, answered, ended: ended.signal });

  function answered(id: string): void {
    failures.delete(id);
    const down = downs.get(id);
    if (down === undefined) return;
    clearTimeout(down.timer);
    downs.delete(id);
    onChange?.(id, undefined);
  }

  function failed(id: string, error: ModelError): void {
    const { downAfter } = CONSEQUENCES[error.code];
    if (downAfter === 0 || ended.signal.aborted) return;
    const known = downs.get(id);
    if (known !== undefined) {
      noteFailure(known, error);
      return;
    }
    const count = (failures.get(id) ?? 0) + 1;
    failures.set(id, count);
    if (count < downAfter) return;
    const down: Down = {
      code: error.code,
      since: Date.now(),
      // What failed together does not come back together.
      waits: createBackoff(firstProbeMs, maxProbeMs, SPREAD),
      notBefore: 0,
      probedAt: 0,
      timer: undefined,
      probing: undefined,
    };
    noteFailure(down, error);
    downs.set(id, down);
    probeLater(id, down);
    onChange?.(id, { code: down.code, since: down.since });
  }

  return {
    outage(id) {
      const down = downs.get(id);
      return down && { code: down.code, since: down.since };
    },
    answered,
    failed,
    async look(ids, signal) {
      const now = Date.now();
      const due = ids.flatMap((id) => {
        const down = downs.get(id);
        const isDue = down && now >= down.notBefore && now - down.probedAt >= lookAgainMs;
        return isDue === true ? [probe(id, down)] : [];
      });
      if (due.length === 0) return;
      await untilAborted(
        atMost(lookLimitMs, Promise.all(due), () => undefined),
        signal,
      );
    },
    async stop() {
      ended.abort();
      const under = [...downs.values()].flatMap(({ timer, probing }) => {
        clearTimeout(timer);
        return probing ?? [];
      });
      await Promise.all(under);
    },
  };
}

interface Probed {
  downs: ReadonlyMap<string, Down>;
  answered(id: string): void;
  ended: AbortSignal;
}

/** Asks models that are left alone for a sign of life, each at growing intervals. */
function createProbes(
  { load, probeLimitMs = 15_000 }: HealthOptions,
  { downs, answered, ended }: Probed,
) {
  function probeLater(id: string, down: Down): void {
    if (ended.aborted || downs.get(id) !== down) return;
    const waitMs = Math.max(down.waits.next(), down.notBefore - Date.now());
    clearTimeout(down.timer);
    down.timer = setTimeout(() => void probe(id, down), waitMs);
    down.timer.unref();
  }

  /** One at a time for each model, whoever asks for it. */
  function probe(id: string, down: Down): Promise<void> {
    down.probing ??= askOnce(id, down).finally(() => {
      down.probing = undefined;
      down.probedAt = Date.now();
      probeLater(id, down);
    });
    return down.probing;
  }

  async function askOnce(id: string, down: Down): Promise<void> {
    try {
      const model = await load(id);
      const signal = AbortSignal.any([ended, AbortSignal.timeout(probeLimitMs)]);
      await model.generate(PROBE, { signal });
      answered(id);
    } catch (error) {
      if (!(error instanceof ModelError)) return;
      // It refused what was asked, so it is there.
      if (CONSEQUENCES[error.code].switches) noteFailure(down, error);
      else answered(id);
    }
  }

  return { probe, probeLater };
}
