import type { Tenants } from "../adapters/adapter.ts";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal, JournalReader } from "../journal/journal.ts";
import type { StoredEntry } from "../core/entry.ts";

/** The store writes an id once: of several processes that settle it at the same moment one does. */
const ID = "tenant";

/** What is served is settled by the first entry of `team:<platform>`. */
export function createTenants(journal: Pick<Journal, "read" | "post">): Tenants {
  return {
    kept: (transport) => keptTenant(journal, transport),
    async keep(transport, tenant) {
      const { entry } = await journal.post(keyOf(transport), { id: ID, kind: "tenant", tenant });
      return tenantIn(entry);
    },
  };
}

/** What is served of that platform, once it is settled. */
export async function keptTenant(journal: Pick<JournalReader, "read">, transport: string) {
  const [first] = await journal.read(keyOf(transport));
  return first && tenantIn(first);
}

const keyOf = (transport: string): JournalKey => `team:${transport}`;

function tenantIn(entry: StoredEntry): string {
  if (entry.kind === "tenant") return entry.tenant;
  const text = "What is served was settled by a newer version of this program; start that version.";
  throw new BotError("STORE_NEWER", text);
}
