import { suggest } from "../../../core/suggest.ts";
import { isReady, nameOf, type WorkloadView } from "./cluster.ts";
import { found, type Analyzer, type Found } from "./found.ts";
import type { Container, ContainerPort } from "./objects.ts";
import type { Service, ServicePort } from "./resources.ts";
import type { Scene } from "./scene.ts";
import { showLabels } from "./selectors.ts";

/** Services that lead nowhere, or elsewhere. */
export const services: Analyzer = {
  name: "services",
  look: (scene) => scene.list("services").flatMap((service) => lookAt(scene, service)),
};

function lookAt(scene: Scene, service: Service): Found[] {
  const selector = service.spec?.selector ?? {};
  if (service.spec?.type === "ExternalName" || !scene.sees("pods")) return [];
  if (Object.keys(selector).length === 0) return [];
  const selected = scene.selectedBy(service);
  const pods = selected.flatMap(({ pods: own }) => own);
  const users = scene.dependents(service);
  if (selected.length === 0) return [selectsNothing(scene, service, users)];
  const wrong = [...misled(scene, service, selected), ...ports(scene, service, selected)].map(
    (one) => ({
      ...one,
      breaks: users.map(({ key }) => key),
    }),
  );
  if (wrong.length > 0) return wrong;
  if (pods.length === 0) return scaledToZero(scene, service, selected, users);
  return pods.some(isReady) ? noEndpoints(scene, service) : [notReady(scene, service, selected)];
}

function named(users: readonly { kind: string; name: string }[]): string {
  const [first] = users;
  if (first === undefined) return "";
  return ` ${first.kind} ${first.name}${users.length > 1 ? ` and ${users.length - 1} more` : ""} need it.`;
}

function selectsNothing(scene: Scene, service: Service, users: readonly WorkloadView[]): Found {
  const selector = service.spec?.selector ?? {};
  const near = nearestWorkload(scene, service);
  return found(
    scene,
    { kind: "Service", name: nameOf(service) },
    {
      cause: `selector ${showLabels(selector)} matches no pods, so the Service has no endpoints`,
      evidence:
        near === undefined
          ? `No workload of the namespace has these labels.${named(users)}`
          : `${near.kind} ${near.name} has labels ${showLabels(comparable(near, selector))}.${named(users)}`,
      fix:
        near === undefined
          ? "Correct the selector, or start the pods."
          : `Correct the selector to the labels of ${near.kind} ${near.name}.`,
      since: null,
      weight: near === undefined ? 70 : 86,
      breaks: users.map(({ key }) => key),
    },
  );
}

/** The labels that the selector asks about, else those that make up a usual selector. */
function comparable({ labels }: WorkloadView, selector: Readonly<Record<string, string>>) {
  const same = Object.entries(labels).filter(([key]) => key in selector);
  return Object.fromEntries(
    same.length > 0
      ? same
      : Object.entries(labels)
          .filter(([key]) => key !== "pod-template-hash")
          .slice(0, 3),
  );
}

/** Whom it probably means: of its own name, or all but one of its labels. */
function nearestWorkload(scene: Scene, service: Service): WorkloadView | undefined {
  const name = nameOf(service);
  const wanted = Object.entries(service.spec?.selector ?? {});
  const by = (test: (workload: WorkloadView) => boolean) => scene.workloads.find(test);
  const values = wanted.map(([, value]) => value);
  const close = suggest(
    values[0] ?? "",
    scene.workloads.map((one) => one.name),
  );
  return (
    by((one) => one.name === name) ??
    by(
      (one) =>
        wanted.length > 1 &&
        wanted.filter(([key, value]) => one.labels[key] === value).length === wanted.length - 1,
    ) ??
    by((one) => values.includes(one.name)) ??
    by((one) => one.name === close) ??
    by((one) => one.name.startsWith(name) || name.startsWith(one.name))
  );
}

/** It selects another workload than the one that bears its name. */
function misled(scene: Scene, service: Service, selected: readonly WorkloadView[]): Found[] {
  const name = nameOf(service);
  if (selected.some((one) => one.name === name || one.name.startsWith(`${name}-`))) return [];
  const own = scene.workloads.find(
    (one) => one.name === name && one.desired > 0 && one.kind !== "Job" && one.kind !== "CronJob",
  );
  const [other] = selected;
  if (own === undefined || other === undefined || name.startsWith(other.name)) return [];
  return [
    found(
      scene,
      { kind: "Service", name },
      {
        cause: `selector ${showLabels(service.spec?.selector ?? {})} selects the pods of ${other.kind} ${other.name}, not of ${own.kind} ${own.name}`,
        evidence: `${own.kind} ${own.name} has labels ${showLabels(comparable(own, service.spec?.selector ?? {}))}.`,
        fix: `Correct the selector to the labels of ${own.kind} ${own.name}.`,
        since: null,
        weight: 84,
      },
    ),
  ];
}

/** Target ports that no container has, or has for another protocol. */
function ports(scene: Scene, service: Service, selected: readonly WorkloadView[]): Found[] {
  const known = selected.flatMap(({ spec }) => (spec.containers ?? []).flatMap(portsOf));
  const declared = known.filter(({ isDeclared }) => isDeclared);
  if (declared.length === 0) return [];
  const all = service.spec?.ports ?? [];
  const fits = (port: ServicePort, one: OpenPort) =>
    isTarget(port, one) && (one.protocol ?? "TCP") === (port.protocol ?? "TCP");
  const wrong = all.filter((port) => !known.some((one) => fits(port, one)));
  // A program may well listen on a port that nobody declared; but then none that is declared is left over.
  const isLeft = declared.some((one) => !all.some((port) => fits(port, one)));
  const [first] = wrong;
  if (
    first === undefined ||
    (wrong.length < all.length && typeof targetOf(first) === "number" && !isLeft)
  )
    return [];
  const target = targetOf(first);
  const other = declared.find((one) => isTarget(first, one));
  const shown = [...new Set(declared.map(showPort))].join(", ");
  return [
    found(
      scene,
      { kind: "Service", name: nameOf(service) },
      {
        cause:
          other === undefined
            ? `target port ${target} of port ${first.port} is not a port of the containers (they have ${shown})`
            : `protocol ${first.protocol ?? "TCP"} of port ${first.port} does not match the container's ${other.protocol ?? "TCP"} (target port ${target})`,
        evidence: `${selected.map(({ kind, name }) => `${kind} ${name}`).join(", ")} declares ${shown}.`,
        fix:
          other === undefined
            ? "Correct targetPort, or the container's port."
            : "Use the container's protocol in the Service.",
        since: null,
        weight: 85,
      },
    ),
  ];
}

interface OpenPort extends ContainerPort {
  isDeclared: boolean;
}

/** Those that are declared, and those that probes or `PORT` speak of. */
function portsOf({
  ports: own,
  env,
  livenessProbe,
  readinessProbe,
  startupProbe,
}: Container): OpenPort[] {
  const probed = [livenessProbe, readinessProbe, startupProbe].map(
    (probe) => probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? probe?.grpc?.port,
  );
  const spoken = (env ?? []).flatMap(({ name = "", value }) =>
    /(?:^|_)PORT$/.test(name) ? [value] : [],
  );
  return [
    ...(own ?? []).map((port) => ({ ...port, isDeclared: true })),
    ...[...probed, ...spoken].flatMap((port) =>
      Number(port) > 0 ? [{ containerPort: Number(port), isDeclared: false }] : [],
    ),
  ];
}

function showPort({ name, containerPort, protocol = "TCP" }: ContainerPort): string {
  return `${name === undefined ? "" : `${name}=`}${containerPort}/${protocol}`;
}

export function targetOf({ targetPort, port }: ServicePort): number | string {
  if (targetPort === undefined || targetPort === 0 || targetPort === "") return port ?? 0;
  return /^\d+$/.test(String(targetPort)) ? Number(targetPort) : targetPort;
}

function isTarget(
  port: ServicePort,
  { name, containerPort }: { name?: string; containerPort?: number },
): boolean {
  const target = targetOf(port);
  return typeof target === "number" ? target === containerPort : target === name;
}

/** On purpose or not: nobody answers. Only who needs it makes that a fault. */
function scaledToZero(
  scene: Scene,
  service: Service,
  selected: readonly WorkloadView[],
  users: readonly WorkloadView[],
): Found[] {
  const zero = selected.find(
    ({ kind, desired }) => desired === 0 && (kind === "Deployment" || kind === "StatefulSet"),
  );
  const running = users.filter(({ desired, key }) => desired > 0 && key !== zero?.key);
  if (zero === undefined) {
    const waiting = selected.find(({ desired }) => desired > 0);
    return waiting === undefined ? [] : [notReady(scene, service, selected)];
  }
  if (isAutoscaled(scene, zero)) return [];
  const name = nameOf(service);
  return [
    found(scene, zero, {
      cause: `replicas: 0 (scaled to 0), so Service ${name} has no endpoints`,
      evidence: `No pods run.${named(running)}`,
      fix: `Scale ${zero.kind} ${zero.name} up, or remove Service ${name} if it is retired.`,
      severity:
        running.length > 0 || isExposed(scene, service) || isMissed(scene, name) ? "error" : "info",
      since: null,
      weight: 82,
      breaks: [scene.key("Service", name), ...running.map(({ key }) => key)],
    }),
  ];
}

function isExposed(scene: Scene, service: Service): boolean {
  return scene
    .list("ingresses")
    .some(({ spec }) => JSON.stringify(spec ?? {}).includes(`"${nameOf(service)}"`));
}

/** Others complain about it in their logs. */
function isMissed(scene: Scene, name: string): boolean {
  const called = new RegExp(`(?:^|[^\\w-])${name.replaceAll(/[^\w-]/g, ".")}(?:[^\\w-]|$)`);
  return scene.workloads.some((workload) =>
    (workload.spec.containers ?? []).some((container) => {
      const lines = scene.log(workload, container.name ?? "").slice(-30);
      return lines.some(
        (line) => called.test(line) && /fail|error|refused|timeout|unavailable|no such/i.test(line),
      );
    }),
  );
}

/** KEDA keeps an autoscaler for what it scales to nothing. */
function isAutoscaled(scene: Scene, { kind, name }: WorkloadView): boolean {
  return scene
    .list("horizontalpodautoscalers")
    .some(({ spec }) => spec?.scaleTargetRef?.kind === kind && spec.scaleTargetRef.name === name);
}

/** A consequence of whatever ails the pods. */
function notReady(scene: Scene, service: Service, selected: readonly WorkloadView[]): Found {
  const pods = selected.flatMap((one) => one.pods);
  return found(
    scene,
    { kind: "Service", name: nameOf(service) },
    {
      cause: `no ready endpoints: 0 of ${pods.length} pods that it selects are ready`,
      evidence: `It selects ${selected.map(({ kind, name }) => `${kind} ${name}`).join(", ")}.`,
      since: null,
      weight: 20,
      restsOn: selected.map(({ key }) => key),
    },
  );
}

/** Ready pods, and nobody wrote that down. */
function noEndpoints(scene: Scene, service: Service): Found[] {
  const name = nameOf(service);
  const endpoints = scene.list("endpoints").find((one) => nameOf(one) === name);
  const slices = scene
    .list("endpointslices")
    .filter(({ metadata }) => metadata?.labels?.["kubernetes.io/service-name"] === name);
  if (endpoints === undefined && slices.length === 0) return [];
  const has =
    (endpoints?.subsets ?? []).some(({ addresses }) => (addresses ?? []).length > 0) ||
    slices.some((slice) =>
      (slice.endpoints ?? []).some(({ conditions }) => conditions?.ready !== false),
    );
  if (has) return [];
  return [
    found(
      scene,
      { kind: "Service", name },
      {
        cause: "no endpoints, although pods that it selects are ready",
        evidence: "The Endpoints object is empty.",
        fix: "Check kube-controller-manager, which writes endpoints; and that nothing else edits them.",
        since: null,
        weight: 66,
        restsOn: ["component/kube-controller-manager"],
      },
    ),
  ];
}
