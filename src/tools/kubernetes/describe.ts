import type { JsonObject } from "../../core/entry.ts";
import type { Gap } from "../../core/finding.ts";
import { counted } from "../../core/text.ts";
import type { Tool } from "../tool.ts";
import type { Api } from "./client.ts";
import { type Clusters, defineRead, locate, objectName, someNamespace } from "./cluster-tool.ts";
import { eventLine, foldEvents } from "./event-lines.ts";
import { cell, firstLines, moment } from "./format.ts";
import { fieldsText, kindArgument } from "./get.ts";
import { builtIn, type Kind, refOf } from "./kinds.ts";
import {
  controllerOf,
  listAt,
  mapAt,
  nameOf,
  namespaceOf,
  numberAt,
  objectAt,
  selectorText,
  textAt,
  textsAt,
} from "./objects.ts";
import { containerStatuses, endText, podState } from "./pods.ts";
import { envText } from "./secrecy.ts";
import { containersOf, podsOf, readyPods, wantedPods, WORKLOADS } from "./workloads.ts";

const MAX_ENV = 30;
const MAX_EVENTS = 12;

/** What `kubectl describe` tells, in fewer words. */
export function createDescribe(clusters: Clusters): Tool {
  return defineRead(clusters, {
    name: "kubernetes_describe",
    summary: "describes one object: state, containers, conditions, owner, events",
    description:
      "One object in detail: its state, containers (image, state, last end, probes, resources, variables, mounts), conditions, owner and its events.",
    shape: { kind: kindArgument, name: objectName, namespace: someNamespace },
    doing: ({ kind, name }) => `Looking at ${kind} ${name}`,
    async run(input, api) {
      const kind = await api.kind(input.kind);
      const object = await locate(api, kind, input.name, input.namespace);
      const gaps: Gap[] = [];
      const [body, events] = await Promise.all([
        bodyText(api, kind, object),
        eventsText(api, kind, object, gaps),
      ]);
      const parts = [headText(kind, object), body, conditionsText(object), events];
      return { text: parts.filter((part) => part !== "").join("\n"), gaps };
    },
  });
}

function headText(kind: Kind, object: JsonObject): string {
  const owner = controllerOf(object);
  const where = namespaceOf(object) === "" ? "" : ` in ${namespaceOf(object)}`;
  const by =
    owner === undefined
      ? ""
      : `, controlled by ${refOf(textAt(owner, "kind"), textAt(owner, "name"))}`;
  const deleted = textAt(object, "metadata", "deletionTimestamp");
  const finalizers = textsAt(object, "metadata", "finalizers");
  const labels = Object.entries(mapAt(object, "metadata", "labels")).map(
    ([key, value]) => `${key}=${value}`,
  );
  return [
    `${kind.kind} ${nameOf(object)}${where}, created ${moment(textAt(object, "metadata", "creationTimestamp"))}${by}`,
    deleted === "" ? "" : `Being deleted since ${moment(deleted)}`,
    finalizers.length === 0 ? "" : `Finalizers: ${finalizers.join(", ")}`,
    labels.length === 0 ? "" : `Labels: ${cell(labels.join(", "), 400)}`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

async function bodyText(api: Api, kind: Kind, object: JsonObject): Promise<string> {
  if (kind.kind === "Pod") return podText(object);
  if (WORKLOADS.includes(kind)) return workloadText(api, kind, object);
  const { apiVersion, kind: own, metadata, status, data, ...rest } = object;
  void [apiVersion, own, metadata];
  const { conditions, images, ...state } = objectAt(status);
  void [conditions, images];
  const keys = Object.entries(mapAt(data)).map(
    ([key, value]) => `${key} ${kind.kind === "Secret" ? value : `(${value.length} characters)`}`,
  );
  return fieldsText({
    ...rest,
    ...(keys.length > 0 && { keys }),
    ...(Object.keys(state).length > 0 && { status: state }),
  });
}

function podText(pod: JsonObject): string {
  const { status, ready, containers, restarts, troubles } = podState(pod);
  const spec = objectAt(pod, "spec");
  const node = textAt(spec, "nodeName") || "no node";
  const phase = textAt(pod, "status", "phase");
  const address = textAt(pod, "status", "podIP");
  const account = textAt(spec, "serviceAccountName");
  const why = troubles.map(
    ({ container, reason, detail }) =>
      `${container === "" ? "" : `${container}: `}${reason}${detail === "" ? "" : ` – ${cell(detail, 300)}`}`,
  );
  const statuses = new Map(containerStatuses(pod).map((each) => [textAt(each, "name"), each]));
  const inits = listAt(spec, "initContainers").map((each) =>
    containerText(each, statuses, "init container"),
  );
  return [
    `${status === phase ? phase : `${phase}, ${status}`}, ${ready}/${containers} ready, ${counted(restarts, "restart")}, on ${node}${address === "" ? "" : `, ${address}`}${account === "" ? "" : `, service account ${account}`}, QoS ${textAt(pod, "status", "qosClass") || "unknown"}`,
    ...why.map((line) => `Trouble: ${line}`),
    ...inits,
    ...listAt(spec, "containers").map((each) => containerText(each, statuses, "container")),
    volumesText(spec),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function containerText(
  container: JsonObject,
  statuses: ReadonlyMap<string, JsonObject>,
  word: string,
): string {
  const name = textAt(container, "name");
  const status = statuses.get(name) ?? {};
  const last = endText(objectAt(status, "lastState", "terminated"));
  const env = listAt(container, "env").map((variable) => cell(envText(variable), 120));
  const sources = listAt(container, "envFrom").map((source) =>
    "secretRef" in source
      ? `all of secret ${textAt(source, "secretRef", "name")}`
      : `all of configmap ${textAt(source, "configMapRef", "name")}`,
  );
  const mounts = listAt(container, "volumeMounts").map(
    (mount) => `${textAt(mount, "mountPath")} ← ${textAt(mount, "name")}`,
  );
  const command = [...textsAt(container, "command"), ...textsAt(container, "args")].join(" ");
  const ports = listAt(container, "ports").map(
    (port) => `${numberAt(port, "containerPort")}/${textAt(port, "protocol") || "TCP"}`,
  );
  const lines = [
    `${word} ${name}: ${stateText(status)}, image ${textAt(container, "image")}`,
    last === ""
      ? ""
      : `last end: ${cell(last, 300)} at ${moment(textAt(status, "lastState", "terminated", "finishedAt"))}`,
    command === "" ? "" : `command: ${cell(command, 300)}`,
    ports.length === 0 ? "" : `ports: ${ports.join(", ")}`,
    resourcesText(container),
    ...(["startupProbe", "readinessProbe", "livenessProbe"] as const).map((key) =>
      probeText(key, objectAt(container, key)),
    ),
    env.length + sources.length === 0
      ? ""
      : `variables: ${firstLines([...sources, ...env], MAX_ENV, "variables").join("; ")}`,
    mounts.length === 0 ? "" : `mounts: ${mounts.join(", ")}`,
  ];
  return lines.filter((line) => line !== "").join("\n  ");
}

function stateText(status: JsonObject): string {
  const state = objectAt(status, "state");
  const restarts = numberAt(status, "restartCount");
  const count = restarts === 0 ? "" : `, ${counted(restarts, "restart")}`;
  const running = textAt(state, "running", "startedAt");
  if (running !== "")
    return `${status["ready"] === true ? "ready" : "not ready"}, running since ${moment(running)}${count}`;
  const waiting = objectAt(state, "waiting");
  if (textAt(waiting, "reason") !== "") {
    const message = textAt(waiting, "message");
    return `waiting: ${textAt(waiting, "reason")}${message === "" ? "" : ` (${cell(message, 300)})`}${count}`;
  }
  const end = endText(objectAt(state, "terminated"));
  return end === "" ? "no state yet" : `ended: ${cell(end, 300)}${count}`;
}

function resourcesText(container: JsonObject): string {
  const text = (key: string) =>
    Object.entries(objectAt(container, "resources", key))
      .map(
        ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
      )
      .join(", ");
  const [requests, limits] = [text("requests"), text("limits")];
  if (requests === "" && limits === "") return "";
  return `requests: ${requests || "none"}; limits: ${limits || "none"}`;
}

/** `readinessProbe: GET :8080/healthz, every 10 s, 3 failures, 1 s each` */
function probeText(key: string, probe: JsonObject): string {
  if (Object.keys(probe).length === 0) return "";
  const port = (from: string) => {
    const { port: value = "" } = objectAt(probe, from);
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  const what =
    "httpGet" in probe
      ? `${textAt(probe, "httpGet", "scheme") === "HTTPS" ? "HTTPS " : ""}GET :${port("httpGet")}${textAt(probe, "httpGet", "path")}`
      : "tcpSocket" in probe
        ? `TCP :${port("tcpSocket")}`
        : "grpc" in probe
          ? `gRPC :${port("grpc")}`
          : `exec ${cell(textsAt(probe, "exec", "command").join(" "))}`;
  const delay = numberAt(probe, "initialDelaySeconds");
  const begins = delay === 0 ? "" : `, first after ${delay} s`;
  return `${key}: ${what}${begins}, every ${numberAt(probe, "periodSeconds")} s, ${numberAt(probe, "failureThreshold")} failures, ${numberAt(probe, "timeoutSeconds")} s each`;
}

function volumesText(spec: JsonObject): string {
  const volumes = listAt(spec, "volumes").map((volume) => {
    const { name, ...source } = volume;
    const [type = "", from] = Object.entries(source)[0] ?? [];
    const target =
      textAt(from, "name") ||
      textAt(from, "secretName") ||
      textAt(from, "claimName") ||
      textAt(from, "path");
    return `${typeof name === "string" ? name : ""} (${type}${target === "" ? "" : ` ${target}`})`;
  });
  return volumes.length === 0 ? "" : `Volumes: ${volumes.join(", ")}`;
}

async function workloadText(api: Api, kind: Kind, object: JsonObject): Promise<string> {
  const workload = { kind, object };
  const pods = await podsOf(api, workload);
  const states = pods.map((pod) => ({ pod, state: podState(pod) }));
  const sick = states.filter(({ state }) => !state.isHealthy);
  const lines = sick.map(({ pod, state: { troubles } }) => {
    const [first] = troubles;
    return `  ${refOf("pod", nameOf(pod))}: ${first?.container ?? ""} ${first?.reason ?? ""} ${cell(first?.detail ?? "")}`;
  });
  const selector = selectorText(objectAt(object, "spec", "selector"));
  const strategy =
    textAt(object, "spec", "strategy", "type") || textAt(object, "spec", "updateStrategy", "type");
  const paused = objectAt(object, "spec")["paused"] === true ? ", paused" : "";
  return [
    `${readyPods(workload)}/${wantedPods(workload)} ready, ${counted(pods.length, "pod")}${strategy === "" ? "" : `, ${strategy}`}${paused}${selector === undefined ? "" : `, selects ${selector}`}`,
    ...firstLines(lines, 10, "pods"),
    ...containersOf(workload).map((each) =>
      containerText(each, new Map(), "container").replace(": no state yet,", ":"),
    ),
  ].join("\n");
}

function conditionsText(object: JsonObject): string {
  const lines = listAt(object, "status", "conditions").map((condition) => {
    const why = [textAt(condition, "reason"), cell(textAt(condition, "message"), 300)]
      .filter(Boolean)
      .join(": ");
    const since = textAt(condition, "lastTransitionTime");
    const when = since === "" ? "" : ` since ${moment(since)}`;
    return `  ${textAt(condition, "type")}=${textAt(condition, "status")}${when}${why === "" ? "" : `: ${why}`}`;
  });
  return lines.length === 0 ? "" : ["Conditions:", ...lines].join("\n");
}

async function eventsText(api: Api, kind: Kind, object: JsonObject, gaps: Gap[]): Promise<string> {
  const namespace = namespaceOf(object) || undefined;
  const fields = `involvedObject.kind=${kind.kind},involvedObject.name=${nameOf(object)}`;
  const events = await api.see(builtIn("events"), gaps, { namespace, fields, max: 500 });
  const lines = foldEvents(events).map(
    (event) => `  ${eventLine(event, { namespaces: false, objects: false })}`,
  );
  if (lines.length > 0)
    return ["Events:", ...firstLines(lines, MAX_EVENTS, "kinds of events")].join("\n");
  return gaps.length > 0 ? "" : "Events: none (the cluster keeps them for an hour, by default)";
}
