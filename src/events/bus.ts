import type { BotEvent } from "./event.ts";

/** Events that wait for a subscriber that asked for no other number (CORE 002.15, C10). */
const CAPACITY = 64;

export type Subscriber = (event: BotEvent) => void;

interface Subscription {
  /** Events that it never got, since it was behind by more than its capacity. */
  readonly dropped: number;
  /** Nothing reaches it any more. What waited is lost. */
  close(): void;
}

/** Whoever has something to tell holds this side only. */
export interface Publisher {
  publish(event: BotEvent): void;
}

export interface Bus extends Publisher {
  /**
   * From now on it gets each event, in order, in a later turn of the event loop. `capacity`: how many may wait for it, default
   * 64; beyond it the oldest is dropped and counted. What it throws is its own affair: the others and the publisher go on.
   */
  subscribe(name: string, subscriber: Subscriber, options?: { capacity?: number }): Subscription;
  /** Names, and how many events each has missed. */
  dropped(): ReadonlyMap<string, number>;
  /** Delivers what waits now, such as before the process ends. */
  flush(): void;
}

/**
 * What happens, told to whoever watches: logs, figures, traces. Publishing never waits and never throws, and what is told here is for
 * watching only: nothing is decided by it, and what must not be lost is in a journal. `onError` hears what subscribers throw.
 */
export function createBus(onError: (name: string, error: unknown) => void = () => {}): Bus {
  const queues = new Set<Queue>();
  let isScheduled = false;

  function flush(): void {
    isScheduled = false;
    for (const queue of queues) deliver(queue, onError);
  }

  return {
    publish(event) {
      if (queues.size === 0) return;
      for (const queue of queues) queue.add(event);
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
    subscribe(name, subscriber, { capacity = CAPACITY } = {}) {
      const queue = new Queue(name, subscriber, capacity);
      queues.add(queue);
      return {
        get dropped() {
          return queue.dropped;
        },
        close: () => void queues.delete(queue),
      };
    },
    dropped: () => new Map([...queues].map(({ name, dropped }) => [name, dropped])),
    flush,
  };
}

/** Nobody watches. */
export const SILENT: Publisher = { publish: () => {} };

/** A ring of events that wait for one subscriber. */
class Queue {
  readonly name: string;
  readonly subscriber: Subscriber;
  dropped = 0;
  readonly #ring: (BotEvent | undefined)[];
  #first = 0;
  #size = 0;

  constructor(name: string, subscriber: Subscriber, capacity: number) {
    this.name = name;
    this.subscriber = subscriber;
    this.#ring = Array.from({ length: capacity }, () => undefined);
  }

  add(event: BotEvent): void {
    const { length } = this.#ring;
    this.#ring[(this.#first + this.#size) % length] = event;
    if (this.#size < length) {
      this.#size += 1;
      return;
    }
    this.#first = (this.#first + 1) % length;
    this.dropped += 1;
  }

  take(): BotEvent | undefined {
    if (this.#size === 0) return undefined;
    const event = this.#ring[this.#first];
    this.#ring[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.#ring.length;
    this.#size -= 1;
    return event;
  }
}

function deliver(queue: Queue, onError: (name: string, error: unknown) => void): void {
  for (let event = queue.take(); event !== undefined; event = queue.take()) {
    try {
      queue.subscriber(event);
    } catch (error) {
      onError(queue.name, error);
    }
  }
}
