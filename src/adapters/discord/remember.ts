export interface RememberOptions {
  ttlMs: number;
  /** The ones asked for longest ago go first. */
  max: number;
}

/**
 * What `load` said less than `ttlMs` ago, counted from when it was asked. Who asks meanwhile waits for the same answer;
 * a failure is everyone's who waits for it, and is not kept.
 */
export function remember<T>(
  load: (key: string) => Promise<T>,
  { ttlMs, max }: RememberOptions,
): (key: string) => Promise<T> {
  const known = new Map<string, { at: number; answer: Promise<T> }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined && performance.now() - found.at < ttlMs) return found.answer;
    const asked = { at: performance.now(), answer: load(key) };
    put(known, key, asked, max);
    asked.answer.catch(() => {
      if (known.get(key) === asked) known.delete(key);
    });
    return asked.answer;
  };
}

/** Sets it as the newest of the map; the oldest go when there are more than `max`. */
export function put<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}
