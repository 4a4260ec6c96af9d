import { transportOf, tryJournalKey } from "../core/journal-key.ts";
import { MAIN_VIEW, type Thread } from "./state.ts";

/** The view of the account's platform: a thread has one place on each. */
export function viewFor({ views }: Pick<Thread, "views">, account: string): string {
  const platform = platformOf(account);
  return views.find((view) => view !== MAIN_VIEW && platformOf(view) === platform) ?? MAIN_VIEW;
}

function platformOf(text: string): string | undefined {
  const key = tryJournalKey(text);
  return key && transportOf(key);
}
