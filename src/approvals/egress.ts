import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type ArgumentKind, canonicalHost, hostOf, readAddress } from "../core/canonical.ts";
import type { JsonObject } from "../core/entry.ts";
import { hrefOf, type Places } from "./places.ts";

/**
 * Where a read sends its arguments, and whether that place is known. A model could leak what it read elsewhere through an
 * address. So once it has read outside text, people are asked about a place that neither a person nor the configuration
 * named, and about a known place that would receive much.
 */

/** Where a call sends something: a host, and the URL if it has one. */
export interface Destination {
  host: string;
  url: URL | undefined;
}

/** The places that are known, and from whom. */
export interface KnownPlaces {
  /** What each full member of the thread wrote. */
  written: readonly Places[];
  /** `network.allow`: addresses, networks, names, `*.domain`. */
  network: readonly string[];
  /** True if a rule that names the place allows the call. */
  named: boolean;
  /** Where the run's earlier calls sent something without asking anybody: many small pieces add up. */
  sent: readonly Destination[];
}

/** Path and query, for one host in one run: more than most checks need, and less than a line of a log. */
const MAX_URL_BYTES = 128;
/** Labels below a known domain, in one run: enough for a long name, and less than a name can carry (RFC 1035: 253). */
const MAX_LABEL_BYTES = 40;

/** The places that arguments of these kinds send to. An argument that cannot be read counts as a place that nobody named. */
export function destinations(
  kinds: Readonly<Record<string, ArgumentKind>>,
  args: JsonObject,
): Destination[] {
  return Object.entries(kinds).flatMap(([name, kind]) => {
    const text = args[name];
    return typeof text === "string" ? destinationOf(kind, text) : [];
  });
}

function destinationOf(kind: ArgumentKind, text: string): Destination[] {
  if (typeof kind === "object") return [];
  switch (kind) {
    case "unit":
      return [];
    case "host":
      return [{ host: canonicalHost(text) ?? text, url: undefined }];
    case "url": {
      const url = URL.parse(text);
      return [url === null ? { host: text, url: undefined } : { host: hostOf(url), url }];
    }
  }
}

/** Why people must be asked before sending there, as a sentence; undefined if they need not be. */
export function whyAsk({ host, url }: Destination, known: KnownPlaces): string | undefined {
  const { written } = known;
  const isWritten = written.some(({ hosts }) => hosts.has(host));
  if (url !== undefined && written.some(({ urls }) => urls.has(hrefOf(url)))) return undefined;
  const entry = entryFor(host, known.network);
  if (!isWritten && entry === undefined && !known.named) {
    return `Nobody here named ${host}, and the configuration doesn't know it.`;
  }
  if (url !== undefined && !known.named && isInner(host, entry)) {
    return `${host} is inside the network, and nobody here wrote exactly this URL. An allow rule for it ends this question.`;
  }
  const { sent } = known;
  const labels = isWritten ? 0 : bytesOf([...namesBelow(sent, entry), labelsBelow(host, entry)]);
  if (labels > MAX_LABEL_BYTES)
    return `The names below ${entry} carry ${labels} bytes that nobody here wrote.`;
  if (url === undefined) return undefined;
  const urls = [...sent.flatMap((one) => (one.host === host && one.url ? [one.url] : [])), url];
  const bytes = bytesOf(urls.map((one) => unwritten(one, written)));
  if (bytes <= MAX_URL_BYTES) return undefined;
  return `In this run ${host} would receive ${bytes} bytes that nobody here wrote.`;
}

function bytesOf(texts: readonly string[]): number {
  return Buffer.byteLength([...new Set(texts)].join(""));
}

/** The end of path and query that nobody wrote: what follows the longest beginning that somebody did. */
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

/** The `network.allow` entry that names the host. */
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

/** The labels of a host below the known domain. */
function labelsBelow(host: string, entry: string | undefined): string {
  return entry?.startsWith("*.") === true ? host.slice(0, host.length + 1 - entry.length) : "";
}

/** True for a place off the internet. Names need an entry in `network.allow` only if they lead to such addresses. */
function isInner(host: string, entry: string | undefined): boolean {
  if (isIP(host) === 0)
    return entry !== undefined || !host.includes(".") || host.endsWith(".localhost");
  return readAddress(host).range() !== "unicast";
}
