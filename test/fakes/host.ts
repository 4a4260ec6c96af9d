import type { Adapter, Tenants } from "../../src/adapters/adapter.ts";
import type { Inbox } from "../../src/adapters/inbox.ts";
import type { Queries } from "../../src/adapters/queries.ts";
import { readText } from "../../src/commands/grammar.ts";
import { isThanks } from "../../src/thread/tone.ts";
import { encodeText } from "../../src/security/sanitize.ts";
import { type JournalKey, transportOf } from "../../src/core/journal-key.ts";
import { createInProcessWakeups } from "../../src/wakeups/in-process.ts";
import { whyNotPrepared } from "../../src/queries/edits.ts";
import type { Overview } from "../../src/adapters/overview.ts";
import { createLedger } from "./ledger.ts";
import { createOverview } from "../../src/app/overview.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { followedInbox } from "../../src/app/pins.ts";
import { createTenants } from "../../src/app/tenants.ts";
import { createStage, type Stage, type StageOptions } from "./stage.ts";

/** A process of the bot behind a real adapter: its inbox, its queries, and a worker that is woken. */
export interface Host {
  stage: Stage;
  inbox: Inbox;
  queries: Queries;
  overview: Overview;
  tenants: Tenants;
  isThanks(text: string): boolean;
  encode(text: string): string;
  /** Takes up nothing any more; the journal stays open. */
  stop(): Promise<void>;
}

export interface HostOptions extends Omit<StageOptions, "chat" | "adapter" | "encode"> {
  sweepMs?: number;
}

/** Joins a bot around the adapter. A thread is worked on as soon as something is said in it. */
export async function openHost(adapter: Adapter, options: HostOptions = {}): Promise<Host> {
  const encode = (text: string) => encodeText(text, { redact: options.hide ?? ((same) => same) });
  const stage = await createStage({ ...options, adapter, encode });
  const { journal, worker } = stage;
  const wakeups = createInProcessWakeups({
    due: async function* due() {
      for await (const key of journal.due()) {
        if (transportOf(key) === adapter.transport && adapter.view(key) !== undefined) yield key;
      }
    },
    onError: () => {},
    sweepMs: options.sweepMs ?? 50,
  });
  stage.parts.wakeAt = (key, at) => wakeups.wake(key, at);
  const running = wakeups.start(worker.work);
  const ledger = createLedger(journal, encode);
  const inbox = {
    journal,
    read: readText,
    encoder: stage.parts.encoder,
    wake: (key: JournalKey, lane: "people" | "runs") => wakeups.wake(key, 0, lane),
    placeOf: async (key: JournalKey) => ({
      link: adapter.link(key),
      audience: await adapter.audience(key),
    }),
  };
  return {
    stage,
    inbox: followedInbox(inbox, () => ledger),
    queries: createQueries(journal, options.tools ?? [], encode, {
      whyNot: whyNotPrepared(stage.parts.dispatcher, encode),
    }),
    overview: createOverview(
      { budgets: { tokensPerDay: 1_000 } },
      { ledger: () => ledger },
      {
        journal,
        status: () => ({ tools: options.tools ?? [], terms: undefined }),
        encode,
      },
    ),
    tenants: createTenants(journal),
    isThanks,
    encode,
    async stop() {
      await worker.stop(1_000);
      await running.stop();
    },
  };
}
