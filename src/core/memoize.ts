import { LRUCache } from "lru-cache";

/**
 * What `load` said less than `ttlMs` ago, counted from the asking, for at most `max` keys. Who asks meanwhile waits for the
 * same answer; a failure reaches everyone who waits for it and is not kept.
 */
export function memoize<T>(
  load: (key: string) => Promise<T>,
  { ttlMs, max, now }: { ttlMs: number; max: number; /** In tests. */ now?: () => number },
): (key: string) => Promise<T> {
  const answers = new LRUCache<string, Promise<T>>({
    max,
    ttl: ttlMs,
    ...(now !== undefined && { perf: { now }, ttlResolution: 0 }),
  });
  return (key) => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = load(key);
    answers.set(key, answer);
    answer.catch(() => {
      if (answers.peek(key) === answer) answers.delete(key);
    });
    return answer;
  };
}
