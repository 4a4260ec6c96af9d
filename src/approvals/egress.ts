import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type ArgumentKind, canonicalHost, hostOf, readAddress } from "../core/canonical.ts";
import type { JsonObject } from "../core/entry.ts";
import { hrefOf, type Places } from "./places.ts";

/**
 * Where a read sends its arguments, and whether that place is known. What a model read elsewhere can leave in an address, so
 * after it read outside text a place that neither a person nor the configuration named is asked about, and so is a known one
 * that would be told much.
 */

/** A place that a call sends something to: a host, and the URL where there is one. */
export interface Destination {
  host: string;
  url: URL | undefined;
}

/** What is known of places. */
export interface KnownPlaces {
  /** What full members of the thread wrote, each of them. */
  written: readonly Places[];
  /** `network.allow`: addresses, networks, names, `*.domain`. */
  network: readonly string[];
  /** A rule that names the place allows the call. */
  named: boolean;
  /** Where the run's earlier calls sent something that nobody was asked about: little by little is much, too. */
  sent: readonly Destination[];
}

/** Of path and query, for one host in one run: more than most checks need, and less than a line of a log. */
const MAX_URL_BYTES = 128;
/** Of the labels below a known domain in one run: a long name, and less than what a name can carry (RFC 1035: 253). */
const MAX_LABEL_BYTES = 40;

/** The places that arguments of these kinds send to. What cannot be read is a place that nobody named. */
export function destinations(
  kinds: Readonly<Record<string, ArgumentKind>>,
  args: JsonObject,
): Destination[] {
  return Object.entries(kinds).flatMap(([name, kind]): Destination[] => {
    const text = args[name];
    if (typeof text !== "string") return [];
    if (kind === "host") return [{ host: canonicalHost(text) ?? text, url: undefined }];
    const url = kind === "url" ? URL.parse(text) : undefined;
    if (url === undefined) return [];
    return url === null ? [{ host: text, url: undefined }] : [{ host: hostOf(url), url }];
  });
}

/** Why sending there has to be asked about, as a sentence, or undefined. */
export function whyAsk({ host, url }: Destination, known: KnownPlaces): string | undefined {
  const { written } = known;
  const isWritten = written.some(({ hosts }) => hosts.has(host));
  if (url !== undefined && written.some(({ urls }) => urls.has(hrefOf(url)))) return undefined;
  const entry = entryFor(host, known.network);
  if (!isWritten && entry === undefined && !known.named) {
    return `Nobody here named ${host}, and the configuration doesn't know it.`;
  }
  if (url !== undefined && !known.named && isInner(host, entry)) {
    return `${host} is inside the network, and nobody here wrote this very URL.`;
  }
  const { sent } = known;
  const labels = isWritten ? 0 : bytesOf([...namesBelow(sent, entry), labelsBelow(host, entry)]);
  if (labels > MAX_LABEL_BYTES)
    return `The names below ${entry} hold ${labels} bytes that nobody wrote.`;
  if (url === undefined) return undefined;
  const urls = [...sent.flatMap((one) => (one.host === host && one.url ? [one.url] : [])), url];
  const bytes = bytesOf(urls.map((one) => unwritten(one, written)));
  if (bytes <= MAX_URL_BYTES) return undefined;
  return `${host} would be told ${bytes} bytes in this run that nobody here wrote.`;
}

function bytesOf(texts: readonly string[]): number {
  return Buffer.byteLength([...new Set(texts)].join(""));
}

/** What of path and query comes after the longest beginning of them that somebody wrote. */
function unwritten(url: URL, written: readonly Places[]): string {
  const href = hrefOf(url);
  let from = href.length - url.pathname.length - url.search.length;
  for (const { urls } of written)
    for (const one of urls) if (one.length > from && href.startsWith(one)) from = one.length;
  return href.slice(from);
}

function namesBelow(sent: readonly Destination[], entry: string | undefined): string[] {
  if (entry?.startsWith("*.") !== true) return [];
  return sent.flatMap(({ host }) =>
    host.endsWith(entry.slice(1).toLowerCase()) ? [labelsBelow(host, entry)] : [],
  );
}

/** The entry of `network.allow` that names the host. */
function entryFor(host: string, network: readonly string[]): string | undefined {
  return network.find((entry) => {
    const isNetwork = ipaddr.isValidCIDR(entry);
    if (isIP(host) !== 0) {
      if (!isNetwork) return canonicalHost(entry) === host;
      const [address, [base, bits]] = [readAddress(host), ipaddr.parseCIDR(entry)];
      return address.kind() === base.kind() && address.match(base, bits);
    }
    const name = entry.toLowerCase().replace(/\.$/, "");
    return name.startsWith("*.") ? host.endsWith(name.slice(1)) : name === host;
  });
}

/** What of a name stands below the domain that is known. */
function labelsBelow(host: string, entry: string | undefined): string {
  return entry?.startsWith("*.") === true ? host.slice(0, host.length + 1 - entry.length) : "";
}

/** Not on the internet. Names need an entry of `network.allow` only where they lead to such addresses. */
function isInner(host: string, entry: string | undefined): boolean {
  if (isIP(host) === 0)
    return entry !== undefined || !host.includes(".") || host.endsWith(".localhost");
  return readAddress(host).range() !== "unicast";
}
