import type { Adapter } from "../adapters/adapter.ts";
import type { HttpRoute } from "../core/http-route.ts";
import { atMost } from "../core/time-limit.ts";
import type { Journal } from "../journal/journal.ts";

/** As long as the port's verbs take at most; a little more, so that the store's own end comes first. */
const STORE_MS = 2_500;
/** Anybody may ask, so the store is not asked more often. */
const KEPT_MS = 1_000;

export interface HealthParts {
  /** Writes to the store, as a lease does. */
  beat(): ReturnType<Journal["beat"]>;
  /** Ms, only forward. Default: since the process began. */
  now?: () => number;
}

export type Health = ReturnType<typeof createHealth>;

/**
 * Whether this process can work: `GET /readyz` says `ready`, or 503 and what is missing, in words that name nothing of the
 * configuration. However many ask, the store is asked once a second.
 */
export function createHealth({ beat, now = () => performance.now() }: HealthParts) {
  let served: readonly Pick<Adapter, "transport" | "isUp">[] | undefined;
  let isStopping = false;
  let answer: Promise<boolean> | undefined;
  let freshUntil = -Infinity;

  async function takesWrites(): Promise<boolean> {
    const written = beat().then(
      () => true,
      () => false,
    );
    const isTaken = await atMost(STORE_MS, written, () => false);
    freshUntil = now() + KEPT_MS;
    return isTaken;
  }

  /** Who asks while the store is asked waits for the same answer. */
  async function storeAnswers(): Promise<boolean> {
    if (answer === undefined || now() >= freshUntil) {
      freshUntil = Infinity;
      answer = takesWrites();
    }
    return answer;
  }

  /** Which of the served transports are connected. */
  function connected(): Map<string, boolean> {
    return new Map((served ?? []).map((each) => [each.transport, each.isUp?.() ?? true]));
  }

  /** Undefined: it can. */
  async function whyNot(): Promise<string | undefined> {
    if (isStopping) return "it is stopping";
    if (served === undefined) return "it is starting";
    if (![...connected().values()].includes(true)) return "no platform is connected";
    if (!(await storeAnswers())) return "the store takes no writes";
    return isStopping ? "it is stopping" : undefined;
  }

  const route: HttpRoute = {
    method: "GET",
    path: "/readyz",
    async handle() {
      const why = await whyNot();
      return why === undefined
        ? { status: 200, text: "ready\n" }
        : { status: 503, text: `not ready: ${why}\n` };
    },
  };

  return {
    route,
    whyNot,
    connected,
    /** From now on work is taken up for these. */
    start(adapters: typeof served): void {
      served = adapters;
    },
    /** From now on nothing new is begun. */
    stop(): void {
      isStopping = true;
    },
  };
}
