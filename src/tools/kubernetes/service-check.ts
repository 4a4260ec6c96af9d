import type { JsonObject } from "../../core/entry.ts";
import type { Finding, Gap } from "../../core/finding.ts";
import { suggest } from "../../core/suggest.ts";
import { counted } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import { type Clusters, defineRead, locate, objectName, someNamespace } from "./cluster-tool.ts";
import { cell } from "./format.ts";
import { builtIn, refOf } from "./kinds.ts";
import {
  at,
  listAt,
  mapAt,
  nameOf,
  namespaceOf,
  numberAt,
  objectAt,
  selectorText,
  textAt,
} from "./objects.ts";
import { podState } from "./pods.ts";

const SERVICES = builtIn("services");
const ENDPOINTS = builtIn("endpoints");
const PODS = builtIn("pods");
const INGRESSES = builtIn("ingresses");

/** Whether requests to a service can arrive: selector, pods, ports, endpoints, and the ingresses that lead to it. */
export function createServiceCheck(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_service_check",
    summary: "checks the way from a service over its endpoints to ready pods and their ports",
    description:
      "Why a service has no, or the wrong, endpoints: its selector, pods, ports and protocols, endpoints, ingresses.",
    shape: { name: objectName.describe("The service"), namespace: someNamespace },
    doing: ({ name }) => `Checking service ${name}`,
    async run(input, api) {
      const service = await locate(api, SERVICES, input.name, input.namespace);
      const namespace = namespaceOf(service);
      const gaps: Gap[] = [];
      const [pods, endpoints, ingresses] = await Promise.all([
        api.see(PODS, gaps, { namespace }),
        api.find({ kind: ENDPOINTS, namespace, name: input.name }),
        api.see(INGRESSES, gaps, { namespace }),
      ]);
      const world = { service, pods, endpoints, selected: selectedBy(service, pods) };
      const findings = problemsOf(world);
      const text = [describe(world, findings.length), ...ingressLines(service, ingresses)].join(
        "\n",
      );
      return { text, findings, gaps };
    },
  });
}

interface World {
  service: JsonObject;
  /** Of its namespace. */
  pods: readonly JsonObject[];
  selected: readonly JsonObject[];
  endpoints: JsonObject | undefined;
}

function selectedBy(service: JsonObject, pods: readonly JsonObject[]): JsonObject[] {
  const wanted = Object.entries(mapAt(service, "spec", "selector"));
  if (wanted.length === 0) return [];
  return pods.filter((pod) => {
    const labels = mapAt(pod, "metadata", "labels");
    const isOver =
      textAt(pod, "status", "phase") === "Succeeded" || textAt(pod, "status", "phase") === "Failed";
    return !isOver && wanted.every(([key, value]) => labels[key] === value);
  });
}

function addresses(
  endpoints: JsonObject | undefined,
  key: "addresses" | "notReadyAddresses",
): string[] {
  return listAt(endpoints, "subsets").flatMap((subset) =>
    listAt(subset, key).map((address) => textAt(address, "ip")),
  );
}

function problemsOf(world: World): Finding[] {
  const { service, selected, endpoints } = world;
  const object = { kind: "Service", namespace: namespaceOf(service), name: nameOf(service) };
  const found = (
    cause: string,
    evidence: string,
    fix: string,
    since: string | null = null,
  ): Finding => ({
    object,
    cause,
    severity: "error",
    evidence,
    fix,
    since,
  });
  const selector = mapAt(service, "spec", "selector");
  if (textAt(service, "spec", "type") === "ExternalName") return [];
  if (Object.keys(selector).length === 0) {
    if (addresses(endpoints, "addresses").length > 0) return [];
    return [
      found(
        "no selector and no endpoints",
        "Nobody fills its endpoints.",
        "Give it a selector, or endpoints by hand.",
      ),
    ];
  }
  if (selected.length === 0) return [found("selector matches no pod", ...nearestPods(world))];
  const ports = listAt(service, "spec", "ports").flatMap((port) => {
    const why = portProblem(port, selected);
    return why === undefined ? [] : [found(...why)];
  });
  if (ports.length > 0) return ports;
  const ready = selected.filter((pod) => podState(pod).isHealthy);
  if (ready.length > 0 || objectAt(service, "spec")["publishNotReadyAddresses"] === true) return [];
  const { troubles } = podState(selected[0] ?? {});
  const why = `${refOf("pod", nameOf(selected[0] ?? {}))}: ${troubles[0]?.reason ?? ""} ${cell(troubles[0]?.detail ?? "")}`;
  const since = troubles[0]?.since ?? "";
  const fix = "Mend its pods: kubernetes_diagnose says why they are not ready.";
  return [
    found(
      "no ready pod behind it",
      `${counted(selected.length, "pod")} selected, none ready; ${why}`,
      fix,
      since || null,
    ),
  ];
}

/** Which pods it nearly selects, and what to change. */
function nearestPods({ service, pods }: World): [evidence: string, fix: string] {
  const wanted = Object.entries(mapAt(service, "spec", "selector"));
  const text = selectorText({ matchLabels: mapAt(service, "spec", "selector") }) ?? "";
  const scored = pods
    .map((pod) => {
      const labels = mapAt(pod, "metadata", "labels");
      const missed = wanted.filter(([key, value]) => labels[key] !== value);
      return { pod, labels, missed };
    })
    .toSorted((a, b) => a.missed.length - b.missed.length);
  const nearest = scored.find(
    ({ missed, labels }) => missed.length < wanted.length || isNear(wanted, labels),
  );
  if (nearest === undefined)
    return [
      `It selects ${text}; no pod of the namespace has any of these labels.`,
      "Correct the selector, or start the pods.",
    ];
  const differ = nearest.missed
    .map(
      ([key, value]) =>
        `${key}=${value} where the pod has ${key}=${nearest.labels[key] ?? "(none)"}`,
    )
    .join(", ");
  return [
    `It selects ${text}; nearest is ${refOf("pod", nameOf(nearest.pod))}: ${differ}.`,
    `Set the selector to the pods' labels.`,
  ];
}

function isNear(
  wanted: readonly (readonly [string, string])[],
  labels: Record<string, string>,
): boolean {
  return wanted.some(
    ([key, value]) => suggest(value, [labels[key] ?? "", ...Object.values(labels)]) !== undefined,
  );
}

interface Port {
  name: string;
  number: number;
  protocol: string;
  container: string;
}

function portsOf(pod: JsonObject): Port[] {
  return listAt(pod, "spec", "containers").flatMap((container) =>
    listAt(container, "ports").map((port) => ({
      name: textAt(port, "name"),
      number: numberAt(port, "containerPort"),
      protocol: textAt(port, "protocol") || "TCP",
      container: textAt(container, "name"),
    })),
  );
}

function targetOf(port: JsonObject): string | number {
  const target = at(port, "targetPort");
  return typeof target === "string" || typeof target === "number" ? target : numberAt(port, "port");
}

function portProblem(
  port: JsonObject,
  selected: readonly JsonObject[],
): [string, string, string] | undefined {
  const target = targetOf(port);
  const protocol = textAt(port, "protocol") || "TCP";
  const own = [
    ...new Map(
      selected
        .flatMap(portsOf)
        .map((each) => [`${each.name}/${each.number}/${each.protocol}`, each]),
    ).values(),
  ];
  const label = `port ${numberAt(port, "port")} → ${target}/${protocol}`;
  const open = own
    .map((each) => `${each.number}/${each.protocol}${each.name === "" ? "" : ` (${each.name})`}`)
    .join(", ");
  // Ports need not be declared: without any, nothing is known.
  if (own.length === 0)
    return typeof target === "string"
      ? [
          "target port has no such name in the pods",
          `${label}; the pods declare no ports.`,
          "Use the port's number.",
        ]
      : undefined;
  const same = own.filter((each) =>
    typeof target === "string" ? each.name === target : each.number === target,
  );
  if (same.some((each) => each.protocol === protocol)) return undefined;
  const [wrong] = same;
  if (wrong !== undefined)
    return [
      "protocol differs from the pods' port",
      `${label}; the pods listen on ${open}.`,
      `Set the protocol to ${wrong.protocol}.`,
    ];
  return [
    "target port is not among the pods' ports",
    `${label}; the pods declare ${open}.`,
    "Set targetPort to one of them.",
  ];
}

function describe({ service, selected, endpoints }: World, problems: number): string {
  const ports = listAt(service, "spec", "ports").map(
    (port) => `${numberAt(port, "port")} → ${targetOf(port)}/${textAt(port, "protocol") || "TCP"}`,
  );
  const selector = selectorText({ matchLabels: mapAt(service, "spec", "selector") }) ?? "none";
  const ready = addresses(endpoints, "addresses");
  const waiting = addresses(endpoints, "notReadyAddresses");
  const healthy = selected.filter((pod) => podState(pod).isHealthy).length;
  const external = textAt(service, "spec", "externalName");
  const head = `${namespaceOf(service)}/${refOf("service", nameOf(service))} ${textAt(service, "spec", "type")} ${external || textAt(service, "spec", "clusterIP")}`;
  return [
    `${head}: ${problems === 0 ? "requests can arrive" : "requests cannot arrive"}`,
    `ports: ${ports.join(", ") || "none"}; selector: ${selector}`,
    `pods: ${selected.length} selected, ${healthy} ready; endpoints: ${ready.length} ready${waiting.length === 0 ? "" : `, ${waiting.length} not ready`}`,
    ...selected.slice(0, 10).map((pod) => {
      const { status, ready: count, containers } = podState(pod);
      const open = portsOf(pod)
        .map((port) => `${port.number}/${port.protocol}`)
        .join(", ");
      return `  ${refOf("pod", nameOf(pod))} ${status} ${count}/${containers} ${textAt(pod, "status", "podIP")} ports ${open || "not declared"}`;
    }),
  ].join("\n");
}

/** The ingresses that name it, and with a port that it has not. */
function ingressLines(service: JsonObject, ingresses: readonly JsonObject[]): string[] {
  const ports = listAt(service, "spec", "ports");
  return ingresses.flatMap((ingress) =>
    listAt(ingress, "spec", "rules").flatMap((rule) =>
      listAt(rule, "http", "paths")
        .filter((path) => textAt(path, "backend", "service", "name") === nameOf(service))
        .map((path) => {
          const port = objectAt(path, "backend", "service", "port");
          const has = ports.some(
            (each) => each["port"] === port["number"] || each["name"] === port["name"],
          );
          const wrong = has ? "" : " – the service has no such port";
          return `ingress ${nameOf(ingress)}: ${textAt(rule, "host") || "*"}${textAt(path, "path")} → port ${textAt(port, "name") || numberAt(port, "number")}${wrong}`;
        }),
    ),
  );
}
