import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { readAddress, withoutBrackets } from "../core/canonical.ts";

/** Which requests go through a proxy: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, read in one way for every client that is used. */

/** Of what a request is made with, the part that chooses its proxy. */
export type Scheme = "http:" | "https:";

/** An HTTP proxy that connects to what it is asked for (CONNECT, RFC 9110, 9.3.6). */
export interface Proxy {
  host: string;
  port: number;
  /** It is spoken to by TLS itself. */
  isSecure: boolean;
  /** Base64 of `name:password`. */
  credentials: string | undefined;
  /** The variable that names it, for errors. */
  variable: string;
}

export interface Proxies {
  /** The one for a request to this host; undefined: it is connected to directly. `address`: what the host was found to be. */
  to(scheme: Scheme, host: string, port: number, address?: string): Proxy | undefined;
  /** Those that there are, each once. */
  readonly all: readonly Proxy[];
}

/** The variables that name proxies and what goes past them, in capitals; small letters come first, as everywhere. */
export const PROXY_VARIABLES = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment's proxies. What is no proxy (`isProxy`) counts as not set: a start has refused it. */
// oxlint-disable-next-line node/no-process-env -- the environment is what carries them to every client
export function readProxies(env: Environment = process.env): Proxies {
  const [secure, plain] = [proxyIn(env, "HTTPS_PROXY"), proxyIn(env, "HTTP_PROXY")];
  const spared = valueOf(env, "NO_PROXY")
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  const all = [secure, plain].flatMap((proxy) => proxy ?? []);
  return {
    all: all.length === 2 && proxyName(all[0]) === proxyName(all[1]) ? all.slice(0, 1) : all,
    to(scheme, host, port, address) {
      const proxy = scheme === "https:" ? secure : plain;
      if (proxy === undefined) return undefined;
      const name = withoutBrackets(host).toLowerCase().replace(/\.$/, "");
      const isSpared = (each: string) =>
        isHere(each) || spared.some((entry) => isMeant(entry, each, port));
      return isSpared(name) || (address !== undefined && isSpared(address)) ? undefined : proxy;
    },
  };
}

/** `proxy.example.com:3128`, for people: without its password. */
export function proxyName(proxy: Pick<Proxy, "host" | "port"> | undefined): string {
  if (proxy === undefined) return "";
  const { host, port } = proxy;
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Whether a variable's text names a proxy: `http://name:password@proxy:3128`, https, or without a scheme. */
export function isProxy(text: string): boolean {
  return readProxy(text, "") !== undefined;
}

/** The same for programs that we start, as they read it. */
export function proxyEnvironment(env: Environment): Record<string, string> {
  const [secure, plain, spared] = PROXY_VARIABLES.map((name) => valueOf(env, name));
  if (!secure && !plain) return {};
  return {
    ...(secure && { https_proxy: secure }),
    ...(plain && { http_proxy: plain }),
    no_proxy: ["localhost,127.0.0.1,::1", ...(spared ? [spared] : [])].join(","),
  };
}

function valueOf(env: Environment, variable: string): string {
  return (env[variable.toLowerCase()] || env[variable] || "").trim();
}

function proxyIn(env: Environment, variable: string): Proxy | undefined {
  return readProxy(valueOf(env, variable), variable);
}

function readProxy(text: string, variable: string): Proxy | undefined {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") return undefined;
  if (url.pathname !== "/" || url.search + url.hash !== "") return undefined;
  const isSecure = url.protocol === "https:";
  const login = `${decoded(url.username)}:${decoded(url.password)}`;
  return {
    host: withoutBrackets(url.hostname),
    port: Number(url.port) || (isSecure ? 443 : 80),
    isSecure,
    credentials: login === ":" ? undefined : Buffer.from(login).toString("base64"),
    variable,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A proxy's own machine is another than this one. */
function isHere(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return isIP(host) !== 0 && readAddress(host).range() === "loopback";
}

/**
 * What an entry of NO_PROXY means: `*`, a name with all names below it (`.example.com` and `*.example.com` are the same), an address
 * or a network such as `10.0.0.0/8`; each may end with a port.
 */
function isMeant(entry: string, host: string, port: number): boolean {
  if (entry === "*") return true;
  const [, whole = "", own] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const isAddress = isIP(withoutBrackets(entry)) !== 0 || entry.includes("/");
  if (!isAddress && own !== undefined && Number(own) !== port) return false;
  const pattern = withoutBrackets(isAddress ? entry : whole).toLowerCase();
  if (isIP(host) !== 0) return isInNetwork(pattern, host);
  const name = pattern.replace(/^\*?\./, "").replace(/\.$/, "");
  return name !== "" && (host === name || host.endsWith(`.${name}`));
}

function isInNetwork(pattern: string, host: string): boolean {
  const address = readAddress(host);
  if (isIP(pattern) !== 0) return String(readAddress(pattern)) === String(address);
  if (!ipaddr.isValidCIDR(pattern)) return false;
  const [base, bits] = ipaddr.parseCIDR(pattern);
  return base.kind() === address.kind() && address.match(base, bits);
}
