import { nameOf, type Cluster } from "./cluster.ts";
import { perWorkload, type Analyzer, type Problem } from "./found.ts";
import type { ContainerStatus, Pod } from "./objects.ts";

/** Images that cannot be pulled. */
export const images: Analyzer = {
  name: "images",
  look: (cluster) =>
    perWorkload(cluster, (pod) =>
      [
        ...(pod.status?.initContainerStatuses ?? []),
        ...(pod.status?.containerStatuses ?? []),
      ].flatMap((status) => lookAt(cluster, pod, status)),
    ),
};

const REASONS =
  /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError|RegistryUnavailable|SignatureValidationFailed)$/;

function lookAt(cluster: Cluster, pod: Pod, status: ContainerStatus): Problem[] {
  const { reason = "", message = "" } = status.state?.waiting ?? {};
  if (!REASONS.test(reason)) return [];
  const spec = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const image = spec.find(({ name }) => name === status.name)?.image ?? status.image ?? "";
  const told = toldOf(cluster, pod, image, message);
  const { cause, fix } = explain(told, image, reason, missingPullSecret(cluster, pod));
  return [
    {
      id: cause,
      cause,
      evidence: `${reason} of container ${status.name}: ${told}`,
      fix,
      since: pod.metadata?.creationTimestamp ?? null,
      weight: 88,
    },
  ];
}

/** The back-off forgets why; the event before it says it. */
function toldOf(cluster: Cluster, pod: Pod, image: string, message: string): string {
  const failed = cluster
    .eventsOf("Pod", nameOf(pod))
    .find(
      (event) => event.message.startsWith("Failed to pull image") && event.message.includes(image),
    );
  if (/^Back-off|^$/.test(message)) return failed?.message ?? message;
  return message;
}

/** Named by the pod or its service account, and not there. */
function missingPullSecret(cluster: Cluster, pod: Pod): string | undefined {
  const told = cluster
    .eventsOf("Pod", nameOf(pod))
    .find(({ reason }) => reason === "FailedToRetrieveImagePullSecret");
  const named = (pod.spec?.imagePullSecrets ?? []).map(({ name = "" }) => name);
  const known = new Set(cluster.list("secrets").map(nameOf));
  const absent = cluster.sees("secrets") ? named.find((name) => !known.has(name)) : undefined;
  return absent ?? /pull secrets \(([^)]+)\)/.exec(told?.message ?? "")?.[1];
}

interface Rule {
  pattern: RegExp;
  /** In a few words; the system's own stand in the evidence. */
  cause: (image: string, match: RegExpExecArray) => string;
  fix?: string;
  /** A missing pull secret explains it. */
  denied?: true;
}

const RULES: readonly Rule[] = [
  {
    pattern:
      /lookup (\S+?)(?: on \S+)?: (no such host|server misbehaving|i\/o timeout|Temporary failure[^"]*)/i,
    cause: (image, [, host, why]) => `image ${image}: lookup ${host}: ${why} (registry DNS)`,
    fix: "Correct the registry's name in the image, or the node's DNS.",
  },
  {
    pattern: /no match for platform|no matching manifest|exec format error/i,
    cause: (image, [why]) => `image ${image}: ${why}`,
    fix: "Build the image for the node's architecture.",
  },
  {
    pattern: /toomanyrequests[^"\n]{0,80}|429 Too Many Requests/i,
    cause: (image, [why]) => `image ${image}: ${why}`,
    fix: "Wait, or pull with credentials or through a mirror.",
  },
  {
    pattern: /x509: [^"\n]+|tls: [^"\n]+|server gave HTTP response to HTTPS client/i,
    cause: (image, [why]) => `image ${image}: ${why}`,
    fix: "Let the node's runtime trust the registry's certificate, or mark the registry as plain HTTP.",
  },
  {
    pattern: /manifest unknown|manifest for \S+ not found|: not found|tag \S+ not found/i,
    cause: (image) => `image ${image} not found: the registry has no such name or tag`,
    fix: "Correct the image's name or tag, or push it.",
  },
  {
    pattern:
      /pull access denied|repository does not exist|unauthorized|401 Unauthorized|403 Forbidden|authentication required|denied: [^"\n]{0,80}|insufficient_scope|no basic auth credentials/i,
    cause: (image, [why]) => `image ${image}: ${why} (the registry denies the pull)`,
    fix: "Check the image's name; give the pod or its service account an imagePullSecret that may read it.",
    denied: true,
  },
  {
    pattern:
      /i\/o timeout|context deadline exceeded|connection refused|connection reset|Client\.Timeout|no route to host|EOF/i,
    cause: (image, [why]) => `image ${image}: the registry cannot be reached: ${why}`,
  },
];

function explain(told: string, image: string, reason: string, pullSecret: string | undefined) {
  const matched = RULES.map((rule) => ({ rule, match: rule.pattern.exec(told) })).find(
    ({ match }) => match !== null,
  );
  if (pullSecret !== undefined && (matched === undefined || matched.rule.denied === true))
    return {
      cause: `image pull secret "${pullSecret}" not found, ${reason} of image ${image}`,
      fix: `Create Secret ${pullSecret} (kubernetes.io/dockerconfigjson), or correct imagePullSecrets.`,
    };
  if (reason === "InvalidImageName")
    return { cause: `InvalidImageName: ${image}`, fix: "Correct the image's name." };
  if (reason === "ErrImageNeverPull")
    return {
      cause: `ErrImageNeverPull: image ${image} is not on the node and imagePullPolicy is Never`,
      fix: "Load the image on the node, or let it be pulled.",
    };
  const match = matched?.match;
  if (matched === undefined || match === null || match === undefined)
    return { cause: `${reason}: image ${image}`, fix: undefined };
  return { cause: `${reason}: ${matched.rule.cause(image, match)}`, fix: matched.rule.fix };
}
