import type { Adapter } from "../adapters/adapter.ts";
import type { Config } from "../config/config.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import type { AnyCatalog } from "../incidents/catalog.ts";
import type { Incident } from "../incidents/incident.ts";
import { mayHear, newsOf } from "../incidents/news.ts";
import { createRecords } from "../incidents/records.ts";
import { createUpdatesHandler, UPDATES, watchIncident } from "../incidents/updates-handler.ts";
import type { Journal } from "../journal/journal.ts";
import { tellChannel } from "../team/ops.ts";
import type { KeyHandler } from "../worker/key-handler.ts";

interface NewsParts {
  config: Pick<Config, "incidentChannels" | "updateMinutes">;
  journal: Pick<Journal, "post" | "read" | "changes">;
  catalog: AnyCatalog;
  adapters: ReadonlyMap<string, Pick<Adapter, "hasOutsiders">>;
  wake(key: JournalKey): void;
}

/** Who hears of an incident: channels when something is new, its thread and they when nobody has said for long how it stands. */
export function createIncidentNews({ config, journal, catalog, adapters, wake }: NewsParts) {
  const { incidentChannels, updateMinutes: minutes } = config;
  const records = createRecords(journal, catalog);
  /** Whoever cannot be asked may be: what is left out now is told with the next news of the incident. */
  async function hasOutsiders(channel: string): Promise<boolean> {
    const key = tryJournalKey(channel);
    if (key === undefined) return false;
    const adapter = adapters.get(transportOf(key));
    if (adapter === undefined) return true;
    try {
      return (await adapter.hasOutsiders?.(key)) === true;
    } catch {
      return true;
    }
  }

  const tell = async (incident: Incident, id: string, text: string) => {
    for (const channel of incidentChannels)
      if (mayHear(channel, await hasOutsiders(channel), incident))
        await tellChannel({ journal, wake }, channel, id, text);
  };
  return {
    async announce(incident: Incident): Promise<void> {
      for (const { id, text } of newsOf(incident)) await tell(incident, id, text);
      await watchIncident({ journal, minutes, wake }, incident);
    },
    handlers(): [string, KeyHandler][] {
      const handler = createUpdatesHandler({
        journal,
        minutes,
        incident: async (id) => (await records.read(id)).incident,
        tell,
        wake,
      });
      return [[UPDATES, handler]];
    },
  };
}
