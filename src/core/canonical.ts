import { isIP } from "node:net";
import { resolve } from "node:path";
import { domainToASCII } from "node:url";
import ipaddr from "ipaddr.js";

/**
 * One form for everything that can be spelled in several ways, so that a rule for it holds for every spelling. Nothing here
 * looks anything up: a link is resolved by the tool that opens it, a name by whoever connects.
 */

/** What an argument names, and so how rules compare it. `paths`: a relative path is meant below each of these folders. */
export type ArgumentKind = "url" | "host" | "unit" | { readonly paths: readonly string[] };

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** RFC 4291, 2.5.5.1: `::127.0.0.1`. Deprecated, and some systems still connect to the IPv4 address. */
const IPV4_COMPATIBLE = ipaddr.parseCIDR("::/96");
/** RFC 8215: NAT64 with a layout of the network's own choice, so what it embeds cannot be known. */
const LOCAL_NAT64 = ipaddr.parseCIDR("64:ff9b:1::/48");

/**
 * An address in its usual form, as `node:net` takes it: `::ffff:10.1.2.3` and `::10.1.2.3` are `10.1.2.3`.
 * @throws Error for anything else
 */
export function readAddress(text: string): Address {
  const address = ipaddr.process(text);
  const compatible =
    address.kind() === "ipv6" &&
    address.range() === "unicast" &&
    address.match(IPV4_COMPATIBLE[0], IPV4_COMPATIBLE[1]);
  return compatible ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

/** The addresses that traffic to `address` can end up at. */
export function meanings(address: Address): Address[] {
  if (address.kind() === "ipv4" || address.match(LOCAL_NAT64[0], LOCAL_NAT64[1])) return [address];
  const bytes = address.toByteArray();
  const embedded = (start: number): ipaddr.IPv4 => new ipaddr.IPv4(bytes.slice(start, start + 4));
  // ipaddr.js knows more ranges than its types do.
  const range: string = address.range();
  switch (range) {
    case "rfc6145": // IPv4-translated, ::ffff:0:1.2.3.4
    case "rfc6052": // NAT64, 64:ff9b::1.2.3.4
      return [embedded(12)];
    case "6to4":
      return [embedded(2)];
    case "teredo": // the relay, and the client with its bits inverted (RFC 4380, 4)
      return [embedded(4), new ipaddr.IPv4(bytes.slice(12).map((byte) => 255 - byte))];
    default:
      return [address];
  }
}

/**
 * A host as rules compare it: an address by its value, a name in lower case and ASCII without a final dot. Spellings that
 * only some systems read (`0x7f.1`, `２１３`) count as what the URL standard takes them for. Undefined: it is no host.
 */
export function canonicalHost(text: string): string | undefined {
  // Who connects takes brackets off any address, and the URL standard off those of IPv6 only.
  const bare = withoutBrackets(text.trim());
  if (bare === "" || /[/?#@\\\s]/.test(bare)) return undefined;
  const host = bare.includes(":") ? `[${bare}]` : bare;
  const url = URL.parse(`http://${host}/`);
  return url === null || url.port !== "" ? undefined : hostOf(url);
}

/** `::1` for `[::1]` */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** The host of a URL in the form of `canonicalHost`. */
export function hostOf({ hostname }: URL): string {
  const name = withoutBrackets(hostname).replace(/\.+$/, "");
  return isIP(name) === 0 ? name : String(readAddress(name));
}

/** The host, and where traffic to it can end up, for rules that hold a call up. */
export function hostMeanings(host: string): string[] {
  if (isIP(host) === 0) return [host];
  return [...new Set([host, ...meanings(readAddress(host)).map(String)])];
}

/** A host as a rule writes it, stars included. */
export function canonicalHostPattern(pattern: string): string {
  if (!pattern.includes("*")) return canonicalHost(pattern) ?? pattern.toLowerCase();
  const name = pattern.replace(/\.+$/, "");
  // Empty for what is no name, such as `10.1.*`.
  return domainToASCII(name) || name.toLowerCase();
}

/** A service's name: systemd and `service` take `nginx.service` for `nginx`. */
export function canonicalUnit(name: string): string {
  return name.replace(/\.service$/i, "");
}

/** The absolute paths that a path can mean, without `.`, `..` and doubled slashes. */
export function canonicalPaths(path: string, folders: readonly string[]): string[] {
  return path.startsWith("/") ? [resolve(path)] : folders.map((folder) => resolve(folder, path));
}
