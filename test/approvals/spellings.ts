import { type Seeded, seeded } from "../core/seeded.ts";

/** Other ways to write the same thing, each as some system reads it. */

const shuffledCase = (text: string, random: Seeded): string =>
  text.replaceAll(/./g, (c) => (random.int(2) === 0 ? c.toUpperCase() : c.toLowerCase()));
const fullwidth = (text: string): string =>
  text.replaceAll(/[a-z0-9]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0));
const percent = (c: string): string => `%${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
const somePercent = (text: string, random: Seeded): string =>
  text.replaceAll(/[^/]/g, (c) => (random.int(3) === 0 ? percent(c) : c));

type Respell = (text: string, random: Seeded) => string;

/** A host name's. */
const NAMES: readonly Respell[] = [
  (host) => host,
  shuffledCase,
  (host) => `${host}.`,
  (host) => fullwidth(host),
  (host) => host.replace(".", "。"),
  (host) => host.replace(".", "．"),
  (host) => host.replace(".", "%2e"),
  somePercent,
  (host) => host.replace(/^./, "$&\u00ad"),
];

/** `10.1.2.3` */
const ADDRESSES: readonly Respell[] = [
  (address) => address,
  (address) => `${address}.`,
  (address) => String(numberOf(address)),
  (address) => `0x${numberOf(address).toString(16)}`,
  (address) => `0${numberOf(address).toString(8)}`,
  (address) =>
    partsOf(address)
      .map((part) => `0x${part.toString(16)}`)
      .join("."),
  (address) =>
    partsOf(address)
      .map((part) => `0${part.toString(8)}`)
      .join("."),
  (address) =>
    partsOf(address)
      .map((part) => `000${part.toString(8)}`)
      .join("."),
  (address) => {
    const [a = 0, b = 0, c = 0, d = 0] = partsOf(address);
    return `${a}.${b}.${c * 256 + d}`;
  },
  (address) => {
    const [a = 0, b = 0, c = 0, d = 0] = partsOf(address);
    return `${a}.${(b * 256 + c) * 256 + d}`;
  },
  (address) => `[::ffff:${address}]`,
  (address) => `[::ffff:${hexPair(address)}]`,
  (address) => `[0:0:0:0:0:FFFF:${hexPair(address)}]`,
  (address) => `[::${address}]`,
  (address) => `[64:ff9b::${address}]`,
  (address) => `[2002:${hexPair(address)}::1]`,
  (address) => fullwidth(address),
];

const partsOf = (address: string): number[] => address.split(".").map(Number);
const numberOf = (address: string): number =>
  partsOf(address).reduce((sum, part) => sum * 256 + part, 0);
function hexPair(address: string): string {
  const hex = numberOf(address).toString(16).padStart(8, "0");
  return `${hex.slice(0, 4)}:${hex.slice(4)}`;
}

/** A URL's path. */
const PATHS: readonly Respell[] = [
  (path) => path,
  somePercent,
  (path) => path.replace("/", "//"),
  (path) => path.replace("/", "/./"),
  (path) => path.replace("/", "/x/../"),
  (path) => path.replace("/", "/x/%2e%2e/"),
  (path) => path.replace("/", "/x/..%2f"),
  (path) => path.replace("/", "/%2e/"),
  (path) => path.replaceAll("/", "\\"),
  (path) => path.replaceAll("a", "%2561"),
  (path) => `${path}#top`,
  (path) => path.replace(/([^/]+)/, "$1;v=1"),
];

/** The start of a URL, up to its host. */
const STARTS: readonly Respell[] = [
  (scheme) => `${scheme}://`,
  shuffledStart,
  (scheme) => `${scheme}:/`,
  (scheme) => `${scheme}:`,
  (scheme) => `${scheme}:\\\\`,
  (scheme) => `${scheme}:////`,
  (scheme) => `  ${scheme}://`,
  (scheme) => `${scheme.slice(0, 2)}\n${scheme.slice(2)}://`,
  (scheme) => `${scheme}\t://`,
];

function shuffledStart(scheme: string, random: Seeded): string {
  return `${shuffledCase(scheme, random)}://`;
}

/** A file's path, below one of the folders that are read. */
const FILES: readonly ((path: string, root: string, random: Seeded) => string)[] = [
  (path) => path,
  (path, root) => path.slice(root.length + 1),
  (path, root) => `./${path.slice(root.length + 1)}`,
  (path, root) => path.replace(root, `${root}/`),
  (path, root) => path.replace(root, `${root}/.`),
  (path, root) => path.replace(root, `${root}/nginx/..`),
  (path, root) => path.replace(root, `${root}/../${root.split("/").at(-1)}`),
  (path) => path.replaceAll("/", "//"),
  (path) => `/..${path}`,
  (path, root) => `nginx/../${path.slice(root.length + 1)}`,
  (path, root) => path.slice(root.length + 1).replaceAll("/", "/./"),
];

const UNITS: readonly Respell[] = [
  (unit) => unit,
  (unit) => `${unit}.service`,
  shuffledCase,
  (unit) => `${unit}.SERVICE`,
];

/** URLs of the host, which is a name or an IPv4 address; `port` is the scheme's own. */
export function urlSpellings(scheme: string, host: string, path: string, count: number): string[] {
  const random = seeded(count);
  const hosts = /^[\d.]+$/.test(host) ? ADDRESSES : NAMES;
  const port = scheme === "https" ? "443" : "80";
  return distinct(count, () => {
    const tail = random.pick(["", "", `:${port}`, ":"]);
    const query = random.pick(["", "", "?", "?x=1"]);
    const [at, hash = ""] = random.pick(PATHS)(path, random).split("#");
    const written = `${random.pick(hosts)(host, random)}${tail}${at}${query}`;
    return `${random.pick(STARTS)(scheme, random)}${written}${hash === "" ? "" : `#${hash}`}`;
  });
}

export function hostSpellings(host: string, count: number): string[] {
  const random = seeded(count);
  const ways = /^[\d.]+$/.test(host) ? ADDRESSES : NAMES;
  return distinct(count, () => {
    const written = random.pick(ways)(host, random);
    // Without a URL around it nothing is decoded; an IPv6 address may go without brackets.
    return random.int(2) === 0 ? written.replace(/^\[(.*)\]$/, "$1") : written;
  });
}

export function fileSpellings(path: string, root: string, count: number): string[] {
  const random = seeded(count);
  return distinct(count, () => random.pick(FILES)(path, root, random));
}

export function unitSpellings(unit: string, count: number): string[] {
  const random = seeded(count);
  return distinct(count, () => random.pick(UNITS)(unit, random));
}

/** At most `count`, each once; fewer where there are not so many. */
function distinct(count: number, draw: () => string): string[] {
  const found = new Set<string>();
  for (let tries = 0; found.size < count && tries < count * 50; tries += 1) found.add(draw());
  return [...found];
}
