import { join } from "node:path";
import type { Vault } from "../adapters/adapter.ts";
import type { Config } from "../config/config.ts";
import { settingsOf } from "../core/settings.ts";
import type { Journal } from "../journal/journal.ts";
import { redis } from "../journal/redis/store.ts";
import { createSecretKeys } from "../team/secret-keys.ts";
import { createSecrets, type Secrets } from "../team/secrets.ts";

/** What the store keeps encrypted. A shared store's key is set; the embedded one's stands beside it. */
export function openSecrets(
  { dataDir, values }: Pick<Config, "dataDir" | "values">,
  journal: Parameters<typeof createSecrets>[0],
): Secrets {
  const { address, secret, older } = settingsOf(redis, values);
  const file = address === undefined ? join(dataDir, "watchkeeper.secret") : undefined;
  return createSecrets(journal, createSecretKeys({ secret, older, file }));
}

/** What chat platforms keep encrypted. */
export function createVault(
  secrets: Secrets,
  journal: Pick<Journal, "reserve" | "flushReservation">,
): Vault {
  return {
    ...secrets,
    async once(what) {
      const made = await journal.reserve(`once:${what}`, 1, 1);
      return made !== undefined && (await journal.flushReservation(made)) === "ok";
    },
  };
}

/** The secrets of a store that is opened for this and closed afterwards. */
export async function withSecrets<T>(
  config: Config,
  work: (secrets: Secrets, journal: Journal) => Promise<T>,
): Promise<T> {
  const { chosenStore } = await import("../journal/stores.ts");
  const journal = await chosenStore(config.values).open();
  try {
    return await work(openSecrets(config, journal), journal);
  } finally {
    await journal.close();
  }
}
