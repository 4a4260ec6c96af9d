import { containersOf, nameOf, timeOf, type WorkloadView } from "./cluster.ts";
import { refusingServer } from "./databases.ts";
import { perWorkload, type Analyzer, type Problem } from "./found.ts";
import { LOG_FIXES, logReason, type LogReason } from "./log-reasons.ts";
import type { Container, ContainerState, ContainerStatus, Pod } from "./objects.ts";
import { statusesOf, type Scene } from "./scene.ts";

/** Containers that crash, are killed for memory, or do not start at all. */
export const containers: Analyzer = {
  name: "containers",
  look: (scene) => [
    ...perWorkload(scene, (pod, workload) =>
      statusesOf(pod).flatMap((status) => lookAt({ scene, pod, workload, status })),
    ),
    ...perWorkload(scene, (pod) => sandbox(scene, pod)),
    ...perWorkload(scene, (pod, workload) => hanging(scene, pod, workload)),
    ...perWorkload(
      scene,
      (pod, workload) =>
        statusesOf(pod).flatMap((status) => lookAt({ scene, pod, workload, status })),
      (workload) => failedAlone(scene, workload),
    ),
  ],
};

/** Pods that ended for good and that no Job counts. */
function failedAlone(scene: Scene, { kind, everyPod }: WorkloadView): Pod[] {
  return kind !== "Pod"
    ? []
    : everyPod.filter(
        ({ status, metadata }) =>
          status?.phase === "Failed" &&
          status.reason !== "Evicted" &&
          scene.now - timeOf(metadata?.creationTimestamp) < DAY_MS,
      );
}

const DAY_MS = 86_400_000;

interface Look {
  scene: Scene;
  pod: Pod;
  workload: WorkloadView;
  status: ContainerStatus;
}

function lookAt(look: Look): Problem[] {
  const { status, workload } = look;
  const { waiting } = status.state ?? {};
  const reason = waiting?.reason ?? "";
  const ended = status.state?.terminated ?? status.lastState?.terminated ?? undefined;
  if (
    /^(CreateContainerError|RunContainerError|PreCreateHookError|PreStartHookError|PostStartHookError)$/.test(
      reason,
    )
  )
    return [unstarted(look, reason, waiting?.message ?? ended?.message ?? "")];
  if (ended === undefined || ended === null) return [];
  if (workload.kind === "Job" || workload.kind === "CronJob") return [];
  const isDown = reason === "CrashLoopBackOff" || (status.state?.terminated?.exitCode ?? 0) !== 0;
  const sinceMs = look.scene.now - timeOf(ended.finishedAt);
  // It runs, and ran into nothing of late: what was is over.
  if (!isDown && (status.restartCount === 0 || !(sinceMs < RECENT_MS))) return [];
  if (/^(StartError|ContainerCannotRun)$/.test(ended.reason ?? ""))
    return [unstarted(look, ended.reason ?? "", ended.message ?? "")];
  if (isOom(ended)) return [outOfMemory(look, isDown)];
  if (killedByProbe(look)) return [];
  const isOnce = (status.restartCount ?? 0) <= 1 && status.ready === true;
  return isOnce && /^(?:0|137|143)$/.test(String(ended.exitCode))
    ? []
    : [crashed(look, ended, isDown)];
}

const RECENT_MS = 3_600_000;

function isOom(ended: NonNullable<ContainerState["terminated"]>): boolean {
  return ended.reason === "OOMKilled";
}

/** A probe that kills is told of as such. */
function killedByProbe({ scene, pod, status }: Look): boolean {
  return scene
    .eventsOf("Pod", nameOf(pod))
    .some(
      ({ reason, message }) =>
        reason === "Killing" &&
        /failed (?:liveness|startup) probe/.test(message) &&
        message.includes(status.name ?? ""),
    );
}

function specOf({ pod, status }: Look): Container | undefined {
  return containersOf(pod.spec ?? {}).find(({ name }) => name === status.name);
}

function begun({ pod, status }: Look): string | null {
  const ended = status.lastState?.terminated ?? status.state?.terminated;
  return ended?.finishedAt ?? pod.metadata?.creationTimestamp ?? null;
}

function unstarted(look: Look, reason: string, message: string): Problem {
  const command = specOf(look)?.command?.join(" ");
  const told = message.replace(
    /^.*?(?=exec: |error mounting|failed to create symlink|mkdir )/s,
    "",
  );
  const isMissing = /no such file or directory|executable file not found|not found in \$PATH/.test(
    told,
  );
  return {
    id: `${reason} ${look.status.name} ${told.replaceAll(nameOf(look.pod), "")}`,
    cause: `${reason}: ${told}`,
    evidence: `Container ${look.status.name}${command === undefined ? "" : `, command ${command}`}, ${look.status.restartCount ?? 0} restarts.`,
    fix: isMissing ? "Correct the command, or use an image that has it." : undefined,
    since: begun(look),
    weight: 86,
  };
}

function outOfMemory(look: Look, isDown: boolean): Problem {
  const { status } = look;
  const limit = specOf(look)?.resources?.limits?.["memory"];
  const restarts = status.restartCount ?? 0;
  const isOver = !isDown && status.ready === true && restarts < 3;
  return {
    id: `OOMKilled ${status.name}`,
    cause:
      limit === undefined
        ? `OOMKilled: container ${status.name} was killed for memory, without a limit of its own`
        : `OOMKilled: container ${status.name} exceeds its memory limit of ${limit}`,
    evidence: `${restarts} restarts, the last at ${begun(look)}, exit code 137.`,
    fix:
      limit === undefined
        ? "Find what used up the node's memory."
        : `Raise the memory limit (${limit}), or find the leak.`,
    since: begun(look),
    severity: isOver ? "warning" : "error",
    weight: 84,
  };
}

function crashed(
  look: Look,
  ended: NonNullable<ContainerState["terminated"]>,
  isDown: boolean,
): Problem {
  const { scene, pod, status, workload } = look;
  const told =
    logReason([...scene.log(workload, status.name ?? ""), ...(ended.message?.split("\n") ?? [])]) ??
    spokenFor(look);
  const server = told === undefined ? undefined : refusingServer(scene, workload, told);
  const exit = ended.signal ? `signal ${ended.signal}` : `exit code ${ended.exitCode}`;
  const meaning = EXITS[ended.exitCode ?? -1];
  const state = status.state?.waiting?.reason ?? (isDown ? "Error" : "restarted");
  const isInit = (pod.spec?.initContainers ?? []).some(({ name }) => name === status.name);
  const clash = told?.kind === "port" ? sharedPort(pod) : undefined;
  const because =
    told === undefined
      ? `${exit}${meaning === undefined ? "" : ` (${meaning})`}`
      : `${told.line}${clash === undefined ? "" : ` (${clash})`}`;
  return {
    id: `crash ${status.name} ${told?.kind ?? exit}`,
    cause: `${state}: ${because}`,
    evidence: `${isInit ? "Init container" : "Container"} ${status.name}, ${exit}, ${status.restartCount ?? 0} restarts${told === undefined ? "; its log says no more" : ""}.`,
    fix: told === undefined ? undefined : LOG_FIXES[told.kind],
    since: begun(look),
    severity:
      isDown || status.ready !== true || (status.restartCount ?? 0) > 3 ? "error" : "warning",
    weight: told === undefined ? 60 : (WEIGHTS[told.kind] ?? 76),
    restsOn: restsOn(scene, workload, pod, told),
    ...(server !== undefined && { shared: server }),
  };
}

/** A container that ends because its neighbour has the port says so in either log. */
function spokenFor({ scene, pod, workload }: Look): LogReason | undefined {
  return statusesOf(pod)
    .map(({ name = "" }) => logReason(scene.log(workload, name)))
    .find((reason) => reason?.kind === "port");
}

const WEIGHTS: Partial<Record<LogReason["kind"], number>> = {
  connection: 66,
  resolve: 72,
  other: 70,
};

const EXITS: Readonly<Record<number, string>> = {
  0: "it ended by itself; a service has to keep running",
  126: "the command is not executable",
  127: "command not found",
  134: "aborted",
  137: "killed by SIGKILL",
  139: "segmentation fault",
  143: "stopped by SIGTERM",
};

/** What a crash is only a consequence of, if that is broken itself. */
export function restsOn(
  scene: Scene,
  workload: WorkloadView,
  pod: Pod,
  told: LogReason | undefined,
): string[] {
  const node = pod.spec?.nodeName;
  const own =
    told === undefined || told.kind === "connection" || told.kind === "resolve"
      ? [workload.key]
      : [];
  const nodes = node === undefined ? [] : [`Node//${node}`];
  if (
    told !== undefined &&
    told.kind !== "connection" &&
    told.kind !== "resolve" &&
    told.kind !== "other"
  )
    return [...own, ...nodes];
  const services = scene
    .addresses(workload)
    .flatMap(({ service }) => (service === undefined ? [] : [service]));
  return [
    ...own,
    ...nodes,
    ...services.map((service) => scene.key("Service", nameOf(service))),
    ...services.flatMap((service) => scene.selectedBy(service).map(({ key }) => key)),
    ...(told?.kind === "resolve" || told?.kind === "connection" ? ["component/dns"] : []),
  ].filter((key) => key !== workload.key || own.length > 0);
}

/** `port 8080 is declared by containers web and proxy` */
function sharedPort(pod: Pod): string | undefined {
  const users = new Map<string, string[]>();
  for (const { name = "", ports } of pod.spec?.containers ?? [])
    for (const { containerPort, protocol = "TCP" } of ports ?? [])
      users.set(`${containerPort}/${protocol}`, [
        ...(users.get(`${containerPort}/${protocol}`) ?? []),
        name,
      ]);
  const clash = [...users].find(([, names]) => names.length > 1);
  return clash === undefined
    ? undefined
    : `port ${clash[0].split("/")[0]} is declared by containers ${clash[1].join(" and ")}`;
}

/** The pod's network could not be set up: it waits in ContainerCreating. */
function sandbox(scene: Scene, pod: Pod): Problem[] {
  if (pod.status?.phase !== "Pending") return [];
  const event = scene
    .eventsOf("Pod", nameOf(pod))
    .find(({ reason }) => reason === "FailedCreatePodSandBox" || reason === "NetworkNotReady");
  if (event === undefined) return [];
  const why =
    /(?:plugin type=|failed to setup network|networkPlugin cni failed|network is not ready|failed to (?:find|load) .*(?:runtime|plugin)|RuntimeHandler)[\s\S]*/.exec(
      event.message,
    )?.[0];
  return [
    {
      id: event.reason,
      cause: `${event.reason}: ${why ?? event.message}`,
      evidence: `On node ${pod.spec?.nodeName}, seen ×${event.count}.`,
      fix: "Check the network plugin's pods on that node.",
      since: event.first || null,
      weight: 82,
      restsOn: ["component/network", `Node//${pod.spec?.nodeName}`],
    },
  ];
}

/** An init container that has been running for long: nothing after it starts. Sidecars, which restart always, may. */
function hanging(scene: Scene, pod: Pod, workload: WorkloadView): Problem[] {
  const init = (pod.spec?.initContainers ?? []).filter(
    ({ restartPolicy }) => restartPolicy !== "Always",
  );
  return init.flatMap(({ name, command, args }) => {
    const status = pod.status?.initContainerStatuses?.find((one) => one.name === name);
    const startedAt = status?.state?.running?.startedAt;
    if (!(scene.now - timeOf(startedAt) > PATIENCE_MS)) return [];
    return [
      {
        id: `init ${name}`,
        cause: `init container ${name} does not end, so the pod stays in PodInitializing`,
        evidence: `It has run since ${startedAt}: ${[...(command ?? []), ...(args ?? [])].join(" ").slice(0, 160)}`,
        since: startedAt ?? null,
        weight: 56,
        restsOn: [workload.key, ...restsOn(scene, workload, pod, undefined)],
      },
    ];
  });
}

const PATIENCE_MS = 180_000;
