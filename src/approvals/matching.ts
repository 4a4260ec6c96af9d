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

/**
 * Whether a rule's pattern matches an argument. What lets a call through is read strictly, what holds it up liberally: a
 * wrong guess must end in a question. `docs/configuration.md` explains it to operators.
 */

type Scalar = string | number | boolean;
/** A text with stars, or a list of these, one per element. */
export type Pattern = Scalar | Scalar[];

/**
 * Holds a pattern against an argument. Of a `kind` that can be spelled in several ways, `allow` matches the canonical form
 * only, `ask` and `deny` any form.
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
 * True for a pattern that names where a URL or a host is: one of which more than a star is known. Anything else may be
 * anybody's.
 */
export function namesPlace(kind: ArgumentKind | undefined, pattern: Pattern): boolean {
  if (kind !== "url" && kind !== "host") return false;
  return [pattern].flat().every((one) => {
    const glob = String(one);
    const host = kind === "url" ? partsOf(glob)?.host : glob;
    // Without the last label, such as `*.com`, it is everybody's.
    return host !== undefined && !(host.includes("*") && /^[*.]*[^.*]*$/.test(host));
  });
}

/** What is wrong with a pattern of an allow rule, or undefined: a star in a URL that may stand for any host never matches. */
export function allowProblem(kind: ArgumentKind | undefined, pattern: Pattern): string | undefined {
  const isWhole = [pattern].flat().every((one) => one === "*" || partsOf(String(one)));
  if (kind !== "url" || isWhole) return undefined;
  return "an allowed URL is written with scheme and host, such as https://status.example.com/*";
}

/**
 * True when `text` is `glob`, in which `*` stands for any run of characters, none included. There is no way to write a
 * literal star. Linear in the text: no regular expression is made of what people write.
 */
export function globMatches(glob: string, text: string): boolean {
  const [head = "", ...rest] = glob.split("*");
  const tail = rest.pop();
  if (tail === undefined) return text === glob;
  const end = text.length - tail.length;
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let from = head.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
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

/** `/srv/private/*` is also about the folder itself. */
function withFolder(glob: string): string[] {
  return glob.endsWith("/*") ? [glob, glob.slice(0, -2) || "/"] : [glob];
}

function holdsHost(glob: string, host: string | undefined): boolean {
  if (host === undefined) return false;
  return hostMeanings(host).some((one) => labelsMatch(glob, one) || liberalGlob(glob, one));
}

/**
 * Label by label: a first label `*` stands for one label or more, a star elsewhere never for a dot. Stars among numbers
 * stand for numbers: `10.1.2.*` is no name.
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

/** A URL pattern by its parts; `port` and `query` undefined: not written. */
interface UrlParts {
  scheme: string;
  host: string;
  port: string | undefined;
  path: string;
  query: string | undefined;
  /** Ends with a star that stands for the query as well. */
  open: boolean;
}

/** Undefined for a pattern that says no scheme and host, such as `*payroll*`. */
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

/** As a URL holds it: percent-encoded where it must be, without dot segments. */
function canonicalPath(path: string): string {
  return URL.parse(`http://x${path}`)?.pathname ?? path;
}

function portMatches(wanted: string | undefined, { port, protocol }: URL): boolean {
  if (wanted === undefined) return port === "";
  return globMatches(wanted, port || (protocol === "https:" ? "443" : "80"));
}

/** By its parts, so that a star in a host is never taken for a path, nor one in a path for a query. */
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

/** What some servers read as a step out of a folder, though the URL standard does not. */
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
  // A pattern without parts, such as `*payroll*`, is held against the whole, however it was spelled.
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

/** What servers make of a path: decoded, without doubled slashes, parameters, dot segments and a last slash. */
function pathForms(path: string): string[] {
  const slashed = decodings(path).flatMap((one) => [one, one.replaceAll("\\", "/")]);
  const plain = slashed.flatMap((one) => [one, one.replaceAll(/;[^/]*/g, "")]);
  const forms = plain.flatMap((one) => {
    const normal = posix.normalize(one || "/");
    return [one, normal, normal.replace(/(?<=.)\/+$/, "")];
  });
  return [...new Set(forms)];
}

/** More passes than any chain of proxies decodes. */
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

/** As many elements as patterns; nothing that looks like a flag passes for anything but a pattern that is written as one. */
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

/** From `start` on: a last `*` matches any rest; the first element, a program, also by its name without folders. */
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
 * At every suffix of the list, so that `env rm -rf /` meets `rm *`; and in every command inside an element, so that
 * `sh -c "cd / && rm -rf *"` does. It stops mistakes, not an adversary with a shell: that is what asking is for.
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

/** A star does not climb out of the folder it stands in: `/var/log/*` is not `/var/log/../../etc/shadow`. */
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
