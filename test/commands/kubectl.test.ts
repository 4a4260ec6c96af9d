import { expect, test } from "vitest";
import { readKubectl } from "../../src/commands/kubectl.ts";
import { readTyped } from "../../src/commands/typed.ts";
import { createTools } from "../../src/tools/registry.ts";
import { run } from "./reading.ts";

test.each([
  ["kubectl get pods", "kubernetes_get", { kind: "pods" }],
  ["$ kubectl get po -n shop -o wide", "kubernetes_get", { kind: "po", namespace: "shop" }],
  ["kubectl get pods -A", "kubernetes_get", { kind: "pods" }],
  [
    "kubectl -n shop get deploy/web",
    "kubernetes_get",
    { kind: "deploy", name: "web", namespace: "shop" },
  ],
  [
    "kubectl get deploy/web --namespace=shop",
    "kubernetes_get",
    { kind: "deploy", name: "web", namespace: "shop" },
  ],
  ["kubectl get pod web-1 -o yaml", "kubernetes_get", { kind: "pod", name: "web-1", yaml: "true" }],
  ["kubectl get pods -l app=web", "kubernetes_get", { kind: "pods", labels: "app=web" }],
  ["kubectl get events -n shop", "kubernetes_events", { namespace: "shop" }],
  ["kubectl describe pod web-1", "kubernetes_describe", { kind: "pod", name: "web-1" }],
  ["kubectl top nodes", "kubernetes_top", { of: "nodes" }],
  [
    "kubectl logs web-1 -p --tail=20",
    "kubernetes_logs",
    { workload: "web-1", previous: "true", lines: "20" },
  ],
])("%s is read as the tool that reads the same", (text, tool, args) => {
  expect(readKubectl(text)).toEqual({ tool, args });
});

test.each([
  "kubectl delete pod web-1",
  "kubectl get pods shows nothing at all",
  "kubectl get",
  "kubectl get pods --token x",
  "kubectl exec -it web-1 -- sh",
  "kubectl get pods | grep web",
  "does kubectl get pods work?",
])("%s is no such line", (text) => expect(readKubectl(text)).toBeUndefined());

test("a line of kubectl is told that Kubernetes isn't set up, and what fires is answered from what is open, where no system can say it", async () => {
  const tools = await createTools();
  const problem = expect.stringContaining("Kubernetes isn't set up here");
  expect(readTyped("kubectl get pods", tools)).toMatchObject({
    command: { name: "invalid", problem },
  });
  const handoff = { ...(tools[0] ?? expect.fail()), name: "handoff" };
  for (const text of ["what is firing?", "any alerts?", "list alerts", "anything firing rn"]) {
    expect(readTyped(text, [handoff])).toEqual(run("handoff"));
    expect(readTyped(text, [handoff, { ...handoff, name: "prometheus_alerts" }])).toEqual({
      kind: "message",
    });
  }
  for (const text of [
    "what is firing on web-1?",
    "alerts are too loud",
    "any alerts for checkout?",
  ])
    expect(readTyped(text, [handoff])).toEqual({ kind: "message" });
});
