import * as fc from "fast-check";
import { BlockList, isIPv4 } from "node:net";

/** Refused whatever is configured. Each one leads to a metadata service, or to nothing that could be meant. */
export const NEVER = [
  "169.254.169.254",
  "169.254.170.2",
  "169.254.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "fe80::1",
  "fe80::a9fe:a9fe",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "::ffff:0:169.254.169.254",
  "::169.254.169.254",
  "64:ff9b::169.254.169.254",
  "64:ff9b:1::169.254.169.254",
  "64:ff9b:1::8.8.8.8",
  "2002:a9fe:a9fe::1",
  "2001:0:a9fe:a9fe::1",
  "2001:0:808:808::5601:5601",
  "0.0.0.0",
  "::",
  "224.0.0.1",
  "ff02::1",
  "255.255.255.255",
  "240.0.0.1",
  "198.18.0.1",
  "2001:db8::1",
  "fec0::1",
  "4000::1",
];

/** Refused unless it is the person's own machine, or `network.allow` lists them. */
export const INNER = [
  "127.0.0.1",
  "127.255.0.9",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.254",
  "192.168.1.1",
  "100.64.0.1",
  "::1",
  "fd12:3456::1",
  "::ffff:127.0.0.1",
  "::127.0.0.1",
  "::7f00:1",
  "64:ff9b::10.0.0.1",
  "2002:7f00:1::1",
];

/** A second opinion, from Node's own block list. */
const GUILTY = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const network of [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24",
  "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
  "::/3 4000::/2 8000::/1 2001:2::/48 2001:10::/28 2001:db8::/32 3fff::/20",
].flatMap((line) => line.split(" "))) {
  const [base = "", bits = ""] = network.split("/");
  const family = isIPv4(base) ? "ipv4" : "ipv6";
  GUILTY[family].addSubnet(base, Number(bits), family);
}
const GRANTED = new BlockList();
export const GRANTED_ENTRIES = ["10.20.0.0/16", "fd12::/32"];
GRANTED.addSubnet("10.20.0.0", 16, "ipv4");
GRANTED.addSubnet("fd12::", 32, "ipv6");

/** True for what may be dialed with `GRANTED_ENTRIES` in network.allow, and nothing else allowed. */
export function isInnocent(address: string): boolean {
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  // These prefixes carry IPv4 addresses, about which the property on wrappings speaks.
  if (/^(64:ff9b::|::ffff:0:|2002:|2001:0?:)/.test(address)) return true;
  return GRANTED.check(address, family) || !GUILTY[family].check(address, family);
}

export const anyIpv4 = fc.oneof(
  fc.ipV4(),
  fc
    .tuple(
      fc.constantFrom(
        "127.0",
        "10.20",
        "10.3",
        "169.254",
        "192.168",
        "172.20",
        "100.64",
        "8.8",
        "224.0",
        "0.0",
      ),
      fc.nat(255),
      fc.nat(255),
    )
    .map((parts) => parts.join(".")),
);

/** IPv6 addresses that stand for an IPv4 address. */
export const WRAPPINGS: ((ipv4: string) => string)[] = [
  (ipv4) => `::ffff:${ipv4}`,
  (ipv4) => `::ffff:${hexPairs(ipv4)}`,
  (ipv4) => `[::ffff:${ipv4}]`,
  (ipv4) => `0:0:0:0:0:FFFF:${ipv4}`,
  (ipv4) => `::ffff:0:${ipv4}`,
  (ipv4) => `64:ff9b::${ipv4}`,
  (ipv4) => `2002:${hexPairs(ipv4)}::1`,
  (ipv4) => `2001:0:${hexPairs(ipv4)}:0:0:${hexPairs("247.247.247.247")}`,
  (ipv4) => `2001:0:808:808:0:0:${hexPairs(ipv4, 0xff)}`,
];

/** Texts that some program somewhere reads as an IPv4 address. */
export const SPELLINGS: ((ipv4: string) => string)[] = [
  (ipv4) => String(toNumber(ipv4)),
  (ipv4) => `0x${toNumber(ipv4).toString(16)}`,
  (ipv4) => `0${toNumber(ipv4).toString(8)}`,
  (ipv4) =>
    octets(ipv4)
      .map((octet) => `0x${octet.toString(16)}`)
      .join("."),
  (ipv4) =>
    octets(ipv4)
      .map((octet) => `0${octet.toString(8)}`)
      .join("."),
  (ipv4) => `${octets(ipv4)[0]}.${toNumber(ipv4) % 2 ** 24}`,
  (ipv4) => `${ipv4}.`,
  (ipv4) => `${ipv4}%eth0`,
  (ipv4) => ipv4.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (ipv4) => ipv4,
];

export const anyAddress = fc.oneof(
  anyIpv4,
  fc.ipV6(),
  fc.tuple(anyIpv4, fc.constantFrom(...WRAPPINGS)).map(([ipv4, wrap]) => wrap(ipv4)),
  fc
    .tuple(fc.constantFrom("fd12", "fd00", "fe80", "2001:db8", "2606:4700", "::"), fc.nat(0xffff))
    .map(([prefix, last]) => `${prefix.replace(/::$/, "")}::${last.toString(16)}`),
  fc.constantFrom(...NEVER, ...INNER),
);

function octets(ipv4: string): number[] {
  return ipv4.split(".").map(Number);
}

function toNumber(ipv4: string): number {
  return octets(ipv4).reduce((sum, octet) => sum * 256 + octet, 0);
}

/** `7f00:1` for 127.0.0.1, each byte combined with `mask` by exclusive or. */
function hexPairs(ipv4: string, mask = 0): string {
  const [a = 0, b = 0, c = 0, d = 0] = octets(ipv4).map((octet) => octet ^ mask);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
