import type { Overview } from "../adapters/overview.ts";
import { aboutLines, type StatusParts } from "../commands/status.ts";
import type { Config } from "../config/config.ts";
import { isoUtc } from "../core/instant.ts";
import { tryJournalKey } from "../core/journal-key.ts";
import { tokenCounter } from "../core/token-counters.ts";
import type { Ledger } from "../incidents/incident.ts";
import type { Journal } from "../journal/journal.ts";
import { systemOf } from "../tools/find-tools.ts";

/** Fewer tools whose names begin alike, such as read_log and read_artifact, need not be of one system. */
const SYSTEM_TOOLS = 3;
/** Their names begin with what they do. */
const VERBS: ReadonlySet<string> = new Set(["read"]);

export interface OverviewParts {
  journal: Pick<Journal, "used">;
  /** As they are now: tools change while the program runs. */
  status(): StatusParts;
  encode(text: string): string;
}

export function createOverview(
  { budgets: { tokensPerDay } }: { budgets: Pick<Config["budgets"], "tokensPerDay"> },
  { ledger }: { ledger(): Pick<Ledger, "list"> },
  { journal, status, encode }: OverviewParts,
): Overview {
  return {
    about: () => aboutLines(status()),
    systems: () =>
      [...Map.groupBy(status().tools, systemOf)]
        .filter(([system, tools]) => tools.length >= SYSTEM_TOOLS && !VERBS.has(system))
        .map(([system]) => system),
    async today() {
      const tokens = await journal.used(tokenCounter.all(isoUtc(Date.now(), "day")));
      return { tokens, limit: tokensPerDay };
    },
    async incidents(viewer) {
      const open = await ledger().list({ status: "open" }, viewer);
      return open.map(({ id, title, severity, startedAt, thread, link }) => ({
        id,
        title: encode(title),
        severity,
        startedAt,
        thread: tryJournalKey(thread),
        link,
      }));
    },
  };
}
