import { Queue, Worker } from "bullmq";
import { Redis, type RedisOptions } from "ioredis";
import { atMost } from "../core/time-limit.ts";
import { BotError, messageOf } from "../core/errors.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import type { RedisAddress } from "../journal/redis/address.ts";
import { createReconnects, ioredisOptions } from "../journal/redis/clients.ts";
import {
  createInProcessWakeups,
  type InProcessOptions,
  type InProcessWakeups,
} from "./in-process.ts";
import { SLOTS } from "./slots.ts";
import type { Lane, Wakeups } from "./wakeups.ts";

/** The braces keep all of a queue in one slot of a Redis Cluster, as BullMQ asks for. */
const PREFIX = "{wk}";
/** BullMQ's stream of what happened to jobs, which nobody reads. */
const KEPT_EVENTS = 100;
/** How long each of a stop's two steps waits for Redis; what it does not hear of the sweep makes good. */
const GOODBYE_MS = 1_500;

export interface BullmqOptions extends InProcessOptions {
  address: RedisAddress;
  /** True where other processes serve the transport's journals too; elsewhere its wakes stay here. */
  isShared(transport: string): boolean;
  /** The transports that this process serves, as they are at the start: only their wakes are taken. */
  served(): Iterable<string>;
}

type RetryStrategy = (tries: number) => number | null;

interface Wake {
  key: JournalKey;
  at: number;
  lane: Lane;
}

/**
 * Wake-ups for any number of processes on one Redis: each wake goes to one of them that has room for it. A timer outlives
 * the process that set it. Every process also sweeps, so whatever is lost with Redis or a crash is found within a second.
 */
export function createBullmqWakeups(options: BullmqOptions): Wakeups {
  const here = createInProcessWakeups(options);
  const early: Wake[] = [];
  let send = (wake: Wake): void => void early.push(wake);

  return {
    load: here.load,
    wake: (key, at = 0, lane = "runs") => send({ key, at, lane }),

    start(work) {
      const looks = here.start(work);
      const wakes = open(options, here);
      send = (wake) => {
        if (options.isShared(transportOf(wake.key))) wakes.send(wake);
        else here.wake(wake.key, wake.at, wake.lane);
      };
      early.splice(0).forEach(send);
      return {
        async stop() {
          send = () => {};
          await wakes.stop(looks.stop());
        },
      };
    },
  };
}

/** A queue per transport; the worker of those that are served here has each journal looked at. */
function open(options: BullmqOptions, here: InProcessWakeups) {
  const { address, isShared, served, onError, slots: concurrency = SLOTS } = options;
  const queues = new Map<string, Queue<Wake>>();
  let said = "";
  let stopping = false;

  /** Once, until it works again: while Redis is away BullMQ says so again and again. */
  function report(error: unknown, key?: JournalKey): void {
    if (stopping || messageOf(error) === said) return;
    said = messageOf(error);
    onError(error, key);
  }

  const createStrategy = (): RetryStrategy => {
    const waits = createReconnects();
    return (tries) => {
      if (tries === 1) waits.reset();
      return stopping ? null : waits.next();
    };
  };
  const connection = new Connection({
    ...ioredisOptions(address),
    connectionName: "watchkeeper-wakeups",
    lazyConnect: true,
    disconnectTimeout: 200, // after a disconnect the process lives on for as long
    maxRetriesPerRequest: null, // BullMQ asks for it: its worker waits for as long as it takes
  });
  connection.createStrategy = createStrategy;
  connection.options.retryStrategy = createStrategy();
  connection.on("error", report).on("ready", () => {
    said = "";
  });
  const shared = { connection, prefix: PREFIX };
  const strange = new Set<string>();

  /** What another program put there: dropped, and named once per queue, as there may be any number of them. */
  function dropStrange(transport: string): void {
    if (strange.has(transport)) return;
    strange.add(transport);
    const text = `${PREFIX}:${nameOf(transport)} in Redis holds a job that is no wake-up of this program's; it and others like it are dropped. Look who else writes there.`;
    onError(new BotError("WAKE_INVALID", text), undefined);
  }

  const workers = [...served()].filter(isShared).map((transport) =>
    new Worker<unknown>(
      nameOf(transport),
      async ({ data }) => {
        const woken = wokenBy(data);
        if (woken !== undefined && transportOf(woken.key) === transport)
          await here.look(woken.key, woken.lane);
        else dropStrange(transport);
      },
      { ...shared, concurrency },
    ).on("error", report),
  );

  function queueOf(transport: string): Queue<Wake> {
    const known = queues.get(transport);
    if (known !== undefined) return known;
    const events = { maxLen: KEPT_EVENTS };
    const queue = new Queue<Wake>(nameOf(transport), { ...shared, streams: { events } });
    queues.set(transport, queue.on("error", report));
    return queue;
  }

  return {
    send(wake: Wake): void {
      queueOf(transportOf(wake.key))
        .add("wake", wake, jobOptions(wake))
        .catch((error: unknown) => report(error, wake.key));
    },

    /** A job ends with its look, so it is heard of only once those have ended. */
    async stop(looksEnded: Promise<void> | void): Promise<void> {
      stopping = true;
      const connections = [connection, ...connection.copies];
      await atMost(GOODBYE_MS, Promise.all(connections.map(settle)), () => {});
      const closed = Promise.allSettled(
        [...workers, ...queues.values()].map((each) => each.close()),
      );
      await looksEnded;
      await atMost(GOODBYE_MS, closed, () => {});
      for (const each of connections) each.disconnect();
    },
  };
}

/** BullMQ makes copies of a connection for itself; they are to be ended too. */
class Connection extends Redis {
  readonly copies: Redis[] = [];
  /** A connection counts its own attempts. */
  createStrategy: () => RetryStrategy = () => () => null;

  override duplicate(changes?: Partial<RedisOptions>): Redis {
    const copy = super.duplicate(changes);
    copy.options.retryStrategy = this.createStrategy();
    this.copies.push(copy);
    return copy;
  }
}

/** Disconnected between two attempts, ioredis never says that it has ended, and BullMQ would wait for that: one more attempt goes first. */
async function settle(connection: Redis): Promise<void> {
  if (["wait", "ready", "end"].includes(connection.status)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  connection.once("ready", resolve).once("end", resolve);
  await promise;
}

/** The journal that a job is about and how it is to be looked at, if it is a wake-up. Older versions named no lane. */
function wokenBy(data: unknown): Pick<Wake, "key" | "lane"> | undefined {
  if (typeof data !== "object" || data === null || !("key" in data)) return undefined;
  const key = typeof data.key === "string" ? tryJournalKey(data.key) : undefined;
  const isForPeople = "lane" in data && data.lane === "people";
  return key && { key, lane: isForPeople ? "people" : "runs" };
}

const nameOf = (transport: string) => `wakeups-${transport}`;

/** What people wait for has none, and goes first. */
const AFTER_PEOPLE = 1;

/** At once: one waiting wake per journal and lane, and one more if its work is going on. Later: one per journal and time. */
function jobOptions({ key, at, lane }: Wake) {
  const delay = at - Date.now();
  const gone = { removeOnComplete: true, removeOnFail: true };
  const order = lane === "people" ? {} : { priority: AFTER_PEOPLE };
  if (delay > 0) return { ...gone, ...order, delay, jobId: `${encodeURIComponent(key)}@${at}` };
  const id = lane === "people" ? `${key} people` : key;
  return { ...gone, ...order, deduplication: { id, keepLastIfActive: true } };
}
