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
      const said = saidIn(await parts.journal.read(key), inbound.of);
      if (said !== undefined) await ledger().follow(key, said, { call: id, at: said.at });
    },
  };
}
