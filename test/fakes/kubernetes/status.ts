import type { FakeKind } from "./resources.ts";

/** The Status objects that a real API server answers with. */

export interface Answer {
  status: number;
  body: unknown;
  /** Default: JSON. */
  type?: string;
}

export function failure(
  code: number,
  reason: string,
  message: string,
  details?: object,
  metadata = {},
): Answer {
  return {
    status: code,
    body: {
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: "Failure",
      message,
      reason,
      ...(details !== undefined && { details }),
      code,
    },
  };
}

export const UNKNOWN_RESOURCE = failure(
  404,
  "NotFound",
  "the server could not find the requested resource",
  {},
);
export const UNKNOWN_PATH: Answer = {
  status: 404,
  body: "404 page not found\n",
  type: "text/plain; charset=utf-8",
};
export const UNAUTHORIZED = failure(401, "Unauthorized", "Unauthorized");
export const NOT_ACCEPTABLE = failure(406, "NotAcceptable", "406: Not Acceptable", {});
export const UNSUPPORTED_TYPE = failure(
  415,
  "UnsupportedMediaType",
  "415: Unsupported Media Type",
  {},
);

export function badRequest(message: string): Answer {
  return failure(400, "BadRequest", message);
}

export function qualified({ plural, group }: FakeKind): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function detailsOf({ plural, group }: FakeKind, name: string): object {
  return { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: plural };
}

export function notFound(kind: FakeKind, name: string): Answer {
  return failure(404, "NotFound", `${qualified(kind)} "${name}" not found`, detailsOf(kind, name));
}

export interface Access {
  user: string;
  verb: string;
  kind: FakeKind;
  namespace: string;
  name: string;
  subresource: string;
}

export function forbidden({ user, verb, kind, namespace, name, subresource }: Access): Answer {
  const resource = subresource === "" ? kind.plural : `${kind.plural}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const what = name === "" ? qualified(kind) : `${qualified(kind)} "${name}"`;
  const message = `${what} is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "${kind.group}" ${where}`;
  return failure(403, "Forbidden", message, detailsOf(kind, name));
}

export function dryRunProblem(dryRun: readonly string[], options: string): Answer | undefined {
  if (dryRun.every((each) => each === "All")) return undefined;
  const why = `Unsupported value: []string{"${dryRun.join('", "')}"}: supported values: "All"`;
  const details = {
    group: "meta.k8s.io",
    kind: options,
    causes: [{ reason: "FieldValueNotSupported", message: why, field: "dryRun" }],
  };
  return failure(422, "Invalid", `${options}.meta.k8s.io "" is invalid: dryRun: ${why}`, details);
}

export function immutable({ kind, group }: FakeKind, name: string, uid: string): Answer {
  const why = `Invalid value: "${uid}": field is immutable`;
  const cause = { reason: "FieldValueInvalid", message: why, field: "metadata.uid" };
  const details = { name, ...(group !== "" && { group }), kind, causes: [cause, cause] };
  const what = group === "" ? kind : `${kind}.${group}`;
  return failure(422, "Invalid", `${what} "${name}" is invalid: metadata.uid: ${why}`, details);
}
