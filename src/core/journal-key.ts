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
 * The tenant that a thread belongs to, whoever writes in it: in `<transport>:<tenant>:<place>…` it is `<transport>:<tenant>`, such
 * as `slack:T1`; a transport without tenants, such as `terminal`, is one itself. Undefined where the key has `dm` in the tenant's
 * place: a direct message that belongs to none.
 */
export function tenantOf(key: string): string | undefined {
  const [transport = "", tenant = "", place] = key.split(":");
  if (place === undefined) return transport;
  return tenant === "dm" ? undefined : `${transport}:${tenant}`;
}

/** The name of its platform, for people: `Slack`. */
export function platformName(reference: string): string {
  const transport = transportOf(reference);
  return transport.slice(0, 1).toUpperCase() + transport.slice(1);
}

/** The transport whose view shows a journal, such as `terminal`; of an account, a group or a channel its platform. */
export function transportOf(reference: string): string {
  return reference.slice(0, reference.indexOf(":"));
}
