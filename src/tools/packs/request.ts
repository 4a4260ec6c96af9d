import type { Json } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json.ts";
import { baseUrl } from "../../core/settings.ts";
import type { Credential, Endpoint, HttpCall } from "../http.ts";
import type { Request } from "./schema.ts";
import {
  fillJson,
  fillWith,
  holesIn,
  plain,
  templateProblem,
  type Values,
} from "../../core/templates.ts";

/** An HTTP request as a pack writes it, and the same with a call's values. */

const METHODS = ["get", "head", "post", "put", "patch", "delete"] as const;

/** What a connection or its framing decides, and what carries credentials. */
const CLOSED_HEADERS =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|authorization|cookie)$/i;

interface UrlTemplate {
  /** `https://ops.example.com:8443` */
  origin: string;
  /** Begins with a slash. */
  path: string;
  /** Without the question mark. */
  query: string;
}

function readUrl(url: string): UrlTemplate | undefined {
  const [, origin, path = "", query = ""] =
    /^(https?:\/\/[^\s\\/?#@{}]+)(\/[^\s\\?#]*)?(?:\?([^\s#]*))?$/i.exec(url) ?? [];
  if (origin === undefined || !URL.canParse(origin)) return undefined;
  return { origin, path: path === "" ? "/" : path, query };
}

/** The request with the address that its base holds now. */
export function resolveBase(request: Request, variable: (name: string) => string): Request {
  const { base, ...rest } = request;
  if (base === undefined) return request;
  const { method, url } = methodOf(request);
  return { ...rest, [method]: `${variable(base).replace(/\/+$/, "")}${url}` };
}

/** What is wrong with what its base holds; undefined: nothing. */
export function baseProblem(request: Request, variable: (name: string) => string) {
  const { base } = request;
  if (base === undefined || baseUrl.safeParse(variable(base)).success) return undefined;
  return `the variable ${base} holds no http or https address, or is not set, or is one of the program's own`;
}

function methodOf(request: Request): { method: (typeof METHODS)[number]; url: string } {
  const method = METHODS.find((each) => request[each] !== undefined) ?? "get";
  return { method, url: request[method] ?? "" };
}

/** Where it goes, whatever the values: the folder before the first of them. */
export function endpointFor(request: Request, variable: (name: string) => string): Endpoint {
  const { origin, path } = readUrl(methodOf(request).url) ?? { origin: "", path: "/" };
  const [literal = ""] = path.split("{{");
  const url = new URL(literal.slice(0, literal.lastIndexOf("/") + 1), origin).href;
  const { credential } = request;
  // Asked for when it is used: from then on texts are searched for it too.
  return { url, credential: credential && (async () => credentialOf(credential, variable)) };
}

function credentialOf(
  { bearer, user, password, header, variable: name = "" }: NonNullable<Request["credential"]>,
  variable: (name: string) => string,
): Credential {
  if (bearer !== undefined) return { kind: "bearer", secret: variable(bearer) };
  if (header !== undefined) return { kind: "header", name: header, secret: variable(name) };
  return { kind: "basic", user: user ?? "", secret: variable(password ?? "") };
}

/** The variables that hold its secrets. */
export function variablesOf({ credential }: Request): string[] {
  const { bearer, password, variable } = credential ?? {};
  return [bearer, password, variable].filter((name) => name !== undefined);
}

type Problem = readonly [path: readonly PropertyKey[], text: string];

/** What is wrong with it; `always`: the values that every call has. */
export function* requestProblems(
  request: Request,
  known: readonly string[],
  always: ReadonlySet<string>,
): Iterable<Problem> {
  const given = METHODS.filter((each) => request[each] !== undefined);
  const { method, url: written } = methodOf(request);
  if (given.length !== 1) {
    yield [[], "expected one of get, head, post, put, patch and delete, with the URL"];
    return;
  }
  const hasBase = request.base !== undefined;
  if (hasBase && !written.startsWith("/"))
    yield [[method], `expected what stands behind ${request.base}, such as /queues/{{name}}`];
  else yield* urlProblems([method], hasBase ? `https://base${written}` : written, known, always);
  for (const field of ["query", "form", "headers"] as const) {
    for (const [name, value] of Object.entries(request[field] ?? {})) {
      const problem = templateProblem(String(value), known);
      if (problem !== undefined) yield [[field, name], problem];
    }
  }
  for (const name of Object.keys(request.headers ?? {})) {
    if (!/^[a-z0-9-]+$/i.test(name)) yield [["headers", name], "is no name of a header"];
    else if (CLOSED_HEADERS.test(name))
      yield [["headers", name], "is not set here; secrets go into credential, by their variables"];
  }
  for (const text of textsIn(request.json ?? null)) {
    const problem = templateProblem(text, known);
    if (problem !== undefined) yield [["json"], problem];
  }
  const hasBody = request.json !== undefined || request.form !== undefined;
  if (hasBody && (method === "get" || method === "head"))
    yield [[method], "takes no body; use query, or post"];
  if (request.json !== undefined && request.form !== undefined)
    yield [["form"], "expected json or form, not both"];
  if (request.json !== undefined && !isJsonObject(request.json))
    yield [["json"], "expected an object"];
  const { bearer, user, password, header, variable } = request.credential ?? {};
  const kinds = [bearer, user ?? password, header ?? variable].filter((each) => each !== undefined);
  const halves = (user === undefined) !== (password === undefined);
  const ends = (header === undefined) !== (variable === undefined);
  if (request.credential !== undefined && (kinds.length !== 1 || halves || ends))
    yield [["credential"], "expected bearer, user and password, or header and variable"];
}

function* urlProblems(
  path: readonly PropertyKey[],
  url: string,
  known: readonly string[],
  always: ReadonlySet<string>,
): Iterable<Problem> {
  const read = readUrl(url);
  if (read === undefined) {
    yield [
      path,
      "expected an http or https URL such as https://ops.example.com/queues/{{name}}; scheme, host and port are fixed, without user and fragment",
    ];
    return;
  }
  const problem = templateProblem(url, known);
  if (problem !== undefined) yield [path, problem];
  const missing = holesIn(read.path).find((name) => known.includes(name) && !always.has(name));
  if (missing !== undefined)
    yield [path, `{{${missing}}} stands in the path and may be left out; give it a default`];
}

function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/**
 * The request with these values, each encoded for where it stands.
 * @throws BotError INPUT_INVALID for a value that cannot stand there
 */
export function requestFor(
  request: Request,
  values: Values,
): HttpCall & { method: NonNullable<HttpCall["method"]>; body?: string } {
  const { method, url } = methodOf(request);
  const { origin, path, query } = readUrl(url) ?? { origin: "", path: "", query: "" };
  const pairs = [...new URLSearchParams(query), ...Object.entries(request.query ?? {})];
  const written = new URLSearchParams(filled(pairs, values)).toString();
  const { json, form } = request;
  const headers = Object.fromEntries(
    filled(Object.entries(request.headers ?? {}), values).map(([name, value]) => [
      name,
      headerValue(name, value),
    ]),
  );
  const body =
    form === undefined ? undefined : new URLSearchParams(filled(Object.entries(form), values));
  const filledJson = json === undefined ? undefined : fillJson(json, values);
  return {
    url: `${origin}${pathFor(path, values)}${written === "" ? "" : `?${written}`}`,
    method: METHOD_NAMES[method],
    headers: {
      ...(body !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      ...headers,
    },
    ...(body !== undefined && { body: body.toString() }),
    ...(isJsonObject(filledJson) && { json: filledJson }),
  };
}

const METHOD_NAMES = {
  get: "GET",
  head: "HEAD",
  post: "POST",
  put: "PUT",
  patch: "PATCH",
  delete: "DELETE",
} as const;

/** What was not given is left out with its name. */
function filled(
  pairs: readonly (readonly [string, string | number | boolean])[],
  values: Values,
): [string, string][] {
  return pairs.flatMap(([name, template]) => {
    const value = fillWith(String(template), values, plain);
    return value === undefined ? [] : [[name, value]];
  });
}

/** Each value stays within its segment: no slash of its own, and it is no step up. */
function pathFor(path: string, values: Values): string {
  return path
    .split("/")
    .map((segment) => {
      const names = holesIn(segment);
      const written = fillWith(segment, values, (value) => encodeURIComponent(plain(value))) ?? "";
      if (names.length > 0 && /^(?:|\.|\.\.)$/.test(written)) {
        const text = `${names.join()} is ${JSON.stringify(written)}, which cannot be a part of the path.`;
        throw new BotError("INPUT_INVALID", text);
      }
      return written;
    })
    .join("/");
}

function headerValue(name: string, value: string): string {
  if (/^[\t -~]*$/.test(value)) return value;
  const text = `The header ${name} would hold a line break or a character that no header may have.`;
  throw new BotError("INPUT_INVALID", text);
}
