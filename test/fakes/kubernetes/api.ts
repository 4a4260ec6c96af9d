import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { discovery } from "./discovery.ts";
import { metadataOf, readMark, select, sortKey, table, writeMark } from "./lists.ts";
import { LOGS_KEY, logOf } from "./logs.ts";
import { patched } from "./patches.ts";
import { type FakeKind, kindsOf, type Obj } from "./resources.ts";
import { review } from "./review.ts";
import {
  type Access,
  type Answer,
  badRequest,
  dryRunProblem,
  failure,
  forbidden,
  immutable,
  NOT_ACCEPTABLE,
  notFound,
  qualified,
  UNAUTHORIZED,
  UNKNOWN_PATH,
  UNKNOWN_RESOURCE,
  UNSUPPORTED_TYPE,
} from "./status.ts";

/**
 * A strict API server of Kubernetes without controllers: it refuses what a real one refuses, in its words. `recorded.json` holds
 * it to one.
 */

export interface Asked {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface ApiOptions {
  /** As old as 1.20. Default: as new as 1.34. */
  old?: boolean;
  /** Names of users by their tokens. */
  tokens?: Readonly<Record<string, string>>;
  /** Who may do what. Default: admin everything, others nothing. */
  may?: (access: Access) => boolean;
}

export function createFakeApi(options: ApiOptions = {}) {
  const kinds = kindsOf(options.old === true);
  const tokens = options.tokens ?? { "admin-token-of-the-fake": "admin" };
  const may = options.may ?? (({ user }) => user === "admin");
  const objects = new Map<string, Obj>();
  const logs = new Map<string, string>();
  let version = 100;
  /** Marks older than this are expired. */
  let oldest = 0;

  const keyOf = (kind: FakeKind, namespace: string, name: string) =>
    `${kind.group}/${kind.plural}/${namespace}/${name}`;

  function add(object: Obj): Obj {
    const [group = "", short] = String(object["apiVersion"]).includes("/")
      ? String(object["apiVersion"]).split("/")
      : ["", object["apiVersion"]];
    const kind = kinds.find(
      (each) =>
        each.kind === object["kind"] &&
        each.group === group &&
        each.versions.includes(String(short)),
    );
    if (kind === undefined)
      throw new Error(
        `The fake has no kind ${String(object["apiVersion"])} ${String(object["kind"])}.`,
      );
    const { metadata, ...rest } = structuredClone(object);
    const namespace = kind.namespaced ? (metadata.namespace ?? "default") : "";
    version += 1;
    const stored: Obj = {
      ...rest,
      metadata: {
        ...metadata,
        ...(kind.namespaced && { namespace }),
        uid: metadata.uid ?? randomUUID(),
        resourceVersion: String(version),
        creationTimestamp: metadata.creationTimestamp ?? "2026-11-23T01:00:00Z",
        managedFields: metadata["managedFields"] ?? [
          { manager: "fake", operation: "Update", fieldsV1: { "f:data": {} } },
        ],
      },
    };
    objects.set(keyOf(kind, namespace, metadata.name), stored);
    return stored;
  }

  function answer(request: Asked): Answer {
    const user = tokens[(request.headers.authorization ?? "").replace(/^Bearer /, "")];
    if (user === undefined) return UNAUTHORIZED;
    const acting = request.headers["impersonate-user"];
    const url = new URL(request.url, "http://fake");
    const parts = url.pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
    const found = discovery(parts, kinds, options.old === true);
    if (found !== undefined) return found;
    return resource({ ...request, url, parts, user: typeof acting === "string" ? acting : user });
  }

  interface Request extends Omit<Asked, "url"> {
    url: URL;
    parts: string[];
    user: string;
  }

  function resource(request: Request): Answer {
    const [root, ...rest] = request.parts;
    const [group, short, ...path] = root === "api" ? ["", ...rest] : rest;
    if ((root !== "api" && root !== "apis") || short === undefined) return UNKNOWN_PATH;
    if (group === "authorization.k8s.io") return review(request, path[0] ?? "", { kinds, may });
    const served = kinds.filter((each) => each.group === group && each.versions.includes(short));
    if (served.length === 0) return UNKNOWN_PATH;
    const isInside = path[0] === "namespaces" && path.length > 2;
    const [plural = "", name = "", subresource = ""] = isInside ? path.slice(2) : path;
    const kind = served.find((each) => each.plural === plural);
    if (kind === undefined || (isInside && !kind.namespaced)) return UNKNOWN_RESOURCE;
    const namespace = isInside ? (path[1] ?? "") : kind.kind === "Namespace" ? name : "";
    const verb = verbOf(request.method, name);
    const access = { user: request.user, verb, kind, namespace, name, subresource };
    if (!may(access)) return forbidden(access);
    const place = { kind, namespace: isInside ? namespace : "", name, subresource };
    if (name === "")
      return request.method === "GET" ? list(request, place) : create(request, place);
    const object = objects.get(keyOf(kind, place.namespace, name));
    if (object === undefined) return notFound(kind, name);
    if (subresource === "log") return logOf(request.url, object, logs);
    if (subresource === "eviction" && request.method === "POST") return evict(request, object);
    if (subresource !== "" && subresource !== "scale" && subresource !== "status")
      return UNKNOWN_RESOURCE;
    if (request.method === "GET") return read(request, place, object);
    if (request.method === "PATCH") return patch(request, place, object);
    return request.method === "DELETE"
      ? remove(request, place, object)
      : failure(
          405,
          "MethodNotAllowed",
          "the server does not allow this method on the requested resource",
          {},
        );
  }

  interface Place {
    kind: FakeKind;
    namespace: string;
    name: string;
    subresource: string;
  }

  function shown(
    object: Obj,
    { kind, subresource }: Pick<Place, "kind" | "subresource">,
    apiVersion: string,
  ): Obj {
    if (subresource !== "scale") return { kind: kind.kind, apiVersion, ...object };
    const { name, namespace, uid, resourceVersion } = object["metadata"];
    return {
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: { name, namespace, uid, resourceVersion },
      spec: { replicas: object["spec"].replicas },
      status: { replicas: object["status"]?.replicas ?? 0 },
    };
  }

  const apiVersionOf = ({ parts }: Request) =>
    parts[0] === "api" ? "v1" : `${parts[1]}/${parts[2]}`;

  function read(request: Request, place: Place, object: Obj): Answer {
    const accept = request.headers.accept ?? "";
    if (accept.includes("as=Table")) return { status: 200, body: table([object], place.kind, {}) };
    if (!/application\/json|\*\/\*/.test(accept || "*/*")) return NOT_ACCEPTABLE;
    return { status: 200, body: shown(object, place, apiVersionOf(request)) };
  }

  function list(request: Request, { kind, namespace }: Place): Answer {
    const query = request.url.searchParams;
    const all = [...objects]
      .filter(([key]) => key.startsWith(`${kind.group}/${kind.plural}/`))
      .map(([, object]) => object)
      .filter((object) => namespace === "" || object["metadata"].namespace === namespace)
      .toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
    const selected = select(
      all,
      kind,
      query.get("labelSelector") ?? "",
      query.get("fieldSelector") ?? "",
    );
    if (!Array.isArray(selected)) return selected;
    const limit = Number(query.get("limit") ?? 0);
    const mark = readMark(query.get("continue"));
    if (mark === undefined)
      return badRequest(
        "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
      );
    if (mark.version !== 0 && mark.version < oldest) {
      const text =
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
      return failure(410, "Expired", text, undefined, { continue: writeMark(version, mark.from) });
    }
    const page =
      limit > 0 ? selected.slice(mark.from, mark.from + limit) : selected.slice(mark.from);
    const isMore = mark.from + page.length < selected.length;
    const isSelected = query.has("labelSelector") || query.has("fieldSelector");
    const metadata = {
      resourceVersion: String(version),
      ...(isMore && { continue: writeMark(version, mark.from + page.length) }),
      ...(isMore &&
        !isSelected && { remainingItemCount: selected.length - mark.from - page.length }),
    };
    const accept = request.headers.accept ?? "";
    if (accept.includes("as=Table")) return { status: 200, body: table(page, kind, metadata) };
    if (accept.includes("as=PartialObjectMetadataList")) {
      const items = page.map(metadataOf);
      return {
        status: 200,
        body: { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items },
      };
    }
    if (!/application\/json|\*\/\*/.test(accept || "*/*")) return NOT_ACCEPTABLE;
    // Items of a list do not say their kind.
    const items = page.map(untyped);
    return {
      status: 200,
      body: { kind: `${kind.kind}List`, apiVersion: apiVersionOf(request), metadata, items },
    };
  }

  function create(request: Request, { kind, namespace }: Place): Answer {
    const body = JSON.parse(request.body);
    const made = {
      apiVersion: apiVersionOf(request),
      kind: kind.kind,
      ...body,
      metadata: { ...body.metadata, ...(namespace !== "" && { namespace }) },
    };
    if (objects.has(keyOf(kind, namespace, body.metadata.name)))
      return failure(
        409,
        "AlreadyExists",
        `${qualified(kind)} "${body.metadata.name}" already exists`,
        { name: body.metadata.name, kind: kind.plural },
      );
    return { status: 201, body: add(made) };
  }

  function patch(request: Request, place: Place, object: Obj): Answer {
    const { kind } = place;
    const type = (request.headers["content-type"] ?? "").split(";")[0] ?? "";
    const dryRun = request.url.searchParams.getAll("dryRun");
    if (
      ![
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/json-patch+json",
      ].includes(type)
    )
      return UNSUPPORTED_TYPE;
    if (kind.custom === true && type.includes("strategic")) return UNSUPPORTED_TYPE;
    const wrong = dryRunProblem(dryRun, "PatchOptions");
    if (wrong !== undefined) return wrong;
    const before = shown(object, place, apiVersionOf(request));
    const after = patched(before, JSON.parse(request.body), type);
    if (after === undefined)
      return failure(
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
        {},
      );
    if (after["metadata"].uid !== object["metadata"].uid)
      return immutable(kind, place.name, after["metadata"].uid);
    const next =
      place.subresource === "scale"
        ? { ...object, spec: { ...object["spec"], replicas: after["spec"].replicas } }
        : after;
    if (typeof next["spec"]?.replicas === "number" && next["spec"].replicas < 0) {
      const why = `Invalid value: ${next["spec"].replicas}: must be greater than or equal to 0`;
      return failure(
        422,
        "Invalid",
        `${kind.kind} "${place.name}" is invalid: spec.replicas: ${why}`,
        { name: place.name, kind: kind.kind },
      );
    }
    const rest = untyped(next);
    version += 1;
    const isSame = JSON.stringify(rest["spec"]) === JSON.stringify(object["spec"]);
    const count = object["metadata"].generation ?? 1;
    // Only what has a spec has generations.
    const generation = rest["spec"] === undefined ? {} : { generation: count + (isSame ? 0 : 1) };
    const stored = {
      ...rest,
      metadata: {
        ...rest["metadata"],
        ...generation,
        ...(dryRun.length === 0 && { resourceVersion: String(version) }),
      },
    };
    if (dryRun.length === 0) objects.set(keyOf(kind, place.namespace, place.name), stored);
    return { status: 200, body: shown(stored, place, apiVersionOf(request)) };
  }

  function remove(request: Request, { kind, namespace, name }: Place, object: Obj): Answer {
    // As the real one: with a body, what the address says does not count.
    const given =
      request.body === ""
        ? { dryRun: request.url.searchParams.getAll("dryRun") }
        : JSON.parse(request.body);
    const wanted = given.preconditions?.uid;
    const { uid } = object["metadata"];
    if (wanted !== undefined && wanted !== uid) {
      const text = `Operation cannot be fulfilled on ${kind.kind} "${name}": the UID in the precondition (${wanted}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
      return failure(409, "Conflict", text, { name, kind: kind.kind });
    }
    const isDry = (given.dryRun ?? []).includes("All");
    if (!isDry) end(kind, namespace, name, object);
    return {
      status: 200,
      body: {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Success",
        details: { name, kind: kind.plural, uid },
      },
    };
  }

  /** What has a node or a finalizer ends later. */
  function end(kind: FakeKind, namespace: string, name: string, object: Obj): void {
    const key = keyOf(kind, namespace, name);
    const isHeld =
      object["spec"]?.nodeName !== undefined || (object["metadata"].finalizers ?? []).length > 0;
    if (!isHeld) objects.delete(key);
    else
      objects.set(key, {
        ...object,
        metadata: { ...object["metadata"], deletionTimestamp: new Date().toISOString() },
      });
  }

  function evict(request: Request, pod: Obj): Answer {
    const { apiVersion } = JSON.parse(request.body);
    const served = options.old === true ? "policy/v1beta1" : "policy/v1";
    if (apiVersion !== served)
      return badRequest(`no kind "Eviction" is registered for version "${apiVersion}" in scheme`);
    const { name, namespace, labels = {} } = pod["metadata"];
    const budget = [...objects.values()].find(
      (each) =>
        each["kind"] === "PodDisruptionBudget" &&
        Object.entries(each["spec"].selector.matchLabels).every(
          ([key, value]) => labels[key] === value,
        ),
    );
    if (budget !== undefined && (budget["status"]?.disruptionsAllowed ?? 0) < 1) {
      const details = {
        causes: [
          {
            reason: "DisruptionBudget",
            message: `The disruption budget ${budget["metadata"].name} needs 1 healthy pods and has 1 currently`,
          },
        ],
      };
      return failure(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        details,
      );
    }
    const kind = kinds.find((each) => each.kind === "Pod");
    if (kind !== undefined) end(kind, namespace, name, pod);
    return {
      status: 201,
      body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
    };
  }

  return {
    answer,
    add,
    find: (plural: string, namespace: string, name: string): Obj | undefined =>
      [...objects].find(([key]) => key.endsWith(`/${plural}/${namespace}/${name}`))?.[1],
    drop(plural: string, namespace: string, name: string) {
      for (const key of objects.keys())
        if (key.endsWith(`/${plural}/${namespace}/${name}`)) objects.delete(key);
    },
    /** Lines with the runtime's times in front. */
    log(
      namespace: string,
      pod: string,
      container: string,
      lines: readonly string[],
      previous = false,
    ) {
      logs.set(LOGS_KEY(namespace, pod, container, previous), lines.join("\n"));
    },
    /** Lists that were begun can no longer be gone on with. */
    expire() {
      version += 1;
      oldest = version;
    },
  };
}

function verbOf(method: string, name: string): string {
  if (method === "GET") return name === "" ? "list" : "get";
  return (
    { POST: "create", PATCH: "patch", DELETE: "delete", PUT: "update" }[method] ??
    method.toLowerCase()
  );
}

function untyped(object: Obj): Obj {
  const rest = { ...object };
  delete rest["kind"];
  delete rest["apiVersion"];
  return rest;
}
