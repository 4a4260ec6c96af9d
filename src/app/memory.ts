import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { createRoutes } from "../core/routes.ts";
import { settingsOf } from "../core/settings.ts";
import type { Publisher } from "../events/bus.ts";
import type { Journal } from "../journal/journal.ts";
import { createReadIncident } from "./episodes.ts";
import type { MemoryIndex } from "../memory/index-port.ts";
import { createMemory, type Memory } from "../memory/memory.ts";
import { createPgMemory } from "../memory/pgvector.ts";
import { startSqliteMemory } from "../memory/sqlite-thread.ts";
import { telling } from "../memory/telling.ts";
import { loadEmbedder } from "../models/load.ts";
import { memory as memoryTools } from "../tools/memory/integration.ts";

interface MemoryParts {
  journal: Journal;
  events: Publisher;
  encode(text: string): string;
  stopped: AbortSignal;
}

/** What is remembered, with the index and the provider of vectors that the configuration names. @throws BotError CONFIG_INVALID */
export function openMemory(
  config: Config,
  { journal, events, encode, stopped }: MemoryParts,
): Memory {
  const { embeddings, notes: caps } = settingsOf(memoryTools, config.values);
  const embedder = embeddings === undefined ? undefined : loadEmbedder(embeddings, config.model);
  const routeOf = createRoutes(config.model.routes);
  const hasRoutes = config.model.routes.length > 0;
  const remembered = createMemory({
    journal,
    index: openIndex(config, embeddings, stopped),
    encode,
    readIncident: createReadIncident(journal),
    caps,
    embedder,
    ...(hasRoutes && {
      maySend: (thread) => thread !== undefined && routeOf([thread]) === undefined,
    }),
    events,
  });
  return telling(remembered, events);
}

function openIndex(
  { values, dataDir }: Config,
  model: string | undefined,
  stopped: AbortSignal,
): MemoryIndex {
  const { url } = settingsOf(memoryTools, values);
  if (url === undefined) {
    // Vectors cost money: they outlive the process.
    const path = model === undefined ? undefined : join(dataDir, "memory.db");
    return startSqliteMemory(stopped, { path, model });
  }
  const index = createPgMemory({ url, model });
  stopped.addEventListener("abort", () => void index.close());
  return index;
}
