import { settingsOf, type SettingValues } from "../core/settings.ts";
import { redis } from "./redis/store.ts";
import { sqlite } from "./sqlite/store.ts";
import type { ChosenStore, Store } from "./store.ts";

/** Every kind of store: one line for each. */
export const STORES: readonly Store[] = [sqlite, redis];

/** The store that the settings mean: the last of the table, as the embedded one is always there. */
export function chosenStore(values: SettingValues): ChosenStore {
  const chosen = STORES.flatMap((store) => store.choose(settingsOf(store, values)) ?? []);
  const last = chosen.at(-1);
  if (last === undefined) throw new TypeError("no store is meant by these settings");
  return last;
}
