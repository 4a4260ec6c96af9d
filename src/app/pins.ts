import type { Inbox } from "../adapters/inbox.ts";
import type { Ledger } from "../incidents/incident.ts";
import type { Journal } from "../journal/journal.ts";
import { saidIn } from "../thread/said.ts";
import { createInbox, type InboxParts } from "../worker/thread/inbox.ts";

/** What people change or take back is so in the timelines of incidents that quote it, before its event is acknowledged. */
export function followedInbox(
  parts: InboxParts & { journal: Pick<Journal, "read"> },
  ledger: () => Ledger,
): Inbox {
  const inbox = createInbox(parts);
  return {
    async post(key, id, inbound) {
      await inbox.post(key, id, inbound);
      if (inbound.kind !== "edited" && inbound.kind !== "removed") return;
      const entries = await parts.journal.read(key);
      const shown = entries.flatMap((each) =>
        each.kind === "incident_state" ? each.incident : [],
      );
      if (shown.length === 0) return;
      const said = saidIn(entries, inbound.of);
      const followed = said && { ...said, incidents: [...new Set(shown)] };
      if (followed !== undefined)
        await ledger().follow(key, followed, { call: id, at: followed.at });
    },
  };
}
