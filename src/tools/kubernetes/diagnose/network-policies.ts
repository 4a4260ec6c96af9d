import { nameOf, type WorkloadView } from "./cluster.ts";
import { found, type Analyzer, type Found } from "./found.ts";
import type { NetworkPolicy, NetworkPolicyRule } from "./resources.ts";
import type { Scene } from "./scene.ts";
import { selects } from "./selectors.ts";
import { targetOf } from "./services.ts";

type Direction = "ingress" | "egress";

/** Network policies that keep workloads from DNS, from each other, or from everybody. */
export const networkPolicies: Analyzer = {
  name: "network policies",
  look(scene) {
    const policies = scene.list("networkpolicies");
    if (policies.length === 0) return [];
    const problems = scene.workloads
      .filter(({ desired, pods }) => desired > 0 || pods.length > 0)
      .flatMap((workload) => [
        ...deniedDns(scene, policies, workload),
        ...deniedPeers(scene, policies, workload),
        ...cutOff(scene, policies, workload),
      ]);
    return merged(problems);
  },
};

/** What one policy does to several workloads in one way is one finding. */
function merged(all: readonly Found[]): Found[] {
  const groups = new Map<string, Found[]>();
  for (const one of all) {
    const id = `${one.object.name} ${one.cause.split(" ").slice(0, 2).join(" ")}`;
    groups.set(id, [...(groups.get(id) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first, ...more] = group.toSorted((a, b) => b.weight - a.weight);
    if (first === undefined) return [];
    if (more.length === 0) return [first];
    const breaks = group.flatMap((one) => one.breaks ?? []);
    return [
      { ...first, breaks, evidence: `${first.evidence} The same ×${more.length} for others.` },
    ];
  });
}

/** The policies that hold for the workload; all of their rules together say what is allowed. */
function holding(
  policies: readonly NetworkPolicy[],
  workload: WorkloadView,
  direction: Direction,
): NetworkPolicy[] {
  return policies.filter(({ spec }) => {
    if (!selects(spec?.podSelector ?? {}, workload.labels)) return false;
    const types = spec?.policyTypes ?? (spec?.egress ? ["Ingress", "Egress"] : ["Ingress"]);
    return types.some((type) => type.toLowerCase() === direction);
  });
}

function rulesOf(policies: readonly NetworkPolicy[], direction: Direction): NetworkPolicyRule[] {
  return policies.flatMap(({ spec }) => spec?.[direction] ?? []);
}

function allowsPort({ ports }: NetworkPolicyRule, wanted: number | string | undefined): boolean {
  if (ports === null || ports === undefined || ports.length === 0 || wanted === undefined)
    return true;
  return ports.some(
    ({ port, endPort }) =>
      port === undefined ||
      String(port) === String(wanted) ||
      (endPort !== undefined && Number(port) <= Number(wanted) && Number(wanted) <= endPort),
  );
}

function allowsPeer(rule: NetworkPolicyRule, direction: Direction, peer: WorkloadView): boolean {
  const peers = direction === "ingress" ? rule.from : rule.to;
  if (peers === null || peers === undefined || peers.length === 0) return true;
  return peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
    // Whether a block of addresses holds a pod, or a selector its namespace, is not judged: the benefit of the doubt.
    if (ipBlock !== null && ipBlock !== undefined) return true;
    if (podSelector === null || podSelector === undefined) return true;
    return (
      selects(podSelector, peer.labels) ||
      (namespaceSelector !== null &&
        namespaceSelector !== undefined &&
        Object.keys(podSelector).length === 0)
    );
  });
}

function saying(
  scene: Scene,
  policies: readonly NetworkPolicy[],
  problem: Omit<Parameters<typeof found>[2], "since">,
): Found {
  // The policy that allows least is the one to look at.
  const [first] = policies.toSorted(
    (a, b) =>
      rulesOf([a], "ingress").length +
      rulesOf([a], "egress").length -
      rulesOf([b], "ingress").length -
      rulesOf([b], "egress").length,
  );
  const since = first?.metadata?.creationTimestamp ?? null;
  return found(
    scene,
    { kind: "NetworkPolicy", name: first === undefined ? "" : nameOf(first) },
    { ...problem, since },
  );
}

const RESOLVE =
  /no such host|EAI_AGAIN|ENOTFOUND|name resolution|could not resolve|UnknownHost|getaddrinfo|lookup /i;

function deniedDns(
  scene: Scene,
  policies: readonly NetworkPolicy[],
  workload: WorkloadView,
): Found[] {
  const held = holding(policies, workload, "egress");
  if (held.length === 0 || workload.spec.hostNetwork === true) return [];
  const toOutside = ({ to }: NetworkPolicyRule) =>
    (to ?? []).length === 0 ||
    (to ?? []).some(
      ({ namespaceSelector, ipBlock }) =>
        (namespaceSelector ?? undefined) !== undefined || (ipBlock ?? undefined) !== undefined,
    );
  const isAllowed = rulesOf(held, "egress").some((rule) => toOutside(rule) && allowsPort(rule, 53));
  if (isAllowed) return [];
  const isTold = (workload.spec.containers ?? []).some(({ name = "" }) =>
    scene
      .log(workload, name)
      .slice(-30)
      .some((line) => RESOLVE.test(line)),
  );
  const needs = scene.addresses(workload).some(({ host }) => /[a-z]/i.test(host));
  if (!isTold && !needs) return [];
  return [
    saying(scene, held, {
      cause: "egress denies DNS: no rule allows port 53 to the cluster's DNS",
      evidence: `${workload.kind} ${workload.name} ${isTold ? "cannot resolve names, as its log says" : "has host names in its settings"}.`,
      fix: "Allow egress to kube-system on port 53, UDP and TCP.",
      weight: isTold ? 90 : 74,
      breaks: [workload.key, "component/dns-of-policy"],
    }),
  ];
}

/** Who has this workload's service in their settings, and may not talk to it. */
function deniedPeers(
  scene: Scene,
  policies: readonly NetworkPolicy[],
  workload: WorkloadView,
): Found[] {
  return scene.addresses(workload).flatMap(({ service, port }) => {
    if (service === undefined) return [];
    const wanted = (service.spec?.ports ?? []).find(
      (one) => port === undefined || one.port === port,
    );
    return scene.selectedBy(service).flatMap((peer) => {
      const target = wanted === undefined ? undefined : numbered(peer, targetOf(wanted));
      return (["egress", "ingress"] as const).flatMap((direction) => {
        const [held, other] = direction === "egress" ? [workload, peer] : [peer, workload];
        const own = holding(policies, held, direction);
        const isAllowed = rulesOf(own, direction).some(
          (rule) => allowsPeer(rule, direction, other) && allowsPort(rule, target),
        );
        if (own.length === 0 || isAllowed) return [];
        return [
          saying(scene, own, {
            cause: `denies ${direction} of pods of ${held.kind} ${held.name} ${direction === "egress" ? "to" : "from"} ${other.kind} ${other.name}${target === undefined ? "" : ` on port ${target}`}`,
            evidence: `${workload.kind} ${workload.name} has Service ${nameOf(service)} in its settings; no rule of ${own.map(nameOf).join(", ")} allows it.`,
            fix: `Add a rule that allows it, or remove the policy.`,
            weight: 87,
            breaks: [workload.key],
          }),
        ];
      });
    });
  });
}

function numbered({ spec }: WorkloadView, target: number | string): number | string {
  const port = (spec.containers ?? [])
    .flatMap(({ ports }) => ports ?? [])
    .find(({ name }) => name === target);
  return port?.containerPort ?? target;
}

/** A service leads to pods that nobody may reach. */
function cutOff(scene: Scene, policies: readonly NetworkPolicy[], workload: WorkloadView): Found[] {
  const held = holding(policies, workload, "ingress");
  if (held.length === 0 || rulesOf(held, "ingress").length > 0) return [];
  const services = scene
    .list("services")
    .filter((service) => scene.selectedBy(service).some(({ key }) => key === workload.key));
  if (services.length === 0) return [];
  return [
    saying(scene, held, {
      cause: `denies all ingress: no rule allows traffic to the pods of ${workload.kind} ${workload.name}`,
      evidence: `Service ${services.map(nameOf).join(", ")} leads to them.`,
      fix: "Allow ingress from the pods that need it, or remove the policy.",
      weight: 80,
      breaks: [workload.key, ...services.map((service) => scene.key("Service", nameOf(service)))],
    }),
  ];
}
