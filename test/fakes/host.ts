import type { Adapter, Inbox, Queries, Tenants } from "../../src/adapters/adapter.ts";
import { readText } from "../../src/commands/grammar.ts";
import { isThanks } from "../../src/thread/tone.ts";
import { encodeText } from "../../src/security/sanitize.ts";
import { transportOf } from "../../src/core/journal-key.ts";
import { createInProcessWakeups } from "../../src/wakeups/in-process.ts";
import { createInbox } from "../../src/worker/thread/inbox.ts";
import { whyNotPrepared } from "../../src/queries/edits.ts";
import type { Overview } from "../../src/adapters/overview.ts";
import { createLedger } from "../../src/incidents/ledger.ts";
import { createOverview } from "../../src/app/overview.ts";
import { createQueries } from "../../src/queries/queries.ts";
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
  const running = wakeups.start((key) => worker.work(key));
  const ledger = createLedger(journal, encode);
  return {
    stage,
    inbox: createInbox({
      journal,
      read: readText,
      encoder: stage.parts.encoder,
      wake: (key) => wakeups.wake(key),
      placeOf: async (key) => ({
        link: adapter.link(key),
        audience: await adapter.audience(key),
      }),
    }),
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
