import type { Draft } from "../core/entry.ts";
import { isBotError, messageOf } from "../core/errors.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";
import { putOff, runInBackground } from "../worker/background.ts";
import type { JournalContext, KeyHandler, Wait } from "../worker/key-handler.ts";
import { append, barrier, catchUp, retryUntilStored } from "../worker/store.ts";
import type { Incident } from "./incident.ts";
import {
  dueId,
  foldUpdates,
  reminderText,
  statusLine,
  timesOf,
  type UpdateMinutes,
  UpdatesState,
  watchedOf,
  watchId,
} from "./updates.ts";

/** The transport of the journals that decide when an incident is reminded of. */
export const UPDATES = "updates";

interface UpdatesParts {
  journal: Pick<Journal, "post" | "read">;
  /** By severity, where the incident has no interval of its own. */
  minutes: UpdateMinutes;
  /** As its journal has it now. */
  incident(id: string): Promise<Incident | undefined>;
  /** Tells the channels that may hear of it, each once per id. */
  tell(incident: Incident, id: string, text: string): Promise<void>;
  wake(key: JournalKey): void;
}

type UpdatesContext = JournalContext<UpdatesState>;
type Step = { do: "ring" | "remind"; at: number; key: string };

const PREFIX = `${UPDATES}:` as const;

/** Somebody wrote to it: the time until the next update begins again, or is over. Repeated, it changes nothing. */
export async function watchIncident(
  { journal, minutes, wake }: Pick<UpdatesParts, "journal" | "minutes" | "wake">,
  incident: Incident,
): Promise<void> {
  const isAny = Object.values(minutes).some((each) => each !== undefined);
  if (!isAny && incident.updateEvery === undefined) return;
  const key: JournalKey = `${PREFIX}${incident.id}`;
  await journal.post(key, { id: watchId(watchedOf(incident, minutes)), kind: "timer" });
  wake(key);
}

/** Reminds an open incident's thread once per interval, and tells channels how it stands, until somebody says so or it is over. */
export function createUpdatesHandler(parts: UpdatesParts): KeyHandler<UpdatesContext, Step> {
  return {
    isShared: true,
    serves: (key) => transportOf(key) === UPDATES,
    empty: () => new UpdatesState(),
    fold: foldUpdates,
    open: () => ({}),
    next({ state }, { now, busy, draining }): Step | Wait {
      const { come, next } = timesOf(state, now);
      const key = "remind";
      if (draining || busy.has(key)) return { do: "wait", until: next };
      if (come !== undefined) return { do: "ring", at: come, key };
      const { due } = state;
      if (due?.isOver === false) return { do: "remind", at: due.at, key };
      return { do: "wait", until: next };
    },
    async execute(ctx, { do: what, at, key }) {
      if (what === "ring") return ring(ctx, at);
      runInBackground(ctx, { key, run: undefined, kept: true }, () =>
        remind(ctx, at, parts).catch((error: unknown) => {
          if (!isBotError(error)) throw error;
          ctx.log.warn({ key: ctx.key }, messageOf(error));
          return async () => putOff(ctx, key, error);
        }),
      );
    },
    // Nothing of it can crash a process twice: what cannot be told is put off.
    park: async () => {},
  };
}

async function ring(ctx: UpdatesContext, at: number): Promise<void> {
  await retryUntilStored(ctx, () => ctx.journal.post(ctx.key, { id: dueId(at), kind: "timer" }));
  await catchUp(ctx);
}

/** @throws BotError what the store said */
async function remind(
  ctx: UpdatesContext,
  at: number,
  { journal, incident: read, minutes, tell, wake }: UpdatesParts,
): Promise<() => Promise<void>> {
  const incident = await read(ctx.key.slice(PREFIX.length));
  const thread = tryJournalKey(incident?.thread ?? "");
  const watched = incident && watchedOf(incident, minutes);
  const isMeant = watched !== undefined && watched.minutes > 0 && watched.saidAt < at;
  if (incident !== undefined && thread !== undefined && isMeant && (await barrier(ctx))) {
    const isQuiet = await isStopped(journal, thread, watched.saidAt);
    const [now, next] = [ctx.now(), timesOf(ctx.state, ctx.now()).next ?? at];
    const id = `${UPDATES}:${incident.id}:${at}`;
    if (!isQuiet) {
      await tell(incident, id, statusLine(incident, now, next));
      await journal.post(thread, { id, kind: "alarm", text: reminderText(incident, now, next) });
      wake(thread);
    }
  }
  return async () => {
    const entry = dueId(at);
    const over: Draft<"delivered"> = {
      id: `over:${entry}`,
      kind: "delivered",
      view: "thread",
      entry,
      stage: "final",
      ref: "",
    };
    if (ctx.state.due?.at === at && !ctx.state.due.isOver) await append(ctx, [over]);
  };
}

/** Somebody said `stop` in its thread since it was last said how it stands. */
async function isStopped(
  journal: Pick<Journal, "read">,
  thread: JournalKey,
  since: number,
): Promise<boolean> {
  const entries = await journal.read(thread);
  return entries.some((each) => each.kind === "stop" && each.run === undefined && each.at >= since);
}
