import { isReady, nameOf } from "./cluster.ts";
import { cut, type Analyzer } from "./found.ts";
import type { Service } from "./resources.ts";
import type { Scene } from "./scene.ts";

/** Several healthy services that the pods of one node cannot reach: its kube-proxy or its network, not they. */
export const nodeNetwork: Analyzer = {
  name: "networks of nodes",
  look(scene) {
    const callers = scene.workloads.flatMap((workload) => {
      const nodes = new Set(workload.pods.map(({ spec }) => spec?.nodeName ?? ""));
      const [node = ""] = nodes;
      const missed = missedBy(scene, workload);
      return nodes.size !== 1 || node === "" || missed.length === 0
        ? []
        : [{ workload, node, missed }];
    });
    return [...Map.groupBy(callers, ({ node }) => node)].flatMap(([node, here]) => {
      const missed = [...new Set(here.flatMap(({ missed: own }) => own.map(nameOf)))];
      if (missed.length < MIN_SERVICES || here.length < callers.length) return [];
      const names = here.map(({ workload }) => `${workload.kind} ${workload.name}`);
      return [
        {
          object: { kind: "Node", namespace: "", name: node },
          cause: cut(
            `its pods cannot reach ${missed.length} Services whose pods are ready (${missed.join(", ")}): kube-proxy or the network of the node does not work`,
            300,
          ),
          severity: "error" as const,
          evidence: cut(
            `The logs of ${names.join(", ")}, on this node, say so; no workload elsewhere does.`,
            360,
          ),
          fix: "Look at kube-proxy and the network plugin on the node.",
          since: null,
          weight: 80,
          breaks: here.map(({ workload }) => workload.key),
        },
      ];
    });
  },
};

/** One may be slow or misconfigured in a way that does not show. */
const MIN_SERVICES = 3;

const CUT_OFF = /i\/o timeout|timed out|timeout|no route to host|network is unreachable|refused/i;

/** Services that its log says it cannot connect to, although they have ready pods. */
function missedBy(
  scene: Scene,
  { key, spec }: { key: string; spec: { containers?: readonly { name?: string }[] | null } },
): Service[] {
  const lines = (spec.containers ?? [])
    .flatMap(({ name = "" }) => scene.log({ key }, name).slice(-60))
    .filter((line) => CUT_OFF.test(line));
  if (lines.length === 0) return [];
  return scene.list("services").filter((service) => {
    const { clusterIP = "", ports } = service.spec ?? {};
    const isTold = (ports ?? []).some(({ port }) =>
      lines.some(
        (line) =>
          line.includes(` ${clusterIP}:${port}:`) || line.includes(`${nameOf(service)}:${port}`),
      ),
    );
    return isTold && scene.selectedBy(service).some(({ pods }) => pods.some(isReady));
  });
}
