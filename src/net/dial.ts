import type { Duplex } from "node:stream";
import { once } from "node:events";
import net from "node:net";
import { BotError, codeOf } from "../core/errors.ts";
import { untilAborted } from "../core/time-limit.ts";
import { addressesHere } from "./dns.ts";
import { formatAddress } from "./format.ts";
import { type Proxies, type Proxy, proxyName, readProxies, type Scheme } from "./proxy.ts";
import { createAddressCheck, decodeHost, type NetworkRules } from "./rules.ts";
import { bindTo, openTunnel } from "./tunnel.ts";

interface DialOptions {
  /** All addresses of a name, in the order to try them. Default: the system's resolver, hosts file included. */
  lookup?: (name: string) => Promise<readonly string[]>;
  /** Default 5 000. */
  lookupTimeoutMs?: number;
  /** For all addresses of a name together. Default 5 000. */
  connectTimeoutMs?: number;
  /** Default: the environment's. */
  proxies?: Proxies;
}

interface Call {
  signal: AbortSignal;
  /** The configuration itself names the host for this: it needs no entry in `network.allow`. */
  configured?: boolean;
  /**
   * What is spoken there, where that may go through a proxy. To a host that the configuration names the proxy connects by its name.
   * Any other is looked up and checked here, and the proxy is told the address: what it finds by itself could be any.
   */
  scheme?: Scheme | undefined;
  /** Another server named the host: inner addresses need an entry in `network.allow` on the person's own machine too. */
  foreign?: boolean;
}

/** Outgoing connections, by the network rules. */
export type Network = ReturnType<typeof createNetwork>;

export interface Dialed {
  socket: Duplex;
  /** The one address that was looked up, checked and connected to; a name where a proxy looks it up. */
  address: string;
  /** The proxy that connected to it, such as `proxy.example.com:3128`. */
  via?: string;
  port: number;
  /** Milliseconds to look the name up (0 for a literal address) and to connect. */
  dnsMs: number;
  connectMs: number;
}

interface Failure {
  /** As a person writes it, `[::1]:443`. */
  at: string;
  timeoutMs: number;
  error: unknown;
}

/**
 * Makes the one way to the network. A name is looked up once, every answer is checked, and a checked address is dialed as
 * that address, so a name that answers differently the next time gains nothing. Answers that may not be dialed are passed
 * over rather than spoiling the others: harmless names have such neighbours (mDNS adds link-local ones), and nothing is
 * ever sent to them. Allowed answers are tried one after the other.
 * @throws BotError CONFIG_INVALID when `rules.allow` has mistakes
 */
export function createNetwork(rules: NetworkRules, options: DialOptions = {}) {
  const { lookup = addressesHere, lookupTimeoutMs = 5_000, connectTimeoutMs = 5_000 } = options;
  const proxies = options.proxies ?? readProxies();
  const checkFor = (allow: readonly string[]) => createAddressCheck({ ...rules, allow });
  const checkListed = checkFor(rules.allow);
  const checkForeign = createAddressCheck({ ...rules, local: false });

  async function resolve(text: string, { signal, configured = false, foreign = false }: Call) {
    const target = decodeHost(text);
    const listed = foreign ? checkForeign : checkListed;
    const check = configured ? checkFor([...rules.allow, target.host.toLowerCase()]) : listed;
    const started = performance.now();
    const isName = target.kind === "name";
    const answers = isName
      ? await answersOf(target.host, lookup, lookupTimeoutMs, signal)
      : [target.host];
    const dnsMs = isName ? performance.now() - started : 0;

    const checks = answers.map((answer) => check(answer, isName ? target.host : undefined));
    const addresses = new Set(checks.flatMap((it) => (it.kind === "allowed" ? it.address : [])));
    if (addresses.size > 0) return { addresses: [...addresses], dnsMs };
    const reasons = new Set(checks.flatMap((it) => (it.kind === "refused" ? it.reason : [])));
    const found = isName ? `${target.host} resolves to addresses that may not be used: ` : "";
    throw new BotError("ADDRESS_REFUSED", `${found}${[...reasons].slice(0, 3).join("; ")}.`);
  }

  return {
    /**
     * The addresses of a host that may be connected to.
     * @throws BotError ADDRESS_REFUSED when there are only others; ADDRESS_UNKNOWN, ABORTED
     */
    resolve: async (host: string, call: Call): Promise<readonly string[]> =>
      (await resolve(host, call)).addresses,
    /**
     * Connects to one of those addresses. When the call's signal aborts, the socket is destroyed.
     * @throws as `resolve`; BotError CONNECTION_FAILED, INPUT_INVALID
     */
    async dial(host: string, port: number, call: Call): Promise<Dialed> {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) {
        throw new BotError("INPUT_INVALID", `${port} is not a port; ports go from 1 to 65535.`);
      }
      const { scheme, signal } = call;
      const proxy = scheme && proxies.to(scheme, host, port);
      if (proxy !== undefined && call.configured === true && decodeHost(host).kind === "name")
        return { ...(await connectThrough(proxy, [host], port, signal)), port, dnsMs: 0 };
      const { addresses, dnsMs } = await resolve(host, call);
      // NO_PROXY may name the network that a host turns out to be in.
      const [first = ""] = addresses;
      const used = scheme && proxies.to(scheme, host, port, first);
      const dialed =
        used === undefined
          ? await connectAny(addresses, port, connectTimeoutMs, signal)
          : await connectThrough(used, addresses, port, signal);
      return { ...dialed, port, dnsMs };
    },
    /**
     * Connects to a Unix socket that the configuration names.
     * @throws BotError CONNECTION_FAILED, ABORTED
     */
    async dialSocket(path: string, { signal }: Call): Promise<Dialed> {
      const started = performance.now();
      try {
        const socket = await connect({ path }, connectTimeoutMs, signal);
        const connectMs = performance.now() - started;
        return { socket, address: path, port: 0, dnsMs: 0, connectMs };
      } catch (error) {
        if (signal.aborted) throw stopped(error);
        const text = describeFailure({ at: path, timeoutMs: connectTimeoutMs, error });
        throw new BotError("CONNECTION_FAILED", text, { cause: error });
      }
    },
  };
}

/** @throws BotError ADDRESS_UNKNOWN, ABORTED */
async function answersOf(
  name: string,
  lookup: (name: string) => Promise<readonly string[]>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    // The system's resolver cannot be stopped; its late answer is dropped.
    const answers = await untilAborted(lookup(name), AbortSignal.any([signal, late]));
    if (answers.length > 0) return answers;
  } catch (error) {
    if (signal.aborted) throw stopped(error);
    if (late.aborted) {
      throw new BotError(
        "ADDRESS_UNKNOWN",
        `looking up ${name} took longer than ${seconds(timeoutMs)}: this machine's DNS server does not answer`,
        { cause: error },
      );
    }
    throw new BotError("ADDRESS_UNKNOWN", unknownHost(name, codeOf(error) ?? String(error)), {
      cause: error,
    });
  }
  throw new BotError("ADDRESS_UNKNOWN", unknownHost(name, "no addresses"));
}

/** @throws BotError CONNECTION_FAILED, telling of every address that was tried; ABORTED */
async function connectAny(
  addresses: readonly string[],
  port: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ socket: net.Socket; address: string; connectMs: number }> {
  const deadline = performance.now() + timeoutMs;
  const failures: Failure[] = [];
  for (const [index, address] of addresses.entries()) {
    const started = performance.now();
    // Those still to come keep their share, so a silent first address does not use up all the time.
    const shareMs = Math.max(1, Math.ceil((deadline - started) / (addresses.length - index)));
    try {
      const socket = await connect({ host: address, port }, shareMs, signal);
      return { socket, address, connectMs: performance.now() - started };
    } catch (error) {
      if (signal.aborted) throw stopped(error);
      failures.push({ at: formatAddress(address, port), timeoutMs: shareMs, error });
    }
  }
  throw new BotError("CONNECTION_FAILED", failures.map(describeFailure).join("; "), {
    cause: failures.at(-1)?.error,
  });
}

/** By the first of these that the proxy reaches. @throws as `openTunnel` */
async function connectThrough(
  proxy: Proxy,
  hosts: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Pick<Dialed, "socket" | "address" | "connectMs" | "via">> {
  let last: unknown;
  for (const host of hosts) {
    const started = performance.now();
    try {
      const socket = await openTunnel(proxy, { host, port }, { signal });
      bindTo(signal, socket);
      const connectMs = performance.now() - started;
      return { socket, address: host, connectMs, via: proxyName(proxy) };
    } catch (error) {
      if (signal.aborted) throw error;
      last = error;
    }
  }
  throw last;
}

async function connect(
  to: net.NetConnectOpts,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<net.Socket> {
  signal.throwIfAborted();
  const socket = net.connect(to);
  // Without a listener, a reset while nobody reads would end the process.
  socket.on("error", () => {});
  bindTo(signal, socket);
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    await once(socket, "connect", { signal: limit });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function describeFailure({ at, timeoutMs, error }: Failure): string {
  const code = codeOf(error) ?? String(error);
  switch (code) {
    case "ECONNREFUSED":
      return `connection refused by ${at} (the machine answers, but nothing listens on that port)`;
    case "ABORT_ERR":
    case "ETIMEDOUT":
      return `no answer from ${at} within ${seconds(timeoutMs)} (a firewall drops it, or the machine is down)`;
    case "EHOSTUNREACH":
      return `${at} is unreachable (no route to the machine, or it is down)`;
    case "ENETUNREACH":
    case "EADDRNOTAVAIL":
      return `${at} is unreachable (this machine has no route to that network)`;
    case "ECONNRESET":
      return `connection reset by ${at}`;
    case "ENOENT":
      return `there is no socket ${at}`;
    case "EACCES":
    case "EPERM":
      if (at.startsWith("/")) return `this process may not use the socket ${at}`;
      return `this machine's own firewall forbids connections to ${at}`;
    default:
      return `connection to ${at} failed (${code})`;
  }
}

function unknownHost(name: string, found: string): string {
  const why = found === "EAI_AGAIN" ? "this machine's DNS server does not answer" : found;
  return `the host name ${name} does not resolve (${why}); check its spelling and this machine's DNS`;
}

function stopped(cause: unknown): BotError {
  return new BotError("ABORTED", "stopped before the connection was made", { cause });
}

function seconds(ms: number): string {
  return `${Number((ms / 1_000).toPrecision(2))} s`;
}
