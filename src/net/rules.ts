import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type Address, meanings, readAddress } from "../core/canonical.ts";
import { BotError } from "../core/errors.ts";

/** Which addresses may be connected to, beyond public ones. */
export interface NetworkRules {
  /** `network.allow` of watchkeeper.yaml: each one as `isAllowEntry` takes it. */
  allow: readonly string[];
  /** True on the person's own machine (the terminal): loopback and private ranges need no entry in `allow`. */
  local: boolean;
}

/** What a caller asks to be connected to: one address in its usual form, or a name to look up. */
type Host = { kind: "address"; host: string } | { kind: "name"; host: string };

type AddressCheck =
  /** `address` is what to dial: an IPv4 address that came wrapped as IPv6 is unwrapped. */
  | { kind: "allowed"; address: string }
  /** `reason` names the address, the rule and, where one exists, the setting that allows it. */
  | { kind: "refused"; reason: string };

type AddressRange = [Address, number];

/** These hold other machines' and this machine's own services: allowed only locally or by `network.allow`. */
const INNER_RANGES: Readonly<Record<string, string>> = {
  loopback: "a loopback address",
  private: "a private address",
  uniqueLocal: "a unique-local (private) address",
  carrierGradeNat: "a shared (carrier-grade NAT) address",
};

/** Every range that is neither in here, nor inner, nor public is reserved, and refused as that. */
const FORBIDDEN_RANGES: Readonly<Record<string, string>> = {
  linkLocal: "a link-local address, where cloud metadata services answer",
  multicast: "a multicast address",
  broadcast: "the broadcast address",
  unspecified: "an unspecified address",
};

/**
 * Services that hand credentials to any process on a cloud machine, outside the link-local ranges. From each provider's
 * documentation of its instance metadata service. Oracle's classic 192.0.0.192 is in a reserved range.
 */
const METADATA_NETWORKS: readonly AddressRange[] = [
  "168.63.129.16/32", // Azure WireServer
  "100.100.100.200/32", // Alibaba Cloud
  "fd00:100::100:200/128", // Alibaba Cloud
  "fd00:ec2::/32", // AWS: instance metadata, pod identity, DNS, time
  "fd20:ce::254/128", // Google Cloud
  "fd00:c1::a9fe:a9fe/128", // Oracle Cloud
  "fd00:42::42/128", // Scaleway
  "fd00:a9fe:a9fe::1/128", // Akamai (Linode)
].map((text) => ipaddr.parseCIDR(text));

/** All of IPv6 that was ever handed out for the public internet (IANA). */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");
/**
 * True for what `network.allow` may hold: an address, a CIDR (`10.20.0.0/16`), a host name, or `*.` and a domain, which
 * stands for every name below it at any depth. A `*` anywhere else is none of these.
 */
export function isAllowEntry(entry: string): boolean {
  return decodeNetwork(entry) !== undefined || isHostName(entry.replace(/^\*\./, ""));
}

/**
 * Tells addresses from names. Only the usual forms pass, because a resolver reads `0x7f.1`, `0177.0.0.1`, `2130706433`
 * and `127.1` as addresses too, each system a little differently.
 * @throws BotError ADDRESS_REFUSED for other spellings and what cannot be a host name
 */
export function decodeHost(text: string): Host {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (isIP(bare) !== 0) return { kind: "address", host: bare };
  if (isHostName(text)) return { kind: "name", host: text };
  throw new BotError(
    "ADDRESS_REFUSED",
    `${JSON.stringify(text.slice(0, 100))} is neither a host name nor an address in its usual form; write addresses like 10.1.2.3 or 2001:db8::1 (no octal or hexadecimal parts), and names in ASCII.`,
  );
}

/**
 * Makes the check that every address passes before it is dialed. `name` is the host name it was found under, for
 * `*.example.com` in `allow`. Metadata services, link-local, multicast, broadcast, unspecified and reserved addresses
 * are refused whatever `rules` say, and so are zones (`fe80::1%eth0`). An IPv6 address that embeds IPv4 ones is judged as those.
 * @throws BotError CONFIG_INVALID naming every entry of `allow` that `isAllowEntry` does not take
 */
export function createAddressCheck(
  rules: NetworkRules,
): (address: string, name?: string) => AddressCheck {
  const wrong = rules.allow.filter((entry) => !isAllowEntry(entry));
  if (wrong.length > 0) {
    throw new BotError(
      "CONFIG_INVALID",
      `network.allow holds ${wrong.map((entry) => JSON.stringify(entry)).join(", ")}; each entry must be an address, a CIDR such as 10.20.0.0/16, a host name, or *. and a domain.`,
    );
  }
  const networks = rules.allow.map(decodeNetwork).filter((network) => network !== undefined);
  const names = rules.allow.map(withoutDot);

  return (text, name) => {
    if (isIP(text) === 0 || text.includes("%")) {
      return { kind: "refused", reason: `${text} is not an IP address without a zone` };
    }
    const address = readAddress(text);
    const granted = rules.local || (name !== undefined && isNamed(withoutDot(name), names));
    for (const meant of meanings(address)) {
      const problem = checkAddress(meant, granted, networks);
      if (problem === undefined) continue;
      const as = meant === address ? "" : ` (which stands for ${String(meant)})`;
      return { kind: "refused", reason: `${String(address)}${as} is ${problem}` };
    }
    return { kind: "allowed", address: String(address) };
  };
}

/** What is wrong with an address that embeds no other, or undefined. */
function checkAddress(
  address: Address,
  granted: boolean,
  networks: readonly AddressRange[],
): string | undefined {
  const never = "no setting allows that";
  if (isIn(address, METADATA_NETWORKS)) return `a cloud metadata service; ${never}`;
  const range = address.range();
  const inner = INNER_RANGES[range];
  if (inner !== undefined) {
    if (granted || isIn(address, networks)) return undefined;
    return `${inner}; to allow it, list it, its network or its host name under network.allow in watchkeeper.yaml`;
  }
  if (range === "unicast" && (address.kind() === "ipv4" || isIn(address, [GLOBAL_UNICAST]))) {
    return undefined;
  }
  return `${FORBIDDEN_RANGES[range] ?? "a reserved address"}; ${never}`;
}

function isIn(address: Address, networks: readonly AddressRange[]): boolean {
  return networks.some(
    ([base, bits]) => base.kind() === address.kind() && address.match(base, bits),
  );
}

function isNamed(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.startsWith("*.") ? name.endsWith(pattern.slice(1)) : name === pattern,
  );
}

function decodeNetwork(text: string): AddressRange | undefined {
  const base = text.replace(/\/\d{1,3}$/, "");
  if (isIP(base) === 0 || base.includes("%")) return undefined;
  const cidr = base === text ? `${text}/${isIP(text) === 4 ? 32 : 128}` : text;
  return ipaddr.isValidCIDR(cidr) ? ipaddr.parseCIDR(cidr) : undefined;
}

/** ASCII labels of which the last is no number: WHATWG URL 3.5 calls everything else an IPv4 address. */
function isHostName(text: string): boolean {
  const name = withoutDot(text);
  return (
    name.length <= 253 &&
    /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(name) &&
    !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(name)
  );
}

/** `db.example.com.` is `db.example.com`, only without the search list. */
function withoutDot(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}
