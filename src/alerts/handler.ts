import { createHash } from "node:crypto";
import { openingId } from "../core/alert-thread.ts";
import type { Draft } from "../core/entry.ts";
import { isBotError, messageOf } from "../core/errors.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { postDurably } from "../journal/durable.ts";
import { putOff, runInBackground } from "../worker/background.ts";
import { isWait, type JournalContext, type KeyHandler } from "../worker/key-handler.ts";
import { append, appendDecision, barrier, retryUntilStored } from "../worker/store.ts";
import { chunked, MAX_IN_ENTRY } from "./alert.ts";
import type { Group, Held } from "./groups.ts";
import { investigationOf } from "./investigation.ts";
import { alertFields, openingOf, stateOf } from "./shown.ts";
import { sizeOf, snapshots } from "./snapshots.ts";
import { AlertsState, foldAlerts, type Owed, owedBy } from "./state.ts";

/** The transport of the journals that decide which thread an alert belongs to. */
export const ALERTS = "alerts";

export function alertsKey(channel: string): JournalKey {
  return `${ALERTS}:${channel}`;
}

function channelOf(key: JournalKey): string {
  return key.slice(ALERTS.length + 1);
}

/** Begins a thread in a channel, or finds the one that an earlier attempt of the same `id` began. */
export type OpenThread = (
  channel: string,
  text: string,
  delivery: { id: string; isRetry: true },
) => Promise<JournalKey>;

/** Sees to it that a message's own thread is there; false where the message is gone. */
type BeginBeneath = (channel: string, thread: JournalKey, name: string) => Promise<boolean>;

interface AlertsParts {
  /** Undefined where this process does not serve the platform. */
  openerOf(transport: string): OpenThread | undefined;
  /** Undefined where a message's thread need not be begun. */
  beneathOf?(transport: string): BeginBeneath | undefined;
  /** Every text that is shown passes it. */
  encode(text: string): string;
  wake(key: JournalKey): void;
  /** Tells the operations channel, once per id. */
  tellOps(id: string, text: string): Promise<unknown>;
}

type AlertsContext = JournalContext<AlertsState>;

/** How long a channel is left alone in which no thread can be begun, ms. */
const REFUSED_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Gives each group of alerts its one thread, once for all replicas, and tells that thread how the group stands whenever it has changed.
 */
export function createAlertsHandler(parts: AlertsParts): KeyHandler<AlertsContext, Owed> {
  /** Until when each channel is left alone, on the store's clock. */
  const refused = new Map<JournalKey, number>();
  const openerOf = (key: JournalKey) => {
    const channel = tryJournalKey(channelOf(key));
    return channel && parts.openerOf(transportOf(channel));
  };

  async function cannotOpen(ctx: AlertsContext, group: Group, why: string): Promise<void> {
    refused.set(ctx.key, ctx.now() + REFUSED_MS);
    const channel = channelOf(ctx.key);
    const text = `Alerts have no thread: in ${channel} none can be begun. ${why} ${group.name} waits; I try again every minute. Invite me there, or change alerts.routes.`;
    const id = `alerts:${channel}:${Math.floor(ctx.now() / HOUR_MS)}`;
    await parts.tellOps(id, parts.encode(text)).catch((error: unknown) => {
      ctx.log.warn(
        { key: ctx.key },
        `The operations channel could not be told: ${messageOf(error)}`,
      );
    });
  }

  /** What failed is put off: nothing of it is lost. */
  async function failed(
    ctx: AlertsContext,
    step: Owed,
    error: unknown,
  ): Promise<() => Promise<void>> {
    if (!isBotError(error)) throw error;
    ctx.log.warn({ key: ctx.key, step: step.key }, messageOf(error));
    if (step.do === "open" && isBotError(error, "PLATFORM_REFUSED"))
      await cannotOpen(ctx, step.group, error.message);
    putOff(ctx, step.key, error);
    return async () => {};
  }

  return {
    isShared: true,
    serves: (key) => transportOf(key) === ALERTS && openerOf(key) !== undefined,
    empty: () => new AlertsState(),
    fold: foldAlerts,
    bytesOf: sizeOf,
    snapshots,
    open: () => ({}),
    next(ctx, { busy, draining, now }) {
      if (draining) return { do: "wait", until: undefined };
      const until = refused.get(ctx.key) ?? 0;
      if (until <= now) {
        refused.delete(ctx.key);
        return owedBy(ctx.state, busy, now);
      }
      const has = (key: string) => key.startsWith("open:") || busy.has(key);
      const step = owedBy(ctx.state, { has }, now);
      return isWait(step) ? { ...step, until: Math.min(step.until ?? Infinity, until) } : step;
    },
    async execute(ctx, step) {
      const work = async () => {
        if (step.do === "open") return open(ctx, step.group, parts, openerOf(ctx.key));
        if (step.do === "tell") return tell(ctx, step.group, parts);
        return resume(ctx, step.held);
      };
      runInBackground(ctx, { key: step.key, run: undefined, kept: true }, () =>
        work().catch(async (error: unknown) => failed(ctx, step, error)),
      );
    },
    // Nothing of it can crash a process twice: what cannot be told is put off.
    park: async () => {},
  };
}

/** @throws BotError what the platform said */
async function open(
  ctx: AlertsContext,
  group: Group,
  parts: AlertsParts,
  opener: OpenThread | undefined,
): Promise<() => Promise<void>> {
  const { id } = group;
  let thread = await ownOf(ctx, group, parts);
  if (thread === undefined && opener !== undefined && (await barrier(ctx))) {
    // Whether an earlier attempt came through nobody wrote down; threads are begun seldom.
    const delivery = { id: openingId(id), isRetry: true } as const;
    thread = await opener(channelOf(ctx.key), parts.encode(openingOf(group)), delivery);
  }
  const investigation = investigationOf(ctx.key, group, ctx.state.groups);
  const place = thread;
  if (place !== undefined && investigation !== undefined && (await barrier(ctx))) {
    await retryUntilStored(ctx, () => postDurably(ctx.journal, place, investigation));
    parts.wake(place);
  }
  return () =>
    appendDecision(ctx, () =>
      thread === undefined || ctx.state.threads.has(id)
        ? undefined
        : [{ id: `thread:${id}`, kind: "alert_thread", group: id, thread }],
    );
}

/** What still fires after its maintenance window is said once more, and now it counts. */
async function resume(ctx: AlertsContext, all: readonly Held[]): Promise<() => Promise<void>> {
  const alike = Object.values(
    Object.groupBy(all, ({ source, rule, triage, mention, own, investigate }) =>
      JSON.stringify([source, rule, triage, mention, own, investigate]),
    ),
  );
  for (const held of alike.flatMap((some = []) => chunked(some, MAX_IN_ENTRY))) {
    const [first] = held;
    if (first === undefined) continue;
    const { source, rule, triage, mention, own, investigate } = first;
    const what = held.map(({ seq, alert }) => [seq, alert.fingerprint]);
    const name = createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 32);
    const draft: Draft<"alert"> = {
      id: `alert:${source}:after:${name}`,
      kind: "alert",
      source,
      alerts: held.map(({ alert }) => alertFields(alert)),
      rule: { groupBy: [...rule.groupBy], windowMs: rule.windowMs },
      ...(triage === true && { triage: true as const }),
      ...(mention !== undefined && { mention: [...mention] }),
      ...(own !== undefined && { own }),
      ...(investigate !== undefined && { investigate }),
    };
    const { entry } = await retryUntilStored(ctx, () => postDurably(ctx.journal, ctx.key, draft));
    ctx.noteNewest(entry.seq);
  }
  return async () => {};
}

/** The thread of the message that the group began with, if that is still there. */
async function ownOf(
  ctx: AlertsContext,
  group: Group,
  { beneathOf, encode }: AlertsParts,
): Promise<JournalKey | undefined> {
  const { own, name } = group;
  const begin = own && beneathOf?.(transportOf(own));
  if (own === undefined || begin === undefined) return own;
  const isThere = (await barrier(ctx)) && (await begin(channelOf(ctx.key), own, encode(name)));
  return isThere ? own : undefined;
}

async function tell(
  ctx: AlertsContext,
  group: Group,
  { wake }: AlertsParts,
): Promise<() => Promise<void>> {
  const thread = ctx.state.threads.get(group.id);
  const { id, last: upTo } = group;
  const before = ctx.state.told.get(id);
  // Nothing was said since it was told that it flaps: that is over.
  const isCalm = before?.flaps === true && before.upTo >= upTo ? ":calm" : "";
  const state = stateOf(ctx.key, group, ctx.now());
  if (thread !== undefined && (await barrier(ctx))) {
    const draft = { ...state, id: `${state.id}${isCalm}` };
    await retryUntilStored(ctx, () => postDurably(ctx.journal, thread, draft));
    wake(thread);
  }
  const told: Draft<"alert_told"> = {
    id: `told:${id}@${upTo}${isCalm}`,
    kind: "alert_told",
    group: id,
    upTo,
    ...(state.flaps !== undefined && { flaps: true }),
  };
  return async () => void (await append(ctx, [told]));
}
