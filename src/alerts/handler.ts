import { isBotError, messageOf } from "../core/errors.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { postDurably } from "../journal/durable.ts";
import { putOff, runInBackground } from "../worker/background.ts";
import type { JournalContext, KeyHandler } from "../worker/key-handler.ts";
import { append, appendDecision, barrier, retryUntilStored } from "../worker/store.ts";
import type { Group } from "./groups.ts";
import { openingOf, stateOf } from "./shown.ts";
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

interface AlertsParts {
  /** Undefined where this process does not serve the platform. */
  openerOf(transport: string): OpenThread | undefined;
  /** Every text that is shown passes it. */
  encode(text: string): string;
  wake(key: JournalKey): void;
}

type AlertsContext = JournalContext<AlertsState>;

/**
 * Gives each group of alerts its one thread, once for all replicas, and tells that thread how the group stands whenever it has changed.
 */
export function createAlertsHandler(parts: AlertsParts): KeyHandler<AlertsContext, Owed> {
  const openerOf = (key: JournalKey) => {
    const channel = tryJournalKey(channelOf(key));
    return channel && parts.openerOf(transportOf(channel));
  };
  return {
    isShared: true,
    serves: (key) => transportOf(key) === ALERTS && openerOf(key) !== undefined,
    empty: () => new AlertsState(),
    fold: foldAlerts,
    open: () => ({}),
    next: ({ state }, { busy, draining }) =>
      (draining ? undefined : owedBy(state, busy)) ?? { do: "wait", until: undefined },
    async execute(ctx, step) {
      const work = step.do === "open" ? open : tell;
      runInBackground(ctx, { key: step.key, run: undefined, kept: true }, () =>
        work(ctx, step.group, parts, openerOf(ctx.key)).catch((error: unknown) => {
          if (!isBotError(error)) throw error;
          ctx.log.warn({ key: ctx.key, group: step.group.id }, messageOf(error));
          putOff(ctx, step.key, error);
          return async () => {};
        }),
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
  { encode }: AlertsParts,
  opener: OpenThread | undefined,
): Promise<() => Promise<void>> {
  const { id, own } = group;
  let thread = own;
  if (thread === undefined && opener !== undefined && (await barrier(ctx))) {
    // Whether an earlier attempt came through nobody wrote down; threads are begun seldom.
    const delivery = { id: `alerts:${id}`, isRetry: true } as const;
    thread = await opener(channelOf(ctx.key), encode(openingOf(group)), delivery);
  }
  return () =>
    appendDecision(ctx, () =>
      thread === undefined || ctx.state.threads.has(id)
        ? undefined
        : [{ id: `thread:${id}`, kind: "alert_thread", group: id, thread }],
    );
}

async function tell(
  ctx: AlertsContext,
  group: Group,
  { wake }: AlertsParts,
): Promise<() => Promise<void>> {
  const thread = ctx.state.threads.get(group.id);
  const { id, last: upTo } = group;
  if (thread !== undefined && (await barrier(ctx))) {
    const state = stateOf(ctx.key, group);
    await retryUntilStored(ctx, () => postDurably(ctx.journal, thread, state));
    wake(thread);
  }
  return async () =>
    void (await append(ctx, [{ id: `told:${id}@${upTo}`, kind: "alert_told", group: id, upTo }]));
}
