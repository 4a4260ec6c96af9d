import { suggest } from "../../../core/suggest.ts";
import type { Address } from "./addresses.ts";
import { isReady, nameOf, type WorkloadView } from "./cluster.ts";
import { refusingServer } from "./databases.ts";
import { found, type Analyzer, type Found } from "./found.ts";
import { LOG_FIXES, logReason, type LogKind } from "./log-reasons.ts";
import { restsOn } from "./containers.ts";
import { hasRun, statusesOf, type Scene } from "./scene.ts";

/** Addresses in variables that lead nowhere, and programs that run and complain. */
export const settings: Analyzer = {
  name: "settings",
  look: (scene) =>
    scene.workloads
      .filter(({ desired, pods }) => desired > 0 || pods.length > 0)
      .flatMap((workload) => [
        ...misaddressed(scene, workload),
        ...shadowed(scene, workload),
        ...otherDns(scene, workload),
        ...unnamed(scene, workload),
        ...complaining(scene, workload),
      ]),
};

/** Traces and metrics are sent to nobody in many a healthy shop. */
const TELEMETRY =
  /OTEL|OTLP|JAEGER|COLLECTOR|TRAC|METRIC|PROFIL|ZIPKIN|STATSD|SENTRY|DD_|DATADOG|NEW_?RELIC/i;

function misaddressed(scene: Scene, workload: WorkloadView): Found[] {
  const lines = scene.addresses(workload).length === 0 ? "" : tail(scene, workload);
  return scene.addresses(workload).flatMap((address) => {
    const problem = address.isMissing ? missing(scene, address) : wrongPort(scene, address);
    if (problem === undefined) return [];
    const isTold = lines.includes(address.host);
    const isSick = workload.pods.some((pod) => !isReady(pod) && statusesOf(pod).some(hasRun));
    const isIdle = TELEMETRY.test(address.from) || address.from === "args";
    // A name that nobody has missed yet may belong to a feature that is switched off.
    if (!isTold && (isIdle || (!problem.isSure && !isSick))) return [];
    const isLikely = isTold || problem.isSure;
    return [
      found(scene, workload, {
        cause: `${address.from} is ${address.host}${address.port === undefined ? "" : `:${address.port}`}: ${problem.cause}`,
        evidence: `Container ${address.container}${isTold ? "; its log names the host too" : ""}. ${problem.evidence}`,
        fix: problem.fix,
        severity: isLikely ? "error" : "warning",
        since: null,
        weight: isTold ? 83 : isLikely ? 78 : 35,
        ...(!isLikely && { isGeneral: true as const, restsOn: [workload.key] }),
      }),
    ];
  });
}

function tail(scene: Scene, workload: WorkloadView): string {
  return [...(workload.spec.initContainers ?? []), ...(workload.spec.containers ?? [])]
    .flatMap(({ name = "" }) => scene.log(workload, name).slice(-60))
    .join("\n");
}

function missing(scene: Scene, { name, host, from }: Address) {
  const names = scene.list("services").map(nameOf);
  const near =
    suggest(name, names) ??
    names.find((one) => one.startsWith(`${name}-`) || name.startsWith(`${one}-`)) ??
    names.find((one) => one.replaceAll("-", "") === name.replaceAll("-", ""));
  return {
    cause: `there is no Service ${name}${near === undefined ? "" : `; is ${near} meant?`}`,
    evidence: `The name ${host} cannot be resolved.`,
    fix:
      near === undefined
        ? `Create Service ${name}, or correct ${from}.`
        : `Set ${from} to ${near}.`,
    isSure: near !== undefined,
  };
}

function wrongPort(scene: Scene, { service, port, from }: Address) {
  if (service === undefined || port === undefined || service.spec?.type === "ExternalName")
    return undefined;
  const offered = (service.spec?.ports ?? []).map((one) => one.port);
  const isHeadless = service.spec?.clusterIP === "None";
  if (offered.includes(port) || offered.length === 0) return undefined;
  if (isHeadless) {
    const open = scene
      .selectedBy(service)
      .flatMap(({ spec }) =>
        (spec.containers ?? []).flatMap(({ ports }) =>
          (ports ?? []).map((one) => one.containerPort),
        ),
      );
    if (open.length === 0 || open.includes(port)) return undefined;
  }
  return {
    cause: `Service ${nameOf(service)} has no port ${port} (it has ${offered.join(", ")})`,
    evidence: "Connections to that port time out or are refused.",
    fix: `Set ${from} to port ${offered.join(" or ")}, or add port ${port} to the Service.`,
    isSure: true,
  };
}

/** The later of two variables of one name wins, silently. */
function shadowed(scene: Scene, workload: WorkloadView): Found[] {
  return (workload.spec.containers ?? []).flatMap(({ name, env }) => {
    const seen = new Map<string, string | undefined>();
    const twice = (env ?? []).find((one) => {
      const before = seen.has(one.name ?? "") && seen.get(one.name ?? "") !== one.value;
      seen.set(one.name ?? "", one.value);
      return before;
    });
    if (twice === undefined) return [];
    return [
      found(scene, workload, {
        cause: `env ${twice.name} is set twice with different values; the later one wins`,
        evidence: `Container ${name}.`,
        fix: `Remove one of the two ${twice.name}.`,
        severity: "warning",
        since: null,
        weight: 42,
      }),
    ];
  });
}

/** Pods that do not ask the cluster's DNS, although their settings name its services. */
function otherDns(scene: Scene, workload: WorkloadView): Found[] {
  const { dnsPolicy = "ClusterFirst", dnsConfig, hostNetwork } = workload.spec;
  const names = scene.addresses(workload).filter(({ service }) => service !== undefined);
  const own = dnsConfig?.nameservers ?? [];
  const clusterIp = scene.list("systemServices").find((one) => nameOf(one) === "kube-dns")
    ?.spec?.clusterIP;
  const asksCluster =
    dnsPolicy === "ClusterFirstWithHostNet" ||
    (dnsPolicy === "ClusterFirst" && hostNetwork !== true) ||
    (clusterIp !== undefined && own.includes(clusterIp));
  const [first] = names;
  const isTold = logReason(tail(scene, workload).split("\n"))?.kind === "resolve";
  if (asksCluster || (first === undefined && !isTold)) return [];
  const how =
    dnsPolicy === "ClusterFirst"
      ? "hostNetwork with dnsPolicy ClusterFirst"
      : `dnsPolicy ${dnsPolicy}${own.length > 0 ? ` with nameservers ${own.join(", ")}` : ""}`;
  const seen = [
    ...(first === undefined ? [] : [`${first.from} names Service ${first.name}`]),
    ...(isTold ? ["the log says that names do not resolve"] : []),
  ];
  const isSick = isTold || workload.pods.some((pod) => !isReady(pod));
  return [
    found(scene, workload, {
      cause: `${how}: the pods do not ask the cluster's DNS, so service names cannot be resolved`,
      evidence: `${seen.join("; ")}.`,
      fix:
        hostNetwork === true
          ? "Set dnsPolicy to ClusterFirstWithHostNet."
          : "Set dnsPolicy to ClusterFirst.",
      severity: isSick || dnsPolicy === "None" ? "error" : "warning",
      since: null,
      weight: isSick ? 84 : 62,
    }),
  ];
}

/** The pods of a stateful set have names only by the service that it names. */
function unnamed(scene: Scene, workload: WorkloadView): Found[] {
  const name = workload.kind === "StatefulSet" ? (workload.object?.spec?.serviceName ?? "") : "";
  const isSick = workload.pods.some((pod) => !isReady(pod));
  if (name === "" || !scene.sees("services") || scene.service(name) !== undefined || !isSick)
    return [];
  return [
    found(scene, workload, {
      cause: `serviceName: there is no Service ${name}, so the pods' own names cannot be resolved`,
      evidence: "Members that look for each other by name do not find each other.",
      fix: `Create the headless Service ${name}, or correct serviceName.`,
      since: null,
      weight: logReason(tail(scene, workload).split("\n"))?.kind === "resolve" ? 82 : 46,
    }),
  ];
}

/** Kinds of complaints of a program that runs that are worth telling, with how many lines it takes. */
const COMPLAINTS: Partial<Record<LogKind, number>> = {
  credentials: 2,
  rights: 2,
  resolve: 2,
  connection: 3,
  disk: 1,
  tls: 2,
  permission: 2,
  other: 5,
};

/** How logs mark a line as an error. */
const LEVEL =
  /\b(?:ERROR|FATAL|CRITICAL|SEVERE)\b|level=(?:error|fatal)|"(?:level|severity)":\s*"(?:error|fatal|critical)"/;

/** A container that runs is ready, and yet its last lines repeat the same failure. */
function complaining(scene: Scene, workload: WorkloadView): Found[] {
  const [pod] = workload.pods;
  if (pod === undefined) return [];
  const statuses = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ];
  return statuses.flatMap(({ name = "", state }) => {
    if ((state?.running ?? undefined) === undefined) return [];
    const isInit = (pod.spec?.initContainers ?? []).some((one) => one.name === name);
    const lines = scene.log(workload, name);
    const told = logReason(lines.slice(-30));
    if (told === undefined) return [];
    const isError = told.kind === "other" && !isInit;
    const count = isError ? lines.slice(-30).filter((line) => LEVEL.test(line)).length : told.count;
    if (count < (isInit ? 1 : (COMPLAINTS[told.kind] ?? Infinity))) return [];
    if (!isInit && !stillNow(lines, told.kind)) return [];
    const server = refusingServer(scene, workload, told);
    const isSoft = told.kind === "connection" || told.kind === "resolve";
    return [
      found(scene, workload, {
        cause: `${isInit ? `init container ${name}: ` : ""}${told.line}`,
        evidence: `${count} of the last ${Math.min(30, lines.length)} log lines of container ${name}, which runs, say so.`,
        fix: LOG_FIXES[told.kind],
        // Who can still serve without the peer is not broken.
        severity: (told.kind === "connection" || isError) && isReady(pod) ? "warning" : "error",
        since: null,
        weight: isInit ? 68 : isError ? 38 : isSoft ? 58 : 72,
        restsOn: [workload.key, ...restsOn(scene, workload, pod, told)],
        ...(server !== undefined && { shared: server }),
      }),
    ];
  });
}

/** It is over when the last lines say something else. */
function stillNow(lines: readonly string[], kind: LogKind): boolean {
  return logReason(lines.slice(-5))?.kind === kind;
}
