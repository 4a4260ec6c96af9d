import type { Adapter } from "../adapters/adapter.ts";
import { list, linesOf } from "../adapters/shared/outlook-lines.ts";
import { lively, type OutlookParts } from "../adapters/shared/outlook.ts";
import { approvalsText } from "../commands/answers.ts";
import { type JournalKey, tenantOf, transportOf } from "../core/journal-key.ts";
import { maySee, prefixesSeen, type Viewer, viewerOf } from "../core/viewer.ts";
import type { Journal } from "../journal/journal.ts";
import type { Approvals } from "../tools/integration.ts";
import type { Asker } from "../tools/tool.ts";
import { homeOf, threadAt } from "./thread-places.ts";

/** As long as an action may wait. */
const DAYS = 7;
const NOT_NOW = "Other threads can't be looked at now.";

export interface ApprovalParts {
  journal: Pick<Journal, "read">;
  queries: OutlookParts["queries"];
  adapters: ReadonlyMap<string, Adapter>;
  /** What is frozen now, a sentence each, as far as they may see it. */
  frozen?(viewer: Viewer): readonly string[];
}

/**
 * What waits for a decision. Everybody in the thread reads the answer, so of other threads it has what incidents' lists have:
 * public ones of the asker's tenants, and those of the same private place.
 */
export function createApprovals({ journal, queries, adapters, frozen }: ApprovalParts): Approvals {
  const adapterOf = (key: string) => adapters.get(transportOf(key));
  const { items } = linesOf({
    link: (key) => adapterOf(key)?.link(key),
    placeName: async (key) => adapterOf(key)?.placeName?.(key),
  });

  /** Undefined: they may not look at others, or nothing waits there. */
  async function others(
    asker: Asker,
    viewer: Viewer | undefined,
    home: JournalKey,
  ): Promise<string | undefined> {
    const { key, account } = asker;
    if ((await adapterOf(home)?.people.membership(account, home)) !== "member") return undefined;
    if (viewer === undefined) return NOT_NOW;
    const prefixes = prefixesSeen(viewer, adapters.keys());
    const found = await lively({ queries, prefixes, days: DAYS }, async (other) => {
      const adapter = other === key ? undefined : adapterOf(other);
      if (adapter === undefined) return false;
      const audience = await adapter.audience(other);
      return maySee(viewer, { audience, tenant: tenantOf(other) });
    });
    const cards = found.cards.filter((card) => card.key !== key);
    const text = list("In other threads", await items.cards({ cards }), "");
    const cut = found.isCut ? ["Only the threads that were written in last were looked at."] : [];
    return [...(text === "" ? [] : [text]), ...cut].join("\n") || undefined;
  }

  return {
    async list(asker) {
      const thread = await threadAt(journal, asker.key);
      const home = homeOf(thread, asker.key, asker.account);
      const viewer = await viewerOf(asker).catch(() => undefined);
      const here = approvalsText(thread, viewer && frozen?.(viewer));
      const elsewhere = await others(asker, viewer, home).catch(() => NOT_NOW);
      return [here, elsewhere].filter((each) => each !== undefined).join("\n\n");
    },
  };
}
