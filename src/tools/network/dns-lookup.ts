import ipaddr from "ipaddr.js";
import * as z from "zod";
import { codeOf } from "../../core/errors.ts";
import { bySeverity, type Finding } from "../../core/finding.ts";
import { formatElapsed } from "../../core/instant.ts";
import { counted } from "../../core/text.ts";
import { untilAborted } from "../../core/time-limit.ts";
import {
  addressesHere,
  askDns,
  type DnsAnswer,
  type DnsTold,
  RECORD_TYPES,
} from "../../net/dns.ts";
import { decodeHost } from "../../net/rules.ts";
import type { Encoder } from "../../security/encoder.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { CHECK_TIMEOUT_MS, printablePart } from "./format.ts";

const ADDRESSES = ["A", "AAAA"] as const;
const MAX_SHOWN = 30;
const MAX_VALUE = 500;

const input = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(260)
    .meta({ description: "Host name or IP address", examples: ["db.example.com"] }),
  type: z.enum(RECORD_TYPES).optional().describe("Not given: A and AAAA; PTR of an address"),
  resolver: z
    .string()
    .min(1)
    .max(260)
    .optional()
    .describe("Ask this DNS server too, such as 1.1.1.1, and compare"),
});
type Input = z.infer<typeof input>;

interface Lookups extends Omit<Parameters<typeof askDns>[1], "signal"> {
  /** In place of this machine's DNS servers. */
  servers?: readonly string[];
  /** As programs on this machine look names up. */
  lookup?: typeof addressesHere;
}

/** What DNS says of a name, by this machine's servers, by one that is named, and what programs here make of it. */
export function createDnsLookup(lookups: Lookups = {}) {
  return defineTool<Input>({
    name: "dns_lookup",
    summary: "asks DNS for a name's records; tells missing, failing and silent servers apart",
    description:
      "Asks DNS for records of a name (or the name of an address), with the time it took, and compares: this machine's DNS, another DNS server, and what programs here get with hosts file and search domains. Tells a name that does not exist from a server that fails or does not answer.",
    input,
    effect: "read",
    kinds: { name: "host", resolver: "host" },
    limits: { perRun: 20, perPersonHour: 60 },
    timeoutMs: CHECK_TIMEOUT_MS,
    diagnoses: true,
    doing: ({ name }) => `Looking up ${name}`,
    async preview({ name, resolver }) {
      return {
        lines: [
          {
            label: "Asks for",
            value: `${name}${resolver === undefined ? "" : `, also of ${resolver}`}`,
          },
        ],
        blastRadius: `Whoever answers for ${name} learns that it was looked up. Nothing else is sent.`,
        undo: "What was sent can't be taken back.",
      };
    },
    run: (given, ctx) => look(given, lookups, ctx),
  });
}

/** What one resolver said, and how people call it. */
interface Told extends DnsTold {
  server: string;
}

async function look({ name, type, resolver }: Input, lookups: Lookups, ctx: ToolContext) {
  const { host, kind } = decodeHost(name);
  const asked = kind === "address" ? arpaName(host) : host;
  const types = type === undefined ? (kind === "address" ? (["PTR"] as const) : ADDRESSES) : [type];
  const isAddress = kind === "name" && types.every((each) => each === "A" || each === "AAAA");
  const other = resolver === undefined ? undefined : await ctx.resolve(resolver);
  const { signal } = ctx;
  const ask = async (servers: readonly string[] | undefined, title?: string): Promise<Told> => {
    const told = await askDns({ name: asked, types, servers }, { ...lookups, signal });
    return { ...told, server: title ?? `this machine's DNS (${told.servers})` };
  };
  const [own, named, here] = await Promise.all([
    ask(lookups.servers),
    // By the very addresses that the rules allowed.
    other && ask(other, resolver),
    isAddress ? askMachine(host, lookups, signal) : undefined,
  ]);
  const all = named === undefined ? [own] : [own, named];
  const findings = [
    ...(named === undefined ? [] : disagreements(host, own, named)),
    ...(here === undefined ? [] : machineFindings(host, own, here)),
    ...all.flatMap((told) => troubles(host, told, here?.addresses.length ?? 0)),
  ];
  const text = [
    ...all.flatMap((told) => rowsOf(told, ctx.encoder)),
    ...(here === undefined ? [] : [`Programs on this machine get ${machineText(here)}.`]),
  ];
  return { text: text.join("\n"), findings: findings.toSorted(bySeverity) };
}

/** `4.3.2.1.in-addr.arpa` (RFC 1035, 3.5; RFC 3596, 2.5). */
function arpaName(address: string): string {
  const bytes = ipaddr.parse(address).toByteArray();
  if (bytes.length === 4) return `${bytes.toReversed().join(".")}.in-addr.arpa`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15]).toReversed();
  return `${nibbles.map((nibble) => nibble.toString(16)).join(".")}.ip6.arpa`;
}

interface Machine {
  addresses: readonly string[];
  problem: string | undefined;
}

const MACHINE_MS = 8_000;

async function askMachine(
  name: string,
  { lookup = addressesHere }: Lookups,
  signal: AbortSignal,
): Promise<Machine> {
  const late = AbortSignal.timeout(MACHINE_MS);
  try {
    const addresses = await untilAborted(lookup(name), AbortSignal.any([signal, late]));
    return { addresses, problem: undefined };
  } catch (error) {
    signal.throwIfAborted();
    return {
      addresses: [],
      problem: late.aborted ? "no answer" : (codeOf(error) ?? String(error)),
    };
  }
}

function machineText({ addresses, problem }: Machine): string {
  return problem === undefined ? addresses.slice(0, MAX_SHOWN).join(", ") : `none (${problem})`;
}

function rowsOf({ server, answers, chain }: Told, encoder: Encoder): string[] {
  const shown = (value: string) => printablePart(value, MAX_VALUE, encoder);
  const rows = answers.map(({ type, values, problem, ms }) => {
    const more = values.length > MAX_SHOWN ? ` and ${values.length - MAX_SHOWN} more` : "";
    const listed = values.slice(0, MAX_SHOWN).map(shown).join(", ");
    return `  ${type} ${problem ?? `${listed}${more}`} (${formatElapsed(ms)})`;
  });
  const stands = chain.length === 0 ? [] : [`  CNAME → ${chain.map(shown).join(" → ")}`];
  return [`By ${server}:`, ...stands, ...rows];
}

/** The same of all types, or undefined. */
function problemIn({ answers }: Told): string | undefined {
  const problems = new Set(answers.map(({ problem }) => problem));
  return problems.size === 1 ? answers[0]?.problem : answers.find(isFailure)?.problem;
}

/** Neither records nor that there are none. */
function isFailure({ problem }: DnsAnswer): boolean {
  return problem !== undefined && problem !== "NODATA" && problem !== "NXDOMAIN";
}

function finding(
  name: string,
  severity: Finding["severity"],
  { cause, evidence, fix }: Pick<Finding, "cause" | "evidence" | "fix">,
): Finding {
  const object = { kind: "Name", namespace: "", name };
  return { object, cause, severity, evidence, ...(fix !== undefined && { fix }), since: null };
}

/** `elsewhere`: so many addresses have programs on this machine all the same. */
function troubles(name: string, told: Told, elsewhere: number): Finding[] {
  const problem = problemIn(told);
  const { server, answers, chain } = told;
  const types = answers.map(({ type }) => type).join(" and ");
  if (problem === undefined) return [];
  const last = chain.at(-1);
  if ((problem === "NXDOMAIN" || problem === "NODATA") && last !== undefined)
    return [
      finding(name, "error", {
        cause: `dangling CNAME: it points to ${last}, which has no ${types} (${problem})`,
        evidence: `${[name, ...chain].join(" → ")}, by ${server}.`,
        fix: `Correct the CNAME, or create ${last} again: whoever else registers that name takes this one over.`,
      }),
    ];
  const severity = elsewhere > 0 ? "info" : "error";
  if (problem === "NXDOMAIN")
    return [
      finding(name, severity, {
        cause: "NXDOMAIN: the name does not exist",
        evidence: `According to ${server}.`,
      }),
    ];
  if (problem === "NODATA")
    return [
      finding(name, "info", {
        cause: `it has no ${types} record (NODATA)`,
        evidence: `According to ${server}; other types may exist.`,
      }),
    ];
  const fix =
    problem === "SERVFAIL"
      ? "Ask another resolver: where that one answers, this one fails; where both fail, the domain's authoritative servers or its DNSSEC do."
      : `Check that ${server} is up and that a firewall lets DNS through.`;
  return [
    finding(name, "error", {
      cause: `${problem} from ${server}`,
      evidence: `Asked for ${types}; whether the name exists is not known.`,
      fix,
    }),
  ];
}

/** What two servers say of the same name. */
function disagreements(name: string, own: Told, named: Told): Finding[] {
  return own.answers.flatMap((mine) => {
    const theirs = named.answers.find(({ type }) => type === mine.type);
    if (theirs === undefined || isFailure(mine) || isFailure(theirs)) return [];
    const differ = mine.problem !== theirs.problem || areApart(mine.values, theirs.values);
    if (!differ) return [];
    const said = ({ problem, values }: DnsAnswer) => problem ?? counted(values.length, "record");
    // A name may well have other addresses at another place.
    const severity = mine.problem === theirs.problem ? "info" : "warning";
    return [
      finding(name, severity, {
        cause: `resolvers disagree about ${mine.type}`,
        evidence: `${own.server}: ${said(mine)}; ${named.server}: ${said(theirs)}${severity === "info" ? ", none the same" : ""}.`,
        fix: "A stale cache, or split-horizon DNS: compare with the domain's authoritative servers.",
      }),
    ];
  });
}

function machineFindings(name: string, own: Told, { addresses, problem }: Machine): Finding[] {
  const known = own.answers.flatMap(({ values }) => values);
  if (own.answers.some(isFailure)) return [];
  if (known.length === 0 && addresses.length > 0)
    return [
      finding(name, "info", {
        cause:
          "only this machine resolves it, by its hosts file or a search domain; DNS does not have it",
        evidence: `Programs here get ${addresses.join(", ")}.`,
      }),
    ];
  if (known.length > 0 && problem !== undefined)
    return [
      finding(name, "error", {
        cause: `programs on this machine cannot look it up (${problem}), though DNS answers`,
        evidence: `DNS has ${counted(known.length, "record")}.`,
        fix: "Look at /etc/nsswitch.conf and /etc/resolv.conf.",
      }),
    ];
  if (known.length > 0 && areApart(known, addresses))
    return [
      finding(name, "warning", {
        cause: "programs on this machine get other addresses than DNS gives",
        evidence: `Programs here: ${addresses.join(", ")}; DNS: ${known.join(", ")}.`,
        fix: "Look at /etc/hosts.",
      }),
    ];
  return [];
}

/** They have nothing in common. */
function areApart(some: readonly string[], others: readonly string[]): boolean {
  const bare = (value: string) => value.replace(/ \(TTL \d+ s\)$/, "");
  const known = new Set(some.map(bare));
  return others.length > 0 && known.size > 0 && !others.some((each) => known.has(bare(each)));
}
