import { createGoalWork } from "./goal-work.ts";
import type { Adapter } from "../adapters/adapter.ts";
import type { Config } from "../config/config.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Publisher } from "../events/bus.ts";
import { startCatalog } from "../incidents/catalog-thread.ts";
import { createLedger } from "../incidents/ledger.ts";
import type { Journal } from "../journal/journal.ts";
import type { Network } from "../net/dial.ts";
import { createFeedback } from "../team/feedback.ts";
import type { Freezes } from "../team/freezes.ts";
import type { Approvals, ToolParts } from "../tools/integration.ts";
import type { Tool } from "../tools/tool.ts";
import { createDayShares } from "./day-shares.ts";
import { createAskedHandoffs, createHandoffs } from "./handoffs.ts";
import { createIncidentNews } from "./incident-news.ts";
import { openMemory } from "./memory.ts";
import { createMirroring } from "./mirrors.ts";
import { createPastThreads } from "./past-threads.ts";
import { saveCase } from "./saved-cases.ts";
import { createWhoIs } from "./whoami.ts";

export interface Lending {
  events: Publisher;
  journal: Journal;
  freezes: Freezes;
  outgoing: Network;
  encode(text: string): string;
  wake(key: JournalKey): void;
  ending: AbortController;
  config: Config;
  adapters: ReadonlyMap<string, Adapter>;
  approvals(): Approvals;
}

export type Lent = {
  shifts: ReturnType<typeof createHandoffs>;
  news: ReturnType<typeof createIncidentNews>;
} & Pick<
  ToolParts,
  | "ledger"
  | "tokens"
  | "feedback"
  | "network"
  | "stopped"
  | "freezing"
  | "mirroring"
  | "approvals"
  | "pastThreads"
  | "whoIs"
  | "goals"
  | "handoffs"
  | "memory"
  | "saveEval"
>;

/** What tools use of the program. */
export function lend(
  {
    events,
    journal,
    freezes,
    outgoing,
    encode,
    wake,
    ending,
    config,
    adapters,
    approvals,
  }: Lending,
  tools: () => readonly Tool[],
): Lent {
  const feedback = createFeedback(journal);
  const catalog = startCatalog(ending.signal);
  const news = createIncidentNews({ config, journal, catalog, adapters, wake });
  const ledger = createLedger(journal, encode, { catalog, wake, announce: news.announce });
  const pastThreads = createPastThreads({ journal, adapters, catalog, encode });
  const mirroring = createMirroring(journal, adapters, config.people);
  const goals = createGoalWork(journal);
  const whoIs = createWhoIs({ journal, adapters, config });
  const shifts = createHandoffs({ journal, adapters, ledger, tools, freezes, encode });
  const handoffs = createAskedHandoffs(shifts, { journal, adapters });
  const memory = openMemory(config, { journal, events, encode, stopped: ending.signal });
  return {
    shifts,
    news,
    ledger: () => ledger,
    tokens: () => ({
      used: (counter) => journal.used(counter),
      perDay: config.budgets.tokensPerDay,
      centsPerDay: config.budgets.centsPerDay,
      sharesOf: createDayShares(config, adapters),
    }),
    feedback: () => feedback,
    network: () => outgoing,
    stopped: ending.signal,
    freezing: () => ({ freezes, tools, hosts: () => journal.hosts() }),
    mirroring: () => mirroring,
    approvals,
    pastThreads: () => pastThreads,
    whoIs: () => whoIs,
    goals: () => goals,
    handoffs: () => handoffs,
    memory: () => memory,
    saveEval: async (key, into, run) => saveCase(journal, key, { into, encode, run }),
  };
}
