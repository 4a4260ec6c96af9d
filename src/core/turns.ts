/** Does work on one key, one after the other; `isLater`: other work on it was under way. */
export type InTurn<K> = <T>(key: K, work: (isLater: boolean) => Promise<T>) => Promise<T>;

export function createTurns<K>(): InTurn<K> {
  const turns = new Map<K, Promise<unknown>>();
  return async (key, work) => {
    const later = () => work(true);
    const before = turns.get(key);
    const mine = before === undefined ? work(false) : before.then(later, later);
    turns.set(key, mine);
    try {
      return await mine;
    } finally {
      if (turns.get(key) === mine) turns.delete(key);
    }
  };
}
