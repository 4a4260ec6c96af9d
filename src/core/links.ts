/** With any scheme: which ones a platform makes clickable is its own affair. */
const ADDRESS = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s<>"`\\]+/gi;
/** Punctuation behind an address belongs to the sentence. */
const TRAILING = /(?<![.,;:!?'*_~|)\]}])[.,;:!?'*_~|)\]}]+$/;

/** The addresses in a text, and where each begins. */
export function addressesIn(text: string): { address: string; index: number }[] {
  return [...text.matchAll(ADDRESS)].map(({ 0: found, index }) => ({
    address: found.replace(TRAILING, ""),
    index,
  }));
}

/** True for an address that people may click wherever it stands. */
export type LinkRule = (address: string) => boolean;

/** Hosts as `links.allow` names them: `grafana.example.com`, `wiki.example.com:8443`, `*.example.com`. */
export function isLinkHost(entry: string): boolean {
  return /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}(?::\d{1,5})?$/.test(
    entry,
  );
}

/**
 * Follows `links.allow`: http and https, no user name in the address, and exactly the port that is named. `*.` stands for
 * every name below the domain, and not for the domain.
 */
export function createLinkRule(allow: readonly string[]): LinkRule {
  return (address) => {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
    if (url.username !== "" || url.password !== "") return false;
    return allow.some((entry) =>
      entry.startsWith("*.") ? url.host.endsWith(entry.slice(1)) : url.host === entry,
    );
  };
}
