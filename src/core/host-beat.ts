/** The machine that processes run on, as far as the store has heard of it. */
export interface HostBeat {
  readonly host: string;
  /** The store's clock, ms since 1970. */
  readonly beatAt: number;
  /** No beat for `HOST_GONE_MS`: what waits for it is due for everybody. */
  readonly gone: boolean;
}

/** How often a process beats, in ms: a host that lives is never near being gone. */
export const BEAT_MS = 15_000;

/** 10 minutes, in ms: longer than a restart, an upgrade or a long stall takes. */
export const HOST_GONE_MS = 600_000;

/** `now` is the store's clock. */
export function beatOf(host: string, beatAt: number, now: number): HostBeat {
  return { host, beatAt, gone: beatAt <= now - HOST_GONE_MS };
}
