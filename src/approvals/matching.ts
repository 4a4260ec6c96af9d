import { posix } from "node:path";
import {
  type ArgumentKind,
  canonicalHost,
  canonicalHostPattern,
  canonicalPaths,
  canonicalUnit,
  hostMeanings,
  hostOf,
} from "../core/canonical.ts";
import type { Json } from "../core/entry.ts";
import { globMatches } from "../core/glob.ts";

/**
 * Whether a rule's pattern matches an argument. Patterns that let a call through are read strictly, patterns that hold it
 * up liberally: a wrong guess must end in a question. `docs/configuration.md` explains it to operators.
 */

type Scalar = string | number | boolean;
/** A text with stars, or a list of these, one per element. */
export type Pattern = Scalar | Scalar[];

/**
 * Compares a pattern with an argument. For a `kind` with several spellings, `allow` matches only the canonical form, `ask`
 * and `deny` any form.
 */
export function argumentMatches(
  decision: "allow" | "ask" | "deny",
  wanted: Pattern,
  value: Json,
  kind?: ArgumentKind,
): boolean {
  const strict = decision === "allow";
  if (Array.isArray(value)) {
    const globs = Array.isArray(wanted) ? wanted.map(String) : String(wanted).trim().split(/\s+/);
    if (strict) return strictlyMatches(globs, value);
    const words = value.map((element) => textOf(element));
    return decision === "deny" ? anywhere(globs, words) : liberallyMatches(globs, words, 0);
  }
  if (strict) {
    if (Array.isArray(wanted) || isObject(value)) return false;
    return kind === undefined || typeof value !== "string"
      ? strictGlob(wanted, value)
      : allows(kind, String(wanted), value);
  }
  const text = textOf(value);
  return [wanted].flat().some((one) => {
    const glob = String(one);
    return liberalGlob(glob, text) || (kind !== undefined && holds(kind, glob, text));
  });
}

/**
 * True for a pattern that names the place of a URL or host. Anything else, such as a bare star, could be anybody's.
 */
export function namesPlace(kind: ArgumentKind | undefined, pattern: Pattern): boolean {
  if (kind !== "url" && kind !== "host") return false;
  return [pattern].flat().every((one) => {
    const glob = String(one);
    const host = kind === "url" ? partsOf(glob)?.host : glob;
    // `*.com` covers everybody's names.
    return host !== undefined && !(host.includes("*") && /^[*.]*[^.*]*$/.test(host));
  });
}

/** What is wrong with an allow rule's pattern, or undefined. A URL star that could stand for any host never matches. */
export function allowProblem(kind: ArgumentKind | undefined, pattern: Pattern): string | undefined {
  const isWhole = [pattern].flat().every((one) => one === "*" || partsOf(String(one)));
  if (kind !== "url" || isWhole) return undefined;
  return "write an allowed URL with scheme and host, such as https://status.example.com/*";
}

function allows(kind: ArgumentKind, glob: string, text: string): boolean {
  if (kind === "url") return allowsUrl(glob, text);
  if (kind === "host") {
    const host = canonicalHost(text);
    return host !== undefined && labelsMatch(canonicalHostPattern(glob), host);
  }
  if (kind === "unit") return strictGlob(canonicalUnit(glob), canonicalUnit(text));
  const paths = canonicalPaths(text, kind.paths);
  const globs = glob === "*" ? [glob] : canonicalPaths(glob, kind.paths);
  return paths.length > 0 && paths.every((path) => globs.some((one) => globMatches(one, path)));
}

function holds(kind: ArgumentKind, glob: string, text: string): boolean {
  if (kind === "url") return holdsUrl(glob, text);
  if (kind === "host") return holdsHost(canonicalHostPattern(glob), canonicalHost(text));
  if (kind === "unit") return liberalGlob(canonicalUnit(glob), canonicalUnit(text));
  return canonicalPaths(glob, kind.paths)
    .flatMap(withFolder)
    .some((one) => canonicalPaths(text, kind.paths).some((path) => liberalGlob(one, path)));
}

/** `/srv/private/*` also covers the folder itself. */
function withFolder(glob: string): string[] {
  return glob.endsWith("/*") ? [glob, glob.slice(0, -2) || "/"] : [glob];
}

function holdsHost(glob: string, host: string | undefined): boolean {
  if (host === undefined) return false;
  return hostMeanings(host).some((one) => labelsMatch(glob, one) || liberalGlob(glob, one));
}

/**
 * Compares label by label. A first label `*` stands for one label or more; a star elsewhere never stands for a dot. Stars
 * among numbers stand for numbers: `10.1.2.*` matches addresses, not names.
 */
function labelsMatch(glob: string, host: string): boolean {
  if (glob === "*" || glob === host) return true;
  const [wanted, labels] = [glob.split("."), host.split(".")];
  const isNumeric = wanted.every((label) => /^[\d*]+$/.test(label));
  if (isNumeric && !labels.every((label) => /^\d+$/.test(label))) return false;
  const isOpen = wanted[0] === "*" && !isNumeric;
  if (isOpen ? labels.length < wanted.length : labels.length !== wanted.length) return false;
  const fixed = isOpen ? wanted.slice(1) : wanted;
  const rest = labels.slice(labels.length - fixed.length);
  return fixed.every((label, index) => globMatches(label, rest[index] ?? ""));
}

/** The parts of a URL pattern; `port` and `query` are undefined if not written. */
interface UrlParts {
  scheme: string;
  host: string;
  port: string | undefined;
  path: string;
  query: string | undefined;
  /** True if it ends with a star that also stands for the query. */
  open: boolean;
}

/** Undefined for a pattern without scheme and host, such as `*payroll*`. */
function partsOf(glob: string): UrlParts | undefined {
  const found = /^([a-z*]+):\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/is.exec(glob.trim());
  if (found === null) return undefined;
  const [, scheme = "", authority = "", path = "", query] = found;
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::([\d*]+))?$/.exec(authority) ?? [];
  if (host === "") return undefined;
  return {
    scheme: scheme.toLowerCase(),
    host: canonicalHostPattern(host),
    port,
    path: canonicalPath(path),
    query,
    open: query === undefined && glob.trim().endsWith("*"),
  };
}

/** The path as a URL writes it: percent-encoded where needed, without dot segments. */
function canonicalPath(path: string): string {
  return URL.parse(`http://x${path}`)?.pathname ?? path;
}

function portMatches(wanted: string | undefined, { port, protocol }: URL): boolean {
  if (wanted === undefined) return port === "";
  return globMatches(wanted, port || (protocol === "https:" ? "443" : "80"));
}

/** Compares part by part: a star in the host never covers a path, nor a star in the path a query. */
function allowsUrl(glob: string, text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (glob === "*") return true;
  const wanted = partsOf(glob);
  if (wanted === undefined || climbs(url.pathname)) return false;
  const { query = "" } = wanted;
  return (
    globMatches(wanted.scheme, url.protocol.slice(0, -1)) &&
    labelsMatch(wanted.host, hostOf(url)) &&
    portMatches(wanted.port, url) &&
    globMatches(wanted.path, url.pathname) &&
    (wanted.open || globMatches(query, url.search.slice(1)))
  );
}

/** True for what some servers read as a step out of a folder, though the URL standard does not. */
function climbs(path: string): boolean {
  return decodings(path).some((one) =>
    CLIMBS.test(one.replaceAll(/;[^/]*/g, "").replaceAll("\\", "/")),
  );
}

function holdsUrl(glob: string, text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  const [paths, queries] = [pathForms(url.pathname), decodings(url.search.slice(1))];
  const wanted = partsOf(glob);
  if (wanted !== undefined && holdsParts(wanted, url, paths, queries)) return true;
  // A pattern without parts, such as `*payroll*`, is compared with the whole URL in every spelling.
  const port = url.port === "" ? "" : `:${url.port}`;
  return hostMeanings(hostOf(url)).some((host) => {
    const origin = `${url.protocol}//${host.includes(":") ? `[${host}]` : host}${port}`;
    return paths.some((path) =>
      queries.some((query) =>
        [path, `${path}?${query}`].some((rest) => liberalGlob(glob, `${origin}${rest}`)),
      ),
    );
  });
}

function holdsParts(wanted: UrlParts, url: URL, paths: string[], queries: string[]): boolean {
  const { query } = wanted;
  const globs = pathForms(wanted.path).flatMap(withFolder);
  return (
    globMatches(wanted.scheme, url.protocol.slice(0, -1)) &&
    holdsHost(wanted.host, hostOf(url)) &&
    portMatches(wanted.port, url) &&
    globs.some((one) => paths.some((path) => liberalGlob(one, path))) &&
    (query === undefined ||
      decodings(query).some((one) => queries.some((asked) => liberalGlob(one, asked))))
  );
}

/** How servers may read a path: decoded, without double slashes, parameters, dot segments and a final slash. */
function pathForms(path: string): string[] {
  const slashed = decodings(path).flatMap((one) => [one, one.replaceAll("\\", "/")]);
  const plain = slashed.flatMap((one) => [one, one.replaceAll(/;[^/]*/g, "")]);
  const forms = plain.flatMap((one) => {
    const normal = posix.normalize(one || "/");
    return [one, normal, normal.replace(/(?<=.)\/+$/, "")];
  });
  return [...new Set(forms)];
}

/** No chain of proxies decodes more often. */
const MAX_DECODINGS = 3;

function decodings(text: string): string[] {
  const forms = [text];
  for (let pass = 0; pass < MAX_DECODINGS; pass += 1) {
    const next = (forms.at(-1) ?? "").replaceAll(/(?:%[\da-f]{2})+/gi, decoded);
    if (next === forms.at(-1)) break;
    forms.push(next);
  }
  return [...forms, ...forms.map((form) => form.replaceAll("+", " "))];
}

function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return Buffer.from(escapes.replaceAll("%", ""), "hex").toString("latin1");
  }
}

/** Needs as many elements as patterns. An element that looks like a flag needs a pattern that does. */
function strictlyMatches(globs: string[], elements: Json[]): boolean {
  return (
    globs.length === elements.length &&
    elements.every((element, index) => {
      const glob = globs[index] ?? "";
      if (isObject(element) || !strictGlob(glob, element)) return false;
      return glob.startsWith("-") || !String(element).startsWith("-");
    })
  );
}

/** Compares from `start` on. A final `*` matches any rest; the first element, an executable, also matches without its folders. */
function liberallyMatches(globs: string[], words: string[], start: number): boolean {
  const open = globs.at(-1) === "*";
  const fixed = open ? globs.slice(0, -1) : globs;
  const count = words.length - start;
  if (open ? count < fixed.length : count !== fixed.length) return false;
  return fixed.every((glob, index) => {
    const word = words[start + index] ?? "";
    const name = word.slice(word.lastIndexOf("/") + 1);
    return liberalGlob(glob, word) || (index === 0 && liberalGlob(glob, name));
  });
}

/**
 * Compares every suffix of the list, so `rm *` matches `env rm -rf /`, and every command inside an element, so it also
 * matches `sh -c "cd / && rm -rf *"`. That stops mistakes. What stops an adversary with a shell is that commands ask.
 */
function anywhere(globs: string[], words: string[]): boolean {
  const inner = words
    .filter((word) => /[\s;|&()`]/.test(word))
    .flatMap((word) => word.split(/[;|&()`\n]/))
    .map((command) => command.split(/[\s"'$]+/).filter((part) => part !== ""));
  return [words, ...inner].some((list) =>
    (list.length === 0 ? [""] : list).some((_, start) => liberallyMatches(globs, list, start)),
  );
}

const CLIMBS = /(?:^|\/)\.\.(?:\/|$)/;

/** A star does not climb out of its folder: `/var/log/*` does not match `/var/log/../../etc/shadow`. */
function strictGlob(glob: Scalar, value: Scalar | null): boolean {
  const [written, text] = [String(glob), String(value)];
  return globMatches(written, text) && (!CLIMBS.test(text) || CLIMBS.test(written));
}

function liberalGlob(glob: string, text: string): boolean {
  return globMatches(glob.toLowerCase(), text.toLowerCase());
}

function isObject(value: Json): value is Exclude<Json, string | number | boolean | null> {
  return typeof value === "object" && value !== null;
}

function textOf(value: Json): string {
  return isObject(value) ? JSON.stringify(value) : String(value);
}
