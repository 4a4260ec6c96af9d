import { addAbortListener } from "node:events";
import { lookup, Resolver } from "node:dns/promises";
import { codeOf } from "../core/errors.ts";
import { formatAddress } from "./format.ts";

/** What DNS servers say, asked as programs ask them: by UDP, and by TCP where an answer is long. */

export const RECORD_TYPES = [
  "A",
  "AAAA",
  "CNAME",
  "MX",
  "TXT",
  "SRV",
  "NS",
  "SOA",
  "PTR",
  "CAA",
] as const;
type RecordType = (typeof RECORD_TYPES)[number];

/** How each is asked for and written. Node tells the TTL of addresses only. */
const READERS: Readonly<Record<RecordType, (dns: Resolver, name: string) => Promise<string[]>>> = {
  A: async (dns, name) => (await dns.resolve4(name, { ttl: true })).map(withTtl),
  AAAA: async (dns, name) => (await dns.resolve6(name, { ttl: true })).map(withTtl),
  CNAME: (dns, name) => dns.resolveCname(name),
  MX: async (dns, name) =>
    (await dns.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${exchange || "."}`),
  TXT: async (dns, name) =>
    (await dns.resolveTxt(name)).map((parts) => JSON.stringify(parts.join(""))),
  SRV: async (dns, name) =>
    (await dns.resolveSrv(name)).map(
      (each) => `${each.priority} ${each.weight} ${each.port} ${each.name}`,
    ),
  NS: (dns, name) => dns.resolveNs(name),
  SOA: async (dns, name) => {
    const { nsname, hostmaster, serial, minttl } = await dns.resolveSoa(name);
    return [`${nsname} ${hostmaster} serial ${serial}, negative answers are cached ${minttl} s`];
  },
  PTR: (dns, name) => dns.resolvePtr(name),
  CAA: async (dns, name) =>
    (await dns.resolveCaa(name)).map(({ critical, ...each }) => {
      const [property, value] = Object.entries(each).find(([key]) => key !== "type") ?? [];
      return `${critical} ${property} ${JSON.stringify(value)}`;
    }),
};

function withTtl({ address, ttl }: { address: string; ttl: number }): string {
  return `${address} (TTL ${ttl} s)`;
}

/** CNAMEs in a row. */
const MAX_CHAIN = 8;

export interface DnsAnswer {
  type: RecordType;
  values: string[];
  /** Undefined: there are records. */
  problem: string | undefined;
  ms: number;
}

/** What one resolver said. */
export interface DnsTold {
  /** `10.0.0.2, 10.0.0.3` */
  servers: string;
  answers: DnsAnswer[];
  /** The CNAMEs that lead on from the name, in order. */
  chain: string[];
}

interface Limits {
  signal: AbortSignal;
  port?: number;
  /** Of the first try; a second one takes twice as long. */
  timeoutMs?: number;
  tries?: number;
}

/** `servers`: addresses that the rules allow (`Network.resolve`), the first that answers counts; undefined: this machine's own. */
export async function askDns(
  {
    name,
    types,
    servers,
  }: { name: string; types: readonly RecordType[]; servers: readonly string[] | undefined },
  { signal, port = 53, timeoutMs = 2_000, tries = 2 }: Limits,
): Promise<DnsTold> {
  const dns = new Resolver({ timeout: timeoutMs, tries });
  if (servers !== undefined) dns.setServers(servers.map((each) => formatAddress(each, port)));
  const bound = addAbortListener(signal, () => dns.cancel());
  try {
    const follows = types.some((type) => type !== "CNAME" && type !== "PTR");
    const [chain, ...answers] = await Promise.all([
      follows ? chainOf(dns, name) : [],
      ...types.map((type) => ask(dns, type, name)),
    ]);
    signal.throwIfAborted();
    return { servers: dns.getServers().join(", "), answers, chain };
  } finally {
    bound[Symbol.dispose]();
  }
}

async function ask(dns: Resolver, type: RecordType, name: string): Promise<DnsAnswer> {
  const began = performance.now();
  const answer = await READERS[type](dns, name).then(
    (values) => ({ values, problem: values.length === 0 ? "NODATA" : undefined }),
    (error: unknown) => ({ values: [], problem: problemOf(codeOf(error) ?? String(error)) }),
  );
  return { type, ...answer, ms: performance.now() - began };
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOTFOUND: "NXDOMAIN",
  ETIMEOUT: "no answer",
  ECONNREFUSED: "connection refused",
  EBADRESP: "an answer that cannot be read",
};

/** As DNS itself calls it (RFC 1035, 4.1.1), where it has a word for it. */
function problemOf(code: string): string {
  return PROBLEMS[code] ?? code.replace(/^E/, "");
}

async function chainOf(dns: Resolver, name: string): Promise<string[]> {
  const chain: string[] = [];
  let at = name;
  while (chain.length < MAX_CHAIN) {
    const [next] = await dns.resolveCname(at).catch(() => []);
    if (next === undefined || next === name || chain.includes(next)) break;
    chain.push(next);
    at = next;
  }
  return chain;
}

/** As programs on this machine get them: hosts file and search domains count. */
export async function addressesHere(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
