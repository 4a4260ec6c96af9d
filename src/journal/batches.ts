/**
 * Does work for all who ask while the last of it is done: they share the next. `work` answers each item in its place, and what it
 * throws is thrown to all of them.
 */
export function createBatches<T, R>(
  work: (items: readonly T[]) => Promise<readonly R[]>,
): (item: T) => Promise<R> {
  let next: { items: T[]; done: Promise<readonly R[]> } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function begin() {
    const items: T[] = [];
    const start = () => {
      next = undefined;
      return work(items);
    };
    const done = last.then(start, start);
    last = done;
    return { items, done };
  }

  return async (item) => {
    next ??= begin();
    const { items, done } = next;
    const at = items.push(item) - 1;
    const answers = await done;
    const answer = answers[at];
    if (answer === undefined) throw new TypeError(`no answer for ${at + 1} of ${answers.length}`);
    return answer;
  };
}
