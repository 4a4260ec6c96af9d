import { suggest } from "../../../core/suggest.ts";
import { nameOf } from "./cluster.ts";
import { found, type Analyzer, type Found, type Problem } from "./found.ts";
import type { Ingress, IngressBackend } from "./resources.ts";
import type { Scene } from "./scene.ts";

/** Ingresses whose backend, class or certificate is not there, and hosts that two claim. */
export const ingresses: Analyzer = {
  name: "ingresses",
  look: (scene) => scene.list("ingresses").flatMap((ingress) => lookAt(scene, ingress)),
};

function lookAt(scene: Scene, ingress: Ingress): Found[] {
  const say = (problem: Omit<Problem, "id" | "since">) =>
    found(scene, { kind: "Ingress", name: nameOf(ingress) }, { since: null, ...problem });
  const backends = backendsOf(ingress);
  const wrong = backends.flatMap(({ backend, at }) => backendProblem(scene, backend, at));
  const problems = [
    ...wrong,
    ...classProblem(scene, ingress),
    ...tlsProblems(scene, ingress),
    ...conflicts(scene, ingress),
  ];
  const rests = backends.flatMap(({ backend }) => serviceOf(backend).name ?? []);
  if (problems.length > 0) return problems.map(say);
  const empty = rests.filter((name) => {
    const service = scene.service(name);
    return service !== undefined && scene.selectedBy(service).length > 0 && !hasReady(scene, name);
  });
  if (empty.length === 0) return [];
  return [
    say({
      cause: `backend Service ${empty.join(", ")} has no ready endpoints`,
      evidence: "Requests to it are answered with 502 or 503.",
      weight: 15,
      restsOn: empty.map((name) => scene.key("Service", name)),
    }),
  ];
}

function hasReady(scene: Scene, name: string): boolean {
  const service = scene.service(name);
  const selected = service === undefined ? [] : scene.selectedBy(service);
  return selected.some(({ pods }) =>
    pods.some(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    ),
  );
}

function backendsOf({ spec }: Ingress): { backend: IngressBackend; at: string }[] {
  const rules = (spec?.rules ?? []).flatMap(({ host = "*", http }) =>
    (http?.paths ?? []).map(({ path = "/", backend = {} }) => ({ backend, at: `${host}${path}` })),
  );
  return spec?.defaultBackend === undefined
    ? rules
    : [...rules, { backend: spec.defaultBackend, at: "default backend" }];
}

function serviceOf(backend: IngressBackend): {
  name: string | undefined;
  port: number | string | undefined;
} {
  return {
    name: backend.service?.name ?? backend.serviceName,
    port: backend.service?.port?.number ?? backend.service?.port?.name ?? backend.servicePort,
  };
}

type Told = Omit<Problem, "id" | "since">;

function backendProblem(scene: Scene, backend: IngressBackend, at: string): Told[] {
  const { name, port } = serviceOf(backend);
  if (name === undefined || !scene.sees("services")) return [];
  const service = scene.service(name);
  if (service === undefined) {
    const names = scene.list("services").map(nameOf);
    const near =
      suggest(name, names) ?? names.find((one) => one.startsWith(name) || name.startsWith(one));
    return [
      {
        cause: `backend service "${name}" not found`,
        evidence: `${at} leads to it.`,
        fix:
          near === undefined
            ? `Create Service ${name}, or correct the backend.`
            : `Is Service ${near} meant?`,
        weight: 85,
      },
    ];
  }
  const offered = service.spec?.ports ?? [];
  const isThere =
    port === undefined || offered.some((one) => one.port === Number(port) || one.name === port);
  if (isThere || service.spec?.type === "ExternalName") return [];
  return [
    {
      cause: `backend service ${name} has no port ${port} (it has ${offered.map((one) => one.port).join(", ")})`,
      evidence: `${at} leads to it.`,
      fix: `Correct the backend's port.`,
      weight: 84,
    },
  ];
}

function classProblem(scene: Scene, { spec, metadata }: Ingress): Told[] {
  const wanted = spec?.ingressClassName;
  if (!scene.sees("ingressclasses")) return [];
  const classes = scene.list("ingressclasses").map(nameOf);
  if (wanted !== undefined && !classes.includes(wanted))
    return [
      {
        cause: `ingress class "${wanted}" not found`,
        evidence: `No controller serves it; there are: ${classes.join(", ") || "no classes"}.`,
        fix: `Set ingressClassName to one that exists.`,
        weight: 83,
      },
    ];
  const isDefault = scene
    .list("ingressclasses")
    .some(
      (one) =>
        one.metadata?.annotations?.["ingressclass.kubernetes.io/is-default-class"] === "true",
    );
  const isOld = metadata?.annotations?.["kubernetes.io/ingress.class"] !== undefined;
  if (wanted !== undefined || isOld || isDefault || classes.length === 0) return [];
  return [
    {
      cause: "no ingress class is set, and none is the default",
      evidence: `There are: ${classes.join(", ")}. Most controllers pass over such an Ingress.`,
      fix: `Set ingressClassName.`,
      severity: "warning",
      weight: 44,
    },
  ];
}

function tlsProblems(scene: Scene, { spec }: Ingress): Told[] {
  if (!scene.sees("secrets")) return [];
  const hosts = new Set((spec?.rules ?? []).map(({ host }) => host ?? ""));
  return (spec?.tls ?? []).flatMap(({ secretName, hosts: covered }): Told[] => {
    const secret = scene.list("secrets").find((one) => nameOf(one) === secretName);
    if (secretName !== undefined && secret === undefined)
      return [
        {
          cause: `TLS secret "${secretName}" not found`,
          evidence: `For ${(covered ?? []).join(", ") || "all hosts"}; the controller serves its own certificate instead.`,
          fix: `Create Secret ${secretName} (kubernetes.io/tls), or look at what should issue it.`,
          weight: 80,
        },
      ];
    const lacks = ["tls.crt", "tls.key"].filter(
      (key) => secret !== undefined && !secret.keys.includes(key),
    );
    if (lacks.length > 0)
      return [
        {
          cause: `TLS secret "${secretName}" has no ${lacks.join(" and ")}`,
          evidence: `Its type is ${secret?.type ?? "unknown"}.`,
          fix: "Put the certificate and key into it under these names.",
          weight: 80,
        },
      ];
    const stray = (covered ?? []).find(
      (host) => hosts.size > 0 && !hosts.has(host) && !host.startsWith("*"),
    );
    return stray === undefined
      ? []
      : [
          {
            cause: `TLS is set for host ${stray}, which no rule has (rules: ${[...hosts].join(", ")})`,
            evidence: "The certificate and the rules do not name the same hosts.",
            fix: "Correct the host in the rule or in tls.",
            severity: "warning",
            weight: 43,
          },
        ];
  });
}

function conflicts(scene: Scene, ingress: Ingress): Told[] {
  const own = new Set(backendsOf(ingress).map(({ at }) => at));
  const other = scene
    .list("ingresses")
    .find(
      (one) =>
        nameOf(one) < nameOf(ingress) &&
        one.spec?.ingressClassName === ingress.spec?.ingressClassName &&
        one.metadata?.annotations?.["nginx.ingress.kubernetes.io/canary"] === undefined &&
        ingress.metadata?.annotations?.["nginx.ingress.kubernetes.io/canary"] === undefined &&
        backendsOf(one).some(({ at }) => own.has(at) && at !== "default backend"),
    );
  if (other === undefined) return [];
  return [
    {
      cause: `host and path are also claimed by Ingress ${nameOf(other)}`,
      evidence: `Both have ${backendsOf(other).find(({ at }) => own.has(at))?.at}; the older one wins.`,
      severity: "warning",
      weight: 42,
    },
  ];
}
