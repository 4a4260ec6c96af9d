import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { seeded } from "../../core/seeded.ts";
import type { Acknowledgement, Data, Delivered } from "./types.ts";
import { PLURAL, type World } from "./world.ts";

/** One thing for the app: an event in its envelope, an interaction's payload, or a slash command. */
interface Parcel {
  readonly kind: "event" | "interaction" | "command";
  readonly body: Data;
}

/** `final`: the app asked not to be tried again. */
export type Attempt =
  | { ok: true; payload: unknown }
  | { ok: false; reason: string; final?: boolean };

/** A way to the app: Socket Mode or HTTP. `carry` never throws and is over at the deadline or at `signal`. */
export interface Transport {
  carry(
    parcel: Parcel,
    retry: { num: number; reason: string } | undefined,
    signal: AbortSignal,
  ): Promise<Attempt>;
}

export interface Delivery {
  readonly deliveries: readonly Delivered[];
  /** Events are retried as Slack does; interactions are not, the person sees a warning and presses again. */
  interaction(payload: Data): Promise<Acknowledgement>;
  /** For what is not about a message. */
  event(event: Data): Promise<Acknowledgement>;
  envelope(event: Data): Data;
  about(ts: string): Promise<Acknowledgement[]>;
  use(transport: Transport): void;
  shuffle(shuffle: { copies: number; seed: number }): void;
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** Over how many ms the copies of a shuffled event are spread. */
const SPREAD_MS = 30;

function text(data: Data, name: string): string | undefined {
  const value = data[name];
  return typeof value === "string" ? value : undefined;
}

function inner(event: Data): Data {
  return typeof event["message"] === "object" && event["message"] !== null
    ? { ...event["message"] }
    : {};
}

/** The app is subscribed to it, its token may read it, and its bot is in the channel. */
function isWanted(world: World, event: Data): boolean {
  const { events, scopes } = world.settings;
  const type = text(event, "type") ?? "";
  if (type === "reaction_added" || type === "reaction_removed") {
    const { item } = z.object({ item: z.object({ channel: z.string() }) }).parse(event);
    const isThere = world.channels.get(item.channel)?.members.has(world.bot.id) === true;
    return isThere && events.includes(type) && scopes.includes("reactions:read");
  }
  if (type !== "message" && type !== "app_mention") return events.includes(type);
  const channel = world.channels.get(text(event, "channel") ?? "");
  if (channel === undefined || !channel.members.has(world.bot.id)) return false;
  if (type === "app_mention") return events.includes(type) && scopes.includes("app_mentions:read");
  const kind = PLURAL[channel.kind];
  return events.includes(`message.${kind}`) && scopes.includes(`${kind}:history`);
}

export function createDelivery(world: World, first: Transport): Delivery {
  let transport = first;
  let copies = world.settings.shuffle.copies;
  let random = seeded(world.settings.shuffle.seed);
  const stopped = new AbortController();
  const deliveries: Delivered[] = [];
  const pending = new Set<Promise<Acknowledgement>>();
  const byTs = new Map<string, Promise<Acknowledgement>[]>();

  async function copyOf(parcel: Parcel, record: Delivered): Promise<Acknowledgement> {
    const delays = parcel.kind === "event" ? world.settings.retryDelaysMs : [];
    const { signal } = stopped;
    let reason = "";
    for (let num = 0; num <= delays.length && !signal.aborted; num++) {
      if (num > 0) await sleep(delays[num - 1], undefined, { signal }).catch(() => {});
      if (signal.aborted) break;
      const from = performance.now();
      const attempt = await transport.carry(
        parcel,
        num === 0 ? undefined : { num, reason },
        signal,
      );
      const ms = performance.now() - from;
      record.attempts.push({ num, ms, outcome: attempt.ok ? "acknowledged" : attempt.reason });
      if (attempt.ok) {
        return { acknowledged: true, payload: attempt.payload, ms, attempts: num + 1 };
      }
      ({ reason } = attempt);
      if (attempt.final === true) break;
    }
    return { acknowledged: false, reason, attempts: record.attempts.length };
  }

  async function everyCopy(parcel: Parcel, record: Delivered): Promise<Acknowledgement> {
    if (copies === 1) return copyOf(parcel, record);
    const outcomes = await Promise.all(
      Array.from({ length: copies }, async () => {
        const ms = random.int(SPREAD_MS);
        await sleep(ms, undefined, { signal: stopped.signal }).catch(() => {});
        return copyOf(parcel, record);
      }),
    );
    const [any] = outcomes;
    if (any === undefined) throw new Error("nothing is delivered in 0 copies");
    return outcomes.find((outcome) => outcome.acknowledged) ?? any;
  }

  function deliver(parcel: Parcel, about: Omit<Delivered, "attempts">): Promise<Acknowledgement> {
    const record = { ...about, attempts: [] };
    deliveries.push(record);
    const outcome = everyCopy(parcel, record);
    pending.add(outcome);
    void outcome.finally(() => pending.delete(outcome));
    if (about.ts !== undefined) byTs.set(about.ts, [...(byTs.get(about.ts) ?? []), outcome]);
    return outcome;
  }

  function envelope(event: Data): Data {
    const { team, app, bot } = world;
    return {
      token: "verification",
      team_id: team.id,
      context_team_id: team.id,
      api_app_id: app.id,
      event,
      type: "event_callback",
      event_id: world.nextId("Ev"),
      event_time: Math.floor(Date.now() / 1_000),
      authorizations: [
        {
          enterprise_id: null,
          team_id: team.id,
          user_id: bot.id,
          is_bot: true,
          is_enterprise_install: false,
        },
      ],
      is_ext_shared_channel: false,
      event_context: world.nextId("4-"),
    };
  }

  function deliverEvent(data: Data): Promise<Acknowledgement> {
    const body = envelope(data);
    return deliver(
      { kind: "event", body },
      {
        kind: "event",
        type: text(data, "subtype") ?? text(data, "type") ?? "",
        eventId: text(body, "event_id"),
        ts: text(inner(data), "ts") ?? text(data, "deleted_ts") ?? text(data, "ts"),
      },
    );
  }

  world.emit = (data) => {
    if (isWanted(world, data)) void deliverEvent(data);
  };

  return {
    deliveries,
    envelope,
    event: deliverEvent,
    interaction(payload) {
      const type = text(payload, "type") ?? text(payload, "command") ?? "";
      return deliver(
        { kind: "command" in payload ? "command" : "interaction", body: payload },
        {
          kind: "interaction",
          type,
          eventId: undefined,
          ts: undefined,
        },
      );
    },
    about: (ts) => Promise.all(byTs.get(ts) ?? []),
    use(other) {
      transport = other;
    },
    shuffle(shuffle) {
      ({ copies } = shuffle);
      random = seeded(shuffle.seed);
    },
    async idle() {
      while (pending.size > 0) await Promise.all(pending);
    },
    async stop() {
      stopped.abort();
      await Promise.all(pending);
    },
  };
}
