export interface RecentSet {
  ttlMs: number;
  /** The ones noted or asked for longest ago go first. */
  max: number;
  /** Ms; default: a clock that only goes forward. */
  now?: () => number;
}

/** Keys that were noted in the last `ttlMs`, at most `max` of them. */
export interface Recent {
  has(key: string): boolean;
  add(key: string): void;
}

export function createRecent({ ttlMs, max, now = () => performance.now() }: RecentSet): Recent {
  const noted = new Map<string, number>();
  return {
    has(key) {
      const at = noted.get(key);
      return at !== undefined && now() - at < ttlMs;
    },
    add(key) {
      putNewest(noted, key, now(), max);
    },
  };
}

/**
 * What `load` said less than `ttlMs` ago, counted from when it was asked. Who asks meanwhile waits for the same answer;
 * a failure is everyone's who waits for it, and is not kept.
 */
export function remember<T>(
  load: (key: string) => Promise<T>,
  { ttlMs, max, now = () => performance.now() }: RecentSet,
): (key: string) => Promise<T> {
  const known = new Map<string, { at: number; answer: Promise<T> }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined && now() - found.at < ttlMs) return found.answer;
    const asked = { at: now(), answer: load(key) };
    putNewest(known, key, asked, max);
    asked.answer.catch(() => {
      if (known.get(key) === asked) known.delete(key);
    });
    return asked.answer;
  };
}

/** Sets it as the newest of the map; the oldest go when there are more than `max`. */
export function putNewest<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}
