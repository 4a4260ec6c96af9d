import type { JsonObject } from "../../core/entry.ts";
import type { Gap } from "../../core/finding.ts";
import { BotError } from "../../core/errors.ts";
import type { HttpResponse } from "../http.ts";
import type { ToolContext } from "../tool.ts";
import type { Instance } from "./instance.ts";
import { findKind, type Kind, nearKind } from "./kinds.ts";
import { isObject, listAt, numberAt, textAt, textsAt } from "./objects.ts";
import { gapFrom, isRefusal, Refusal, type Wanted } from "./refusal.ts";
import { cleaned } from "./secrecy.ts";

/** Where something is: all objects of a kind, those of a namespace, or one. */
export interface Place {
  kind: Kind;
  namespace?: string | undefined;
  name?: string | undefined;
  /** Such as `log`, `scale`, `eviction`. */
  subresource?: string | undefined;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

interface ListOptions {
  namespace?: string | undefined;
  labels?: string | undefined;
  fields?: string | undefined;
  /** Objects to stop at. */
  max?: number;
  /** What is kept of each, so that thousands fit into memory. `managed`: the server's notes on who set its fields, and when. */
  keep?: (item: JsonObject, managed: readonly JsonObject[]) => JsonObject;
}

interface Listed {
  items: JsonObject[];
  /** False when there are more. */
  isWhole: boolean;
}

export interface Write {
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  body?: JsonObject | readonly JsonObject[];
  /** Of a patch. */
  type?: PatchType;
  dryRun?: boolean;
}

type PatchType = "merge" | "strategic" | "json";

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
};

const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";
const METADATA =
  "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/** About 2 MB of ordinary pods: parsed in some 20 ms. */
const PAGE = 250;
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const MAX_ITEMS = 20_000;

type Transport = ReturnType<typeof createTransport>;

interface Request {
  accept?: string;
  maxBytes?: number;
  write?: Write;
}

function createTransport(instance: Instance, ctx: ToolContext, actAs: string | undefined) {
  const own = { ...instance.headers, ...(actAs !== undefined && { "impersonate-user": actAs }) };

  async function send(
    path: string,
    asked: Wanted,
    request: Request = {},
    isAgain = false,
  ): Promise<HttpResponse> {
    const { accept = "application/json", maxBytes = MAX_PAGE_BYTES, write } = request;
    const { method = "GET", body, type } = write ?? {};
    const sent = type === undefined ? "application/json" : PATCH_TYPES[type];
    await instance.prepare(ctx.signal);
    const answer = await ctx.http({
      endpoint: instance.name,
      url: path,
      method,
      headers: { ...own, accept, ...(body !== undefined && { "content-type": sent }) },
      maxBytes,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (answer.status < 300 && answer.stuck === undefined) return answer;
    if (answer.status === 401 && !isAgain && instance.renew())
      return send(path, asked, request, true);
    throw refusalOf(answer, asked, write !== undefined);
  }

  /** In the newest version of the kind that this server has. */
  async function inVersion<T>(place: Place, work: (path: string) => Promise<T>): Promise<T> {
    const { kind } = place;
    const known = instance.versions.get(kind);
    const versions = known === undefined ? kind.versions : [known];
    for (const [index, version] of versions.entries()) {
      try {
        const result = await work(pathOf(place, version));
        instance.versions.set(kind, version);
        return result;
      } catch (error) {
        const isLast = index === versions.length - 1;
        if (isLast || !isRefusal(error, 404) || !error.isUnknownKind) throw error;
      }
    }
    throw new TypeError(`${kind.kind} has no version.`);
  }

  return { send, inVersion };
}

/** All of a list, page by page; a page that is too long is asked for again in smaller ones. */
async function listPages(
  { send, inVersion }: Transport,
  kind: Kind,
  options: ListOptions,
): Promise<Listed> {
  const { namespace, labels, fields, max = MAX_ITEMS, keep = (item) => item } = options;
  const asked = askedOf("list", { kind, namespace });
  const items: JsonObject[] = [];
  let limit = Math.min(PAGE, max);
  let next = "";
  do {
    const query = {
      limit,
      continue: next || undefined,
      labelSelector: labels,
      fieldSelector: fields,
    };
    try {
      const page = await inVersion({ kind, namespace }, (path) =>
        send(`${path}${queryText(query)}`, asked),
      );
      if (!page.isWhole && limit > 1) {
        limit = Math.ceil(limit / 4);
        continue;
      }
      const body = bodyOf(page, asked);
      for (const item of listAt(body, "items")) {
        const managed = listAt(item, "metadata", "managedFields");
        items.push(keep(cleaned(item, kind.kind), managed));
      }
      next = textAt(body, "metadata", "continue");
    } catch (error) {
      // The pages before it are too old to go on from; the server says where it can, a little less consistent.
      if (!isRefusal(error, 410) || error.next === "") throw error;
      next = error.next;
    }
  } while (next !== "" && items.length < max);
  return { items: items.slice(0, max), isWhole: next === "" && items.length <= max };
}

function createReads(transport: Transport) {
  const { send, inVersion } = transport;
  const list = (kind: Kind, options: ListOptions = {}) => listPages(transport, kind, options);

  async function get(place: Place): Promise<JsonObject> {
    const asked = askedOf("get", place);
    const answer = await inVersion(place, (path) => send(path, asked));
    return cleaned(bodyOf(answer, asked), place.kind.kind);
  }

  /** What the server says at a path that is no object's, such as `version`. */
  async function raw(path: string): Promise<JsonObject> {
    const asked = { verb: "get", resource: `/${path}`, namespace: "", name: "" };
    return bodyOf(await send(path, asked), asked);
  }

  return {
    get,
    list,
    raw,

    /** What it lists; what could not be seen becomes a gap. */
    async see(kind: Kind, gaps: Gap[], options: ListOptions = {}): Promise<JsonObject[]> {
      try {
        const { items, isWhole } = await list(kind, options);
        const what = `${kind.plural} beyond the first ${items.length}`;
        if (!isWhole) gaps.push({ what, why: "there are more", help: "Name a namespace." });
        return items;
      } catch (error) {
        gaps.push(gapFrom(error, askedOf("list", { kind, namespace: options.namespace })));
        return [];
      }
    },

    /** The object, or undefined where there is none. */
    async find(place: Place): Promise<JsonObject | undefined> {
      try {
        return await get(place);
      } catch (error) {
        if (isRefusal(error, 404) && !error.isUnknownKind) return undefined;
        throw error;
      }
    },

    /** The first names of a kind's objects, for telling a near miss; none where they may not be seen. */
    async names(kind: Kind, namespace?: string): Promise<string[]> {
      const place = { kind, namespace };
      const asked = askedOf("list", place);
      try {
        const answer = await inVersion(place, (path) =>
          send(`${path}?limit=500`, asked, { accept: METADATA }),
        );
        return listAt(bodyOf(answer, asked), "items").map((item) =>
          textAt(item, "metadata", "name"),
        );
      } catch (error) {
        if (isRefusal(error)) return [];
        throw error;
      }
    },

    /** Rows as the server prints them. `name` undefined: of a list. */
    async table(place: Place, query: Query = {}): Promise<JsonObject> {
      const asked = askedOf(place.name === undefined ? "list" : "get", place);
      const answer = await inVersion(place, (path) =>
        send(`${path}${queryText(query)}`, asked, { accept: TABLE }),
      );
      return bodyOf(answer, asked);
    },

    /** Plain text, such as a container's log. */
    async text(place: Place, query: Query, maxBytes: number): Promise<HttpResponse> {
      const asked = askedOf("get", place);
      return inVersion(place, (path) =>
        send(`${path}${queryText(query)}`, asked, { accept: "*/*", maxBytes }),
      );
    },
  };
}

/**
 * One cluster's API, for one call of a tool. What it gives has no value of a Secret in it. Every method throws Refusal when the
 * server answers with an error, and what `ToolContext.http` throws. `actAs`: the user in whose name the cluster is asked.
 */
export function createApi(instance: Instance, ctx: ToolContext, actAs?: string) {
  const transport = createTransport(instance, ctx, actAs);
  const { send, inVersion } = transport;
  const reads = createReads(transport);
  return {
    ...reads,
    instance: instance.name,
    /** The context's own namespace. */
    namespace: instance.namespace,
    signal: ctx.signal,

    /** The object after the change, or, as a dry run, as it would be. */
    async write(place: Place, write: Write): Promise<JsonObject> {
      const asked = askedOf(VERBS[write.method], place);
      const isDry = write.dryRun === true;
      const dry = queryText({ dryRun: isDry ? "All" : undefined });
      // A delete with a body takes its options from there, and none from the address.
      const sent =
        isDry && write.method === "DELETE" && isObject(write.body)
          ? { ...write, body: { ...write.body, dryRun: ["All"] } }
          : write;
      const answer = await inVersion(place, (path) =>
        send(`${path}${dry}`, asked, { write: sent }),
      );
      return cleaned(bodyOf(answer, asked), place.kind.kind);
    },

    /** The kind that somebody means. @throws BotError INPUT_INVALID */
    kind: (name: string) => findAnyKind(name, reads.raw),
  };
}

export type Api = ReturnType<typeof createApi>;

type Raw = (path: string) => Promise<JsonObject>;

async function findAnyKind(name: string, raw: Raw): Promise<Kind> {
  const known = findKind(name);
  if (known !== undefined) return known;
  const custom = await customKinds(name, raw);
  const written = name.toLowerCase();
  const found = custom.find(
    ({ names, plural, group }) => names.includes(written) || `${plural}.${group}` === written,
  );
  if (found !== undefined) return found;
  const near = nearKind(name, custom);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  throw new BotError("INPUT_INVALID", `This cluster has no kind ${JSON.stringify(name)}.${hint}`);
}

/** Kinds that were added to this cluster: those of the named group, else of all groups that are not Kubernetes' own. */
async function customKinds(name: string, raw: Raw): Promise<Kind[]> {
  const [, ...named] = name.toLowerCase().split(".");
  const groups = listAt(await raw("apis"), "groups").filter((group) => {
    const groupName = textAt(group, "name");
    return named.length > 0 ? groupName === named.join(".") : !isOwnGroup(groupName);
  });
  const lists = groups.slice(0, MAX_GROUPS).map(async (each) => {
    const [group = "", version = ""] = textAt(each, "preferredVersion", "groupVersion").split("/");
    const path = `apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`;
    const { resources } = await raw(path);
    return listAt(resources).flatMap((resource) => kindOfResource(resource, group, version));
  });
  return (await Promise.all(lists)).flat();
}

const MAX_GROUPS = 40;

/** The groups whose kinds the table has. */
function isOwnGroup(name: string): boolean {
  return !name.includes(".") || name.endsWith(".k8s.io");
}

function kindOfResource(resource: JsonObject, group: string, version: string): Kind[] {
  const plural = textAt(resource, "name");
  const kind = textAt(resource, "kind");
  if (plural === "" || plural.includes("/")) return [];
  const names = [
    plural,
    kind.toLowerCase(),
    textAt(resource, "singularName"),
    ...textsAt(resource, "shortNames"),
  ];
  return [
    {
      kind,
      plural,
      group,
      versions: [version],
      namespaced: resource["namespaced"] === true,
      names,
    },
  ];
}

const VERBS = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const;

function askedOf(verb: string, { kind, namespace = "", name = "", subresource }: Place): Wanted {
  const resource = `${kind.plural}${kind.group === "" ? "" : `.${kind.group}`}`;
  return {
    verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    namespace,
    name,
  };
}

/** Nothing in it comes from outside unescaped. */
function pathOf({ kind, namespace, name, subresource }: Place, version: string): string {
  const root = kind.group === "" ? ["api", version] : ["apis", kind.group, version];
  const inside = kind.namespaced && namespace !== undefined ? ["namespaces", namespace] : [];
  const parts = [...root, ...inside, kind.plural, name, subresource].filter(
    (part) => part !== undefined,
  );
  return parts.map(encodeURIComponent).join("/");
}

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function bodyOf(answer: HttpResponse, { verb, resource }: Wanted): JsonObject {
  const body = answer.isWhole ? parsed(answer.text) : undefined;
  if (body !== undefined) return body;
  const what = answer.isWhole
    ? "with something other than a JSON object"
    : "with more than is taken in";
  throw new BotError(
    "CONNECTION_FAILED",
    `The API server answered ${what} to ${verb} ${resource}.`,
  );
}

/** @throws BotError for a server that is in trouble, so that a read is tried again and a write counts as not known */
function refusalOf(answer: HttpResponse, asked: Wanted, isWrite: boolean): Error {
  const body = parsed(answer.text);
  const refusal = new Refusal(answer.status, body, answer.text, asked);
  const isQuota = answer.status === 429 && isWrite;
  if ((answer.status < 500 && answer.status !== 429) || isQuota) return refusal;
  const seconds = numberAt(body, "details", "retryAfterSeconds");
  const wait = seconds > 0 ? ` It asks to wait ${seconds} s.` : "";
  const text = `The API server answered ${answer.status} to ${asked.verb} ${asked.resource}: ${refusal.message}.${wait}`;
  return new BotError(isWrite ? "TIMEOUT" : "CONNECTION_FAILED", text);
}
