/** Requests whose answers of a real API server (1.20) are in `recorded.json`: the fake has to answer them alike. */

export interface Exchange {
  about: string;
  as?: "admin" | "reader" | "nobody";
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Recorded {
  about: string;
  status: number;
  contentType: string;
  body: unknown;
}

const IN = "/api/v1/namespaces/recorded";
const MERGE = { "content-type": "application/merge-patch+json" };
const JSON_TYPE = { "content-type": "application/json" };

/** Made before, in this order. */
export const SEEDS: { path: string; body: Record<string, unknown> }[] = [
  {
    path: "/api/v1/namespaces",
    body: { apiVersion: "v1", kind: "Namespace", metadata: { name: "recorded" } },
  },
  ...[1, 2, 3, 4, 5].map((number) => ({
    path: `${IN}/configmaps`,
    body: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: `c${number}`,
        namespace: "recorded",
        labels: { app: number < 4 ? "web" : "db" },
      },
      data: { key: `value ${number}` },
    },
  })),
  {
    path: `${IN}/pods`,
    body: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: "recorded" },
      spec: {
        automountServiceAccountToken: false,
        containers: [
          { name: "a", image: "x" },
          { name: "b", image: "x" },
        ],
      },
    },
  },
];

export const EXCHANGES: Exchange[] = [
  { about: "a resource that is not there", path: "/api/v1/foo" },
  { about: "a group that is not there", path: "/apis/foo/v1" },
  { about: "an object that is not there", path: `${IN}/pods/nope` },
  { about: "a page of a list", path: `${IN}/configmaps?limit=2&labelSelector=app%20in%20(web,db)` },
  { about: "a selector", path: `${IN}/configmaps?labelSelector=app%3Ddb` },
  { about: "a selector of a name", path: `${IN}/configmaps?fieldSelector=metadata.name%3Dc2` },
  {
    about: "a field that cannot be selected by",
    path: `${IN}/configmaps?fieldSelector=data.key%3Dx`,
  },
  { about: "a mark to go on from that is none", path: `${IN}/configmaps?limit=2&continue=abc` },
  {
    about: "a table",
    path: `${IN}/configmaps?limit=1&labelSelector=app%3Ddb`,
    headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
  },
  {
    about: "only metadata",
    path: `${IN}/configmaps?limit=1&labelSelector=app%3Ddb`,
    headers: { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" },
  },
  {
    about: "an answer in a form that it has not",
    path: `${IN}/configmaps/c1`,
    headers: { accept: "text/html" },
  },
  {
    about: "a patch of no type",
    method: "PATCH",
    path: `${IN}/configmaps/c1`,
    headers: { "content-type": "text/plain" },
    body: {},
  },
  {
    about: "a patch as a dry run",
    method: "PATCH",
    path: `${IN}/configmaps/c1?dryRun=All`,
    headers: MERGE,
    body: { data: { key: null, other: "new" } },
  },
  { about: "after the dry run", path: `${IN}/configmaps/c1` },
  {
    about: "a dry run of no kind",
    method: "PATCH",
    path: `${IN}/configmaps/c1?dryRun=Some`,
    headers: MERGE,
    body: { data: {} },
  },
  {
    about: "a patch for another object of the name",
    method: "PATCH",
    path: `${IN}/configmaps/c1`,
    headers: MERGE,
    body: { metadata: { uid: "11111111-1111-1111-1111-111111111111" }, data: { key: "x" } },
  },
  {
    about: "a JSON patch whose test fails",
    method: "PATCH",
    path: `${IN}/configmaps/c1`,
    headers: { "content-type": "application/json-patch+json" },
    body: [{ op: "test", path: "/metadata/uid", value: "x" }],
  },
  { about: "a list that is forbidden", as: "reader", path: `${IN}/pods` },
  { about: "a list of all namespaces that is forbidden", as: "reader", path: "/api/v1/pods" },
  {
    about: "an object that is forbidden",
    as: "reader",
    path: "/apis/apps/v1/namespaces/recorded/deployments/d",
  },
  { about: "a log that is forbidden", as: "reader", path: `${IN}/pods/p/log` },
  {
    about: "a patch that is forbidden",
    as: "reader",
    method: "PATCH",
    path: `${IN}/configmaps/c1`,
    headers: MERGE,
    body: {},
  },
  { about: "a credential of nobody", as: "nobody", path: `${IN}/pods` },
  {
    about: "a delete for another object of the name",
    method: "DELETE",
    path: `${IN}/configmaps/c5`,
    headers: JSON_TYPE,
    body: {
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: "11111111-1111-1111-1111-111111111111" },
    },
  },
  {
    about: "a delete as a dry run",
    method: "DELETE",
    path: `${IN}/configmaps/c5`,
    headers: JSON_TYPE,
    body: { apiVersion: "v1", kind: "DeleteOptions", dryRun: ["All"] },
  },
  { about: "after that delete", path: `${IN}/configmaps/c5` },
  {
    about: "a delete whose dry run is said in the address only",
    method: "DELETE",
    path: `${IN}/configmaps/c4?dryRun=All`,
    headers: JSON_TYPE,
    body: { apiVersion: "v1", kind: "DeleteOptions" },
  },
  { about: "which deleted it", path: `${IN}/configmaps/c4` },
  { about: "a log of one of several containers", path: `${IN}/pods/p/log` },
  { about: "a log of a container that is not there", path: `${IN}/pods/p/log?container=z` },
  {
    about: "what I may",
    as: "reader",
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    headers: JSON_TYPE,
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "list", resource: "pods", namespace: "recorded" } },
    },
  },
];

/** Without what differs from server to server: ids, times, marks to go on from. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === "string") {
    return value
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replaceAll(/^\d+(?:s|m|m\d+s|h\d*m?)$/g, "AGE");
  }
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !LEFT_OUT.has(key));
  return Object.fromEntries(
    kept.map(([key, inner]) => [
      key,
      key === "resourceVersion" ? "VERSION" : key === "continue" ? "MARK" : comparable(inner),
    ]),
  );
}

/** Its bookkeeping, and texts that only explain columns. */
const LEFT_OUT = new Set(["managedFields", "description", "selfLink"]);
