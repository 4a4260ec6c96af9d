/**
 * Names one journal: `terminal:<uuid>` here, also `slack:…`, `discord:…`, `incident:…`, `team:…`. The part before the first
 * colon is the transport whose view shows it.
 */
export type JournalKey = `${string}:${string}`;

/** `text` as a key, or undefined when it is not of the form `<transport>:<rest>`. */
export function tryJournalKey(text: string): JournalKey | undefined {
  return /^[a-z]+:[^\s]+$/.test(text) ? (text as JournalKey) : undefined;
}

/**
 * The tenant that a thread belongs to, whoever writes in it: `slack:<team>`, `discord:<guild>`, and of a transport without
 * tenants itself, such as `terminal`. Undefined for a direct message on Discord, which is in no guild.
 */
export function tenantOf(key: string): string | undefined {
  const [transport = "", tenant = ""] = key.split(":");
  if (transport !== "slack" && transport !== "discord") return transport;
  return transport === "discord" && tenant === "dm" ? undefined : `${transport}:${tenant}`;
}

/** The transport whose view shows this journal, such as `terminal`. */
export function transportOf(key: JournalKey): string {
  return key.slice(0, key.indexOf(":"));
}
