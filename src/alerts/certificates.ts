import { BotError } from "../core/errors.ts";

interface CertificateParts {
  /** What stands at an address. @throws BotError when it cannot be had */
  get(url: URL): Promise<string>;
  /** Ms since 1970. */
  now(): number;
}

/** Amazon changes it about once a year. */
const KEPT_MS = 24 * 3_600_000;
/** Amazon has few at a time in each region. Of more, the one that went longest without proving a message is forgotten. */
const MAX_KEPT = 8;
/** An address that gave nothing is not asked again for so long. */
const FAILED_MS = 60_000;
const MAX_FAILED = 200;
/** Fetched at once. */
const MAX_FETCHES = 4;
/** Requests that wait for those. */
const MAX_WAITING = 16;

/**
 * Certificates by their addresses, of one region. Anybody may send an address, so what that costs is bounded here and takes
 * nothing from other regions or systems; what has proved a message is not pushed out by addresses that prove nothing.
 */
export function createCertificates({ get, now }: CertificateParts) {
  const kept = new Map<string, { text: string; until: number; provedAt: number }>();
  const failed = new Map<string, number>();
  const underway = new Map<string, Promise<string>>();
  let waiting = 0;

  function keep(address: string, text: string): void {
    if (kept.size >= MAX_KEPT) {
      const [idle] = [...kept].toSorted(([, a], [, b]) => a.provedAt - b.provedAt);
      if (idle !== undefined) kept.delete(idle[0]);
    }
    kept.set(address, { text, until: now() + KEPT_MS, provedAt: 0 });
  }

  function noteFailure(address: string): void {
    const [oldest] = failed.keys();
    if (failed.size >= MAX_FAILED && oldest !== undefined) failed.delete(oldest);
    failed.set(address, now() + FAILED_MS);
  }

  async function fetchOnce(address: string): Promise<string> {
    const fetching = underway.get(address);
    if (fetching !== undefined) return fetching;
    if (underway.size >= MAX_FETCHES) throw busy();
    const begun = get(new URL(address)).then(
      (text) => {
        keep(address, text);
        return text;
      },
      (error: unknown) => {
        noteFailure(address);
        throw error;
      },
    );
    underway.set(address, begun);
    try {
      return await begun;
    } finally {
      underway.delete(address);
    }
  }

  return {
    /** @throws BotError CONNECTION_FAILED while it cannot be had */
    async at(address: string): Promise<string> {
      const known = kept.get(address);
      if (known !== undefined && known.until > now()) return known.text;
      if ((failed.get(address) ?? 0) > now())
        throw new BotError(
          "CONNECTION_FAILED",
          `${address} gave no certificate a moment ago. It is asked again within a minute.`,
        );
      if (waiting >= MAX_WAITING) throw busy();
      waiting += 1;
      try {
        return await fetchOnce(address);
      } finally {
        waiting -= 1;
      }
    },
    /** A message was proved with it: it is kept before those that proved none. */
    proved(address: string): void {
      const known = kept.get(address);
      if (known !== undefined) known.provedAt = now();
    },
  };
}

function busy(): BotError {
  return new BotError("CONNECTION_FAILED", "Too many certificates are being fetched already.");
}
