import { BotError, isBotError } from "../core/errors.ts";
import type { Publisher } from "../events/bus.ts";

/** So many failures in a row say that it is the tool, not the arguments (CORE 003.13). */
const MAX_FAILURES = 5;
/** How long a tool is then left alone. */
const OPEN_MS = 30_000;

export type Breaker = ReturnType<typeof createBreaker>;

interface Circuit {
  failures: number;
  /** When the next probe is let through, on the breaker's clock. */
  retryAt: number;
  /** The digest of the call that may run meanwhile. */
  probe: string | undefined;
}

/**
 * True for what is wrong with the tool or what it needs: whatever is no BotError, a connection that failed, the time
 * limit. Every other BotError is the tool's considered word on the arguments, the network rules, the folders, this
 * machine or a Stop; it neither counts nor proves that the tool works.
 */
function isToolsOwn(error: unknown): boolean {
  return !isBotError(error) || isBotError(error, "CONNECTION_FAILED", "TIMEOUT");
}

/**
 * Keeps a tool that only fails from being called again and again: by models above all, which do not tire of it. One circuit
 * per tool, in memory: another process, and the next start, find out for themselves. `now` is a clock in
 * ms that never runs backwards; `events` hears each time that a tool is left alone.
 */
export function createBreaker(now: () => number = () => performance.now(), events?: Publisher) {
  const circuits = new Map<string, Circuit>();
  return {
    /**
     * Asked before a call is written down as started, so that nothing is started that will not run. `digest` names the
     * call: after `OPEN_MS` one call is let through as the probe, and no other for another `OPEN_MS` or until the probe
     * has ended. The probe may be asked about again, as an approved action is; one that never runs, or says nothing
     * about the tool, keeps its turn until that time is over.
     * @throws BotError CIRCUIT_OPEN
     */
    admit(tool: string, digest: string): void {
      const circuit = circuits.get(tool);
      if (circuit === undefined || circuit.failures < MAX_FAILURES) return;
      const waitMs = circuit.retryAt - now();
      if (waitMs > 0 && circuit.probe !== digest) throw open(tool, circuit, waitMs);
      if (waitMs > 0) return;
      circuit.probe = digest;
      circuit.retryAt = now() + OPEN_MS;
    },
    /** A call returned, also with `failed: true`: the tool did its work. The circuit is closed. */
    succeeded(tool: string): void {
      circuits.delete(tool);
    },
    /** A call threw. Counts only what `isToolsOwn` says. */
    failed(tool: string, error: unknown): void {
      if (!isToolsOwn(error)) return;
      const failures = (circuits.get(tool)?.failures ?? 0) + 1;
      circuits.set(tool, { failures, retryAt: now() + OPEN_MS, probe: undefined });
      if (failures >= MAX_FAILURES)
        events?.publish({ kind: "circuit_opened", tool, failures, waitMs: OPEN_MS });
    },
  };
}

function open(tool: string, { failures, probe }: Circuit, waitMs: number): BotError {
  const seconds = Math.ceil(waitMs / 1_000);
  const next =
    probe === undefined
      ? `it may be tried again in ${seconds} s`
      : `one call tries it just now, others may in ${seconds} s at the latest`;
  return new BotError(
    "CIRCUIT_OPEN",
    `${tool} failed ${failures} times in a row, so it is left alone: ${next}. Nothing was run; meanwhile find out the same in another way.`,
  );
}
