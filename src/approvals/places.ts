import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { hostOf, readAddress, withoutBrackets } from "../core/canonical.ts";

/** Hosts and URLs that somebody wrote, newest last. */
export interface Places {
  hosts: Set<string>;
  urls: Set<string>;
}

/** For each kind: more than people name in a thread. The bot asks again about older ones. */
const MAX_PLACES = 2_000;

/** Only http and https: no read sends anything to `mailto:` and the like. */
const WRITTEN_URL = /https?:\/\/[^\s<>"'`|]+/gi;
const NAME = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u;
/**
 * File endings that are also top-level domains. `deploy.sh` in a sentence is a script, and somebody may own the domain.
 * Only with a scheme it counts as the domain.
 */
const FILES = new Set("cc mk ml mov md pl pm ps pub py rs sh so tf zip".split(" "));

export function noPlaces(): Places {
  return { hosts: new Set(), urls: new Set() };
}

/**
 * Adds the hosts and URLs in the text, except in quotes: a code block and a line after `>` come from a log or somebody
 * else. A URL without a scheme counts as http and as https.
 */
export function notePlaces(places: Places, text: string): void {
  const own = text.replace(/```.*?(?:```|$)/gs, " ").replace(/^[ \t]*>.*$/gm, " ");
  const rest = own.replace(WRITTEN_URL, (whole) => {
    for (const one of bothWays(whole)) noteUrl(places, one);
    return " ";
  });
  for (const token of new Set(rest.split(/[\s<>"'`|]+/))) {
    if (token.includes("@")) continue;
    const bare = token.replace(/^[\w-]+=/, "");
    for (const one of bothWays(bare)) noteHost(places, one);
  }
}

/** The URL as requested: without a fragment. */
export function hrefOf(url: URL): string {
  return `${url.protocol}//${hostOf(url)}:${url.port}${url.pathname}${url.search}`;
}

/** Both readings of a word: punctuation before it is never part of it, punctuation after it may be. */
function bothWays(token: string): Iterable<string> {
  const text = token.replace(/^[\p{P}\p{S}]*?(?=[\p{L}\p{N}[:])/u, "");
  return new Set([text, text.replace(/(?<![\p{P}\p{S}])[\p{P}\p{S}]+$/u, "")]);
}

function noteUrl(places: Places, text: string): void {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return;
  keep(places.hosts, hostOf(url));
  keep(places.urls, hrefOf(url));
}

/** Adds a word if it is an address or a name, perhaps with port and path. */
function noteHost(places: Places, word: string): void {
  const address = withoutBrackets(word);
  if (addressKind(address) === 6) return keep(places.hosts, String(readAddress(address)));
  const {
    host = "",
    port = "",
    path = "",
  } = /^(?<host>\[[^\]]*\]|[^/?#:]+)(?<port>:\d{1,5})?(?<path>[/?#].*)?$/s.exec(word)?.groups ?? {};
  const name = nameOf(host);
  if (name === undefined) return;
  keep(places.hosts, name);
  if (!name.includes(".") && port === "" && path === "" && !host.startsWith("[")) return;
  for (const scheme of ["http", "https"]) noteUrl(places, `${scheme}://${host}${port}${path}`);
}

/** As `isIP`, which takes long over words that are none. */
function addressKind(word: string): number {
  return /[.:]/.test(word) ? isIP(word) : 0;
}

/** The canonical name or address; undefined for a number, a version or a file. */
function nameOf(host: string): string | undefined {
  const address = withoutBrackets(host);
  if (addressKind(address) !== 0) return String(readAddress(address));
  const name = host.replace(/\.$/, "").toLowerCase();
  if (name.length > 253 || !NAME.test(name)) return undefined;
  const [last = "", ...before] = name.split(".").toReversed();
  // The URL standard reads a name that ends in a number as an address.
  if (!/\p{L}/u.test(last) || /^0x[\da-f]*$/.test(last)) return undefined;
  if (before.length > 0 && FILES.has(last)) return undefined;
  return /^[\w.-]+$/.test(name) ? name : domainToASCII(name) || undefined;
}

function keep(set: Set<string>, one: string): void {
  set.delete(one);
  set.add(one);
  if (set.size > MAX_PLACES) for (const oldest of set.values()) return void set.delete(oldest);
}
