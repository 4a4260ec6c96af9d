import { ageMs, isReady, nameOf, timeOf, type SeenEvent, type WorkloadView } from "./cluster.ts";
import { perWorkload, type Analyzer, type Problem } from "./found.ts";
import type { Container, ContainerState, Pod, Probe } from "./objects.ts";
import { statusesOf, type Scene } from "./scene.ts";

type ProbeKind = "liveness" | "readiness" | "startup";

/** Probes that fail: by port, path, protocol or timing. */
export const probes: Analyzer = {
  name: "probes",
  look: (scene) => perWorkload(scene, (pod, workload) => lookAt(scene, pod, workload)),
};

function lookAt(scene: Scene, pod: Pod, workload: WorkloadView): Problem[] {
  const containers = pod.spec?.containers ?? [];
  return containers.flatMap((container) => {
    const status = statusesOf(pod).find(({ name }) => name === container.name);
    const isRunning = (status?.state?.running ?? undefined) !== undefined;
    const isLooping = status?.state?.waiting?.reason === "CrashLoopBackOff";
    if (!isRunning && !isLooping) return [];
    return KINDS.flatMap((kind) => {
      const probe = container[`${kind}Probe`];
      if (probe === null || probe === undefined) return [];
      const event = failureOf(scene, pod, container, kind);
      const look = { scene, pod, workload, container, kind, probe };
      if (kind === "readiness") {
        if (status?.ready === true || isReady(pod) || isLooping) return [];
        return event === undefined && !isLate(scene, pod, probe) ? [] : [failing(look, event)];
      }
      const restarts = status?.restartCount ?? 0;
      const isKilling =
        event !== undefined && (restarts > 0 || event.count >= (probe.failureThreshold ?? 3));
      if (!isKilling || scene.now - timeOf(event.last) > RECENT_MS) return [];
      return ownCrash(status?.lastState?.terminated) && !wasKilled(scene, pod, container)
        ? []
        : [failing(look, event)];
    });
  });
}

const KINDS: readonly ProbeKind[] = ["startup", "liveness", "readiness"];
const RECENT_MS = 15 * 60_000;

/** A probe's kill ends with SIGTERM or SIGKILL, or the program obeys and exits with 0. */
function ownCrash(ended: ContainerState["terminated"]): boolean {
  const { exitCode, reason } = ended ?? {};
  return reason === "OOMKilled" || (exitCode !== undefined && ![0, 137, 143].includes(exitCode));
}

function wasKilled(scene: Scene, pod: Pod, container: Container): boolean {
  return scene
    .eventsOf("Pod", nameOf(pod))
    .some(({ reason, message }) => reason === "Killing" && message.includes(container.name ?? ""));
}

function failureOf(
  scene: Scene,
  pod: Pod,
  { name = "" }: Container,
  kind: ProbeKind,
): SeenEvent | undefined {
  return scene
    .eventsOf("Pod", nameOf(pod))
    .find(
      ({ reason, message }) =>
        (reason === "Unhealthy" || reason === "ProbeError") &&
        message.toLowerCase().startsWith(`${kind} probe`) &&
        (!message.includes("container ") || message.includes(name)),
    );
}

/** Not ready for much longer than the probe needs; events are gone after an hour. */
function isLate(scene: Scene, pod: Pod, probe: Probe): boolean {
  return (
    ageMs(scene, pod) >
    120_000 + ((probe.initialDelaySeconds ?? 0) + (probe.periodSeconds ?? 10) * 3) * 1_000
  );
}

interface Failing {
  scene: Scene;
  pod: Pod;
  workload: WorkloadView;
  container: Container;
  kind: ProbeKind;
  probe: Probe;
}

function failing(look: Failing, event: SeenEvent | undefined): Problem {
  const { pod, container, kind, probe, workload } = look;
  const told = (event?.message ?? "").replace(/^\w+ probe (?:failed|errored)[^:]*: /, "");
  const wrongPort = undeclaredPort(container, probe);
  const why = wrongPort ?? reasonOf(told, probe, kind);
  const kills = kind === "readiness" ? "" : ` The kubelet restarts it for that.`;
  return {
    id: `${kind} ${container.name} ${why.id}`,
    cause: `Unhealthy: ${kind} probe ${show(probe)} of container ${container.name} fails: ${why.text}`,
    evidence: `${event === undefined ? "The pods run and are not ready" : `Unhealthy ×${event.count}: ${told}`}.${kills}${timing(probe)}`,
    fix: why.fix,
    since: event?.first || (pod.metadata?.creationTimestamp ?? null),
    weight: wrongPort === undefined ? why.weight : 84,
    restsOn: why.isOwn
      ? []
      : [`Node//${pod.spec?.nodeName}`, ...dependencies(look.scene, workload)],
  };
}

function dependencies(scene: Scene, workload: WorkloadView): string[] {
  return scene
    .addresses(workload)
    .flatMap(({ service }) =>
      service === undefined
        ? []
        : [
            scene.key("Service", nameOf(service)),
            ...scene.selectedBy(service).flatMap(({ key }) => (key === workload.key ? [] : [key])),
          ],
    );
}

interface Why {
  id: string;
  text: string;
  fix?: string;
  weight: number;
  /** The probe is wrong by itself; nothing else explains it. */
  isOwn?: true;
}

/** The port that a probe asks and that no container declares. */
function undeclaredPort({ ports, name }: Container, probe: Probe): Why | undefined {
  const port = portOf(probe);
  const declared = ports ?? [];
  if (port === undefined || declared.length === 0) return undefined;
  const isThere = declared.some((one) => one.name === port || one.containerPort === Number(port));
  if (isThere) return undefined;
  const known = declared.map((one) => one.containerPort).join(", ");
  return {
    id: `port ${port}`,
    text: `port ${port} is not a port of the container (it has ${known})`,
    fix: `Let the probe ask port ${known}, or open ${port} in ${name}.`,
    weight: 84,
    isOwn: true,
  };
}

function portOf({ httpGet, tcpSocket, grpc }: Probe): number | string | undefined {
  return httpGet?.port ?? tcpSocket?.port ?? grpc?.port;
}

function reasonOf(told: string, probe: Probe, kind: ProbeKind): Why {
  const status = /statuscode: (\d+)/.exec(told)?.[1];
  const path = probe.httpGet?.path ?? "/";
  if (status === "404" || status === "405" || status === "401" || status === "403")
    return {
      id: status,
      text: `HTTP status ${status} at path ${path}`,
      fix: "Correct the probe's path, or let the program answer there.",
      weight: 80,
      isOwn: true,
    };
  if (status !== undefined)
    return {
      id: status,
      text: `HTTP status ${status} at path ${path}: the program says that it is not well`,
      weight: 62,
    };
  if (
    /malformed HTTP|HTTP response to HTTPS|HTTPS? (?:request|response)|first record does not look|unexpected EOF|\bEOF\b|http2|preface|tls:|connection reset|malformed MIME/i.test(
      told,
    )
  )
    return {
      id: "protocol",
      text: `protocol mismatch: ${told}`,
      fix: "Probe with the protocol that the port speaks: httpGet (scheme), tcpSocket or grpc.",
      weight: 82,
      isOwn: true,
    };
  if (/unknown service|Unimplemented|does not implement the grpc health|unhealthy RPC/i.test(told))
    return { id: "grpc", text: `gRPC health check: ${told}`, weight: 78, isOwn: true };
  if (/deadline exceeded|timed? ?out|Client\.Timeout/i.test(told))
    return {
      id: "timeout",
      text: `timeout after ${probe.timeoutSeconds ?? 1} s${kind === "readiness" ? "" : ` (initialDelaySeconds ${probe.initialDelaySeconds ?? 0}, periodSeconds ${probe.periodSeconds ?? 10}, failureThreshold ${probe.failureThreshold ?? 3})`}`,
      fix: "Raise timeoutSeconds, or find why the program answers slowly (CPU limit, a peer that hangs).",
      weight: 64,
    };
  if (/connection refused/i.test(told))
    return {
      id: "refused",
      text:
        kind === "readiness"
          ? `connection refused: nothing listens on port ${portOf(probe)}`
          : `connection refused: nothing listens on port ${portOf(probe)} yet or any more (initialDelaySeconds ${probe.initialDelaySeconds ?? 0})`,
      fix:
        kind === "readiness"
          ? "Correct the probe's port, or see in the log why the program does not listen."
          : "Give it time with a startupProbe or initialDelaySeconds, or correct the port.",
      weight: kind === "readiness" ? 64 : 74,
    };
  if (/no such file or directory|executable file not found|not found/i.test(told))
    return {
      id: "command",
      text: told,
      fix: "Correct the probe's command.",
      weight: 80,
      isOwn: true,
    };
  return { id: "other", text: told === "" ? "it has not succeeded" : told, weight: 60 };
}

function show({ httpGet, tcpSocket, grpc, exec }: Probe): string {
  if (httpGet)
    return `${(httpGet.scheme ?? "HTTP").toLowerCase()}://:${httpGet.port}${httpGet.path ?? "/"}`;
  if (tcpSocket) return `tcp :${tcpSocket.port}`;
  if (grpc) return `grpc :${grpc.port}`;
  return `exec ${(exec?.command ?? []).join(" ").slice(0, 60)}`;
}

function timing({
  initialDelaySeconds = 0,
  periodSeconds = 10,
  timeoutSeconds = 1,
  failureThreshold = 3,
}: Probe): string {
  return ` Delay ${initialDelaySeconds} s, every ${periodSeconds} s, timeout ${timeoutSeconds} s, ${failureThreshold} failures.`;
}
