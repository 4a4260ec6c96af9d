/**
 * Names one journal: `terminal:<uuid>` here, later also `slack:…`, `discord:…`, `incident:…`. The part before the first
 * colon is the transport whose view shows it.
 */
export type JournalKey = `${string}:${string}`;

/** `text` as a key, or undefined when it is not of the form `<transport>:<rest>`. */
export function tryJournalKey(text: string): JournalKey | undefined {
  return /^[a-z]+:[^\s]+$/.test(text) ? (text as JournalKey) : undefined;
}

/**
 * False for journals that are records only, `incident:…`: no worker takes them up, so a post does not make them due and
 * no sweep looks at them. Both stores go by it.
 */
export function hasWork(key: JournalKey): boolean {
  return transportOf(key) !== "incident";
}

/** The transport whose view shows this journal, such as `terminal`. */
export function transportOf(key: JournalKey): string {
  return key.slice(0, key.indexOf(":"));
}
