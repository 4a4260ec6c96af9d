import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { createClusterTools } from "../../src/tools/kubernetes/tools.ts";
import { readKubeconfig } from "../../src/tools/kubernetes/kubeconfig.ts";
import { answerCommand } from "../../src/commands/answers.ts";
import { askAll } from "../fakes/kubernetes/record.ts";
import { createStage } from "../fakes/stage.ts";
import { call, cardText, dispatcherOf, takeBack } from "../tools/kubernetes/calls.ts";
import { type KubernetesLab, startLab } from "./kubernetes/lab.ts";

/** A real API server with its controllers; what a kubelet does, the lab does. In the order in which an incident goes. */

let lab: KubernetesLab;
beforeAll(async () => {
  lab = await startLab(process.env["LAB_KUBERNETES"] ?? "");
}, 180_000);
afterAll(() => lab.end());

function toolsOf(kubeconfig: string, users: Record<string, string> = {}) {
  const dispatcher = dispatcherOf(createClusterTools({ ...readKubeconfig(kubeconfig), users }));
  return {
    dispatcher,
    run: (tool: string, args: Record<string, unknown> = {}) =>
      call(dispatcher, `kubernetes_${tool}`, args),
  };
}
const admin = () => toolsOf(lab.kubeconfig);

const WEB = { workload: "web", namespace: "shop" };
const labels = { app: "web" };

async function seed(): Promise<void> {
  await lab.addNode("n1");
  await lab.addNode("n2");
  await lab.request("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop" },
  });
  await lab.request("POST", "/api/v1/namespaces/shop/secrets", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "db" },
    stringData: { password: "hunter2-hunter2" },
  });
  const containers = [
    { name: "app", image: "registry.example.com/web:1.0", ports: [{ containerPort: 8080 }] },
  ];
  await lab.request("POST", "/apis/apps/v1/namespaces/shop/deployments", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  await lab.request("POST", "/api/v1/namespaces/shop/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
  });
  await settled(2);
}

/** The controllers have made the pods, and the kubelet reports them. */
async function settled(count: number, container: Record<string, unknown> = {}): Promise<void> {
  await expect
    .poll(async () => {
      await lab.report("shop", "web", "n1", container);
      const { text } = await admin().run("rollout", WEB);
      const pods = await lab.pods("shop", "web");
      return (
        pods.length === count && (container["ready"] === false || text.includes("is rolled out"))
      );
    })
    .toBe(true);
}

test("the answers that the fake is held to are still this server's", async () => {
  const recorded = JSON.parse(
    readFileSync(join(import.meta.dirname, "../fakes/kubernetes/recorded.json"), "utf8"),
  );
  expect(await askAll(lab.server)).toEqual(recorded);
});

describe("an incident", () => {
  test("is seen, read about in the logs, and mended by going back", async () => {
    await seed();
    const { run, dispatcher } = admin();
    expect((await run("overview", { namespace: "shop" })).text).toMatch(
      /^Nothing is unhealthy in namespace shop/,
    );
    expect((await run("service_check", { name: "web" })).text).toContain("requests can arrive");

    const bad = await run("set_image", { ...WEB, image: "registry.example.com/web:1.1" });
    expect(cardText(bad.preview)).toContain(
      "image: registry.example.com/web:1.0 → registry.example.com/web:1.1",
    );
    expect(bad.text).toContain("Verified");
    const down = {
      ready: false,
      restartCount: 4,
      state: {
        waiting: {
          reason: "CrashLoopBackOff",
          message: "back-off 40s restarting failed container=app",
        },
      },
      lastState: {
        terminated: {
          exitCode: 1,
          reason: "Error",
          startedAt: "2026-11-23T01:00:00Z",
          finishedAt: "2026-11-23T01:00:01Z",
        },
      },
    };
    await expect
      .poll(async () => {
        await lab.report("shop", "web", "n1", down);
        return (await run("overview", { namespace: "shop" })).text;
      })
      .toContain("container app: CrashLoopBackOff, 4 restarts");
    for (const pod of await lab.pods("shop", "web")) {
      const { name } = pod["metadata"] as { name: string };
      lab.log("shop", name, "app", ["2026-11-23T01:00:01.000000000Z FATAL no route to db"], true);
    }
    const logs = await run("logs", { ...WEB, pattern: "fatal" });
    expect(logs.text).toMatch(/app FATAL no route to db/);
    const { findings } = await run("diagnose", { namespace: "shop" });
    expect(findings[0]).toMatchObject({
      object: { kind: "Deployment", name: "web" },
      severity: "error",
    });
    expect(`${findings[0]?.cause} ${findings[0]?.evidence}`).toContain("no route to db");
    expect((await run("rollout", WEB)).text).toMatch(
      /Changed from revision 1 to 2:\nspec\.containers\[app\]\.image/,
    );

    const back = await run("undo_rollout", WEB);
    expect(cardText(back.preview)).toContain("Back to: revision 1: registry.example.com/web:1.0");
    expect(back.text).toContain("Verified");
    await settled(2);
    expect((await run("overview", { namespace: "shop" })).text).toMatch(/^Nothing is unhealthy/);
    // What has become revision 3 is taken back to 2, by the very call that the card's undo makes.
    await takeBack(dispatcher, back.undo);
    expect(back.undo?.args).toMatchObject({ revision: 2 });
    await expect.poll(async () => (await run("rollout", WEB)).text).toContain("4 (now)");
    await run("undo_rollout", WEB);
    await settled(2);
  });

  test("is changed by every write, read back, and taken back", async () => {
    const { run, dispatcher } = admin();
    const scaled = await run("scale", { ...WEB, replicas: 3 });
    expect(scaled.text).toContain("deployment/web: spec.replicas: 2 → 3\nVerified");
    await settled(3);
    await takeBack(dispatcher, scaled.undo);
    await settled(2);
    await expect(takeBack(dispatcher, scaled.undo)).rejects.toThrow(
      /has changed since it was shown/,
    );

    expect((await run("restart", WEB)).text).toContain("Verified: Restarted");
    await settled(2);

    const patched = await run("patch", {
      kind: "deploy",
      name: "web",
      namespace: "shop",
      patch: { metadata: { labels: { tier: "front" } }, spec: { paused: true } },
    });
    expect(patched.text).toContain("Verified");
    await takeBack(dispatcher, patched.undo);
    const { text } = await run("get", {
      kind: "deploy",
      name: "web",
      namespace: "shop",
      yaml: true,
    });
    expect(text).not.toMatch(/paused|tier/);

    const [pod] = await lab.pods("shop", "web");
    const { name } = (pod ?? {})["metadata"] as { name: string };
    const gone = await run("delete_pod", { pod: name, namespace: "shop" });
    expect(gone.preview?.blastRadius).toContain("1 of 2 ready pods of ReplicaSet");
    expect(gone.text).toContain("Verified");
    await settled(2);
  });

  test("is taken back by Undo on its card, once, and not when the world has moved on", async () => {
    const { run, dispatcher } = admin();
    const stage = await createStage();
    stage.parts.dispatcher = dispatcher;
    const tools = createClusterTools(readKubeconfig(lab.kubeconfig));
    stage.parts.run.direct = (asked, thread) =>
      answerCommand(asked, thread, { tools, terms: undefined, modelProblem: () => undefined });
    const cardOf = (action: string) => stage.chat.cards().find((each) => each.action === action);
    const decide = async (action: string, kind: "approve" | "undo") => {
      await stage.click(action, { kind }, "test:bob");
      await stage.settle();
    };
    const doAndUndo = async (command: string, [did, back]: [string, string]) => {
      await stage.say(command);
      await stage.settle();
      await decide(did, "approve");
      expect(cardOf(did)).toMatchObject({ phase: "done", undo: { state: "offered" } });
      await stage.click(did, { kind: "undo" }, "test:ana");
      await stage.settle();
      expect(cardOf(back)?.preview.lines).toContainEqual({
        label: "Tried",
        value: "the API server takes it (dry run)",
      });
      await decide(back, "approve");
      expect(cardOf(did)?.undo).toEqual({ state: "undone", by: back });
    };
    const described = async () =>
      (await run("get", { kind: "deploy", name: "web", namespace: "shop", yaml: true })).text;

    await doAndUndo("run kubernetes_scale workload=web namespace=shop replicas=3", ["a1", "a2"]);
    expect(await described()).toContain("replicas: 2");
    const image = "registry.example.com/web:1.9";
    const before = /image: (\S+)/.exec(await described())?.[1];
    await doAndUndo(`run kubernetes_set_image workload=web namespace=shop image=${image}`, [
      "a3",
      "a4",
    ]);
    expect(await described()).toContain(`image: ${before}`);
    await settled(2);

    // Somebody else changes it after it was done.
    await stage.say("run kubernetes_scale workload=web namespace=shop replicas=3");
    await stage.settle();
    await decide("a5", "approve");
    await run("scale", { ...WEB, replicas: 4 });
    await decide("a5", "undo");
    expect(stage.chat.answers().at(-1)?.results).toMatchObject([
      { outcome: "blocked", text: expect.stringMatching(/^a5 was not undone\. .*replicas: 3 → 4/) },
    ]);
    await run("scale", { ...WEB, replicas: 2 });
    await settled(2);
  });

  test("on a node is met by cordoning and draining it", async () => {
    const { run, dispatcher } = admin();
    const cordoned = await run("cordon", { node: "n2", action: "cordon" });
    expect(cordoned.text).toContain("Verified: n2 takes no new pods.");
    await takeBack(dispatcher, cordoned.undo);
    const budget = {
      apiVersion: "policy/v1beta1",
      kind: "PodDisruptionBudget",
      metadata: { name: "web" },
      spec: { minAvailable: 0, selector: { matchLabels: labels } },
    };
    await lab.request("POST", "/apis/policy/v1beta1/namespaces/shop/poddisruptionbudgets", budget);
    await expect
      .poll(async () => (await run("get", { kind: "pdb", namespace: "shop" })).text)
      .toMatch(/web +0 +N\/A +2/);
    const drained = await run("drain", { node: "n1" });
    expect(drained.preview?.blastRadius).toContain("2 of 2 ready pods of ReplicaSet");
    expect(drained.text).toMatch(/^n1 is cordoned; 2 pods evicted\.\nVerified/);
    await takeBack(dispatcher, drained.undo);
    expect((await run("get", { kind: "nodes" })).text).not.toContain("SchedulingDisabled");
    await settled(2);
  });

  test("ends for an object for good, and for no other of its name", async () => {
    const { run, dispatcher } = admin();
    const signal = new AbortController().signal;
    const args = { kind: "svc", name: "web", namespace: "shop" };
    const prepared = await dispatcher.prepare("kubernetes_delete", args, signal);
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { selector: labels, ports: [{ port: 80 }] },
    };
    await lab.request("DELETE", "/api/v1/namespaces/shop/services/web");
    await lab.request("POST", "/api/v1/namespaces/shop/services", service);
    expect(
      await dispatcher.revalidate("kubernetes_delete", prepared.args, prepared.digest, signal),
    ).toContain("is another one by now");
    expect((await run("delete", args)).text).toContain("Verified: svc web is gone.");
  });
});

describe("rights", () => {
  test("that are missing are told, with the permission that would help", async () => {
    const { run } = toolsOf(lab.readerConfig);
    const { text, gaps } = await run("get", { kind: "pods", namespace: "shop" });
    expect(text).toContain('User "reader" cannot list resource "pods"');
    expect(gaps).toMatchObject([{ help: "Allow list on pods." }]);
    await expect(
      run("scale", { workload: "deployment/web", namespace: "shop", replicas: 1 }),
    ).rejects.toThrow(/403 Forbidden/);
  });

  test("that the page gives for reading let every read see all but Secrets, and change nothing", async () => {
    await grant("watchkeeper-read");
    const { run } = toolsOf(lab.readerConfig);
    const calls: [string, Record<string, unknown>][] = [
      ["overview", {}],
      ["get", { kind: "pods" }],
      ["get", { kind: "hpa" }],
      ["describe", { kind: "deploy", name: "web", namespace: "shop" }],
      ["events", {}],
      ["logs", WEB],
      ["rollout", WEB],
      ["top", { of: "storage" }],
      ["top", { of: "quotas" }],
      ["access", {}],
    ];
    for (const [tool, args] of calls) {
      const { outcome, gaps } = await run(tool, args);
      expect([tool, outcome, gaps.filter(({ why }) => why.startsWith("forbidden"))]).toEqual([
        tool,
        "ok",
        [],
      ]);
    }
    const { gaps: unseen } = await run("diagnose", { namespace: "shop" });
    const denied = unseen.filter(({ why }) => why.includes("forbidden"));
    expect(denied.map(({ what }) => what)).toEqual([expect.stringContaining("secrets")]);
    expect((await run("get", { kind: "secrets", namespace: "shop" })).text).toContain(
      'cannot list resource "secrets"',
    );
    await expect(run("restart", WEB)).rejects.toThrow(/Allow patch on deployments\.apps\./);
  });

  test("that the page gives for changing suffice for those changes", async () => {
    await grant("watchkeeper-write");
    const { run } = toolsOf(lab.readerConfig);
    await settled(2);
    for (const [tool, args] of [
      ["scale", { ...WEB, replicas: 1 }],
      ["restart", WEB],
      ["set_image", { ...WEB, image: "registry.example.com/web:1.2" }],
      ["cordon", { node: "n2", action: "cordon" }],
    ] as const) {
      expect((await run(tool, args)).text, tool).toContain("Verified");
    }
  });

  test("of whoever approved are what counts when their user is named", async () => {
    const { run } = toolsOf(lab.kubeconfig, { "test:ana": "nobody@example.com" });
    const { outcome, text } = await run("cordon", { node: "n2", action: "uncordon" });
    expect(outcome).toBe("error");
    expect(text).toContain('User "nobody@example.com" cannot');
  });
});

/** The version of a kind that this old server knows, where the manifests' came after it. */
const BEFORE_1_21: Readonly<Record<string, string>> = { PodDisruptionBudget: "policy/v1beta1" };

test("the server takes every manifest of ours, and no field of them is unknown to it", async () => {
  const folder = join(import.meta.dirname, "../../deploy/kubernetes");
  const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  const objects = files.flatMap((name) =>
    parseAllDocuments(readFileSync(join(folder, name), "utf8")).map((each) => each.toJS()),
  );
  const [namespace, ...others] = objects.toSorted(
    (one, other) => Number(other.kind === "Namespace") - Number(one.kind === "Namespace"),
  );
  await lab.request("POST", "/api/v1/namespaces", namespace);
  for (const object of others) {
    const { kind, metadata } = object;
    const apiVersion = BEFORE_1_21[kind] ?? object.apiVersion;
    const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const within = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
    const plural = `${kind.toLowerCase().replace(/y$/, "ie")}s`;
    const path = `${group}${within}/${plural}?dryRun=All`;
    const taken = await lab.request("POST", path, { ...object, apiVersion });
    // What it does not know it leaves out. The lab takes amounts such as 100m for ages.
    const sent = JSON.parse(JSON.stringify({ ...object, apiVersion }), (_, value: unknown) =>
      typeof value === "string" && /^\d+m$/.test(value) ? expect.any(String) : value,
    );
    expect(taken, `${kind} ${metadata.name}`).toMatchObject(sent);
  }
  expect(others.length).toBeGreaterThan(7);
});

/** Makes a role as the page has it, and binds it to the reader. */
async function grant(name: string): Promise<void> {
  const page = readFileSync(
    join(import.meta.dirname, "../../docs/integrations/kubernetes.md"),
    "utf8",
  );
  const blocks = [...page.matchAll(/```yaml\n([^]*?)```/g)].flatMap(([, yaml = ""]) =>
    parseAllDocuments(yaml).map((each) => each.toJS()),
  );
  const role = blocks.find((each) => each.kind === "ClusterRole" && each.metadata.name === name);
  const group = "/apis/rbac.authorization.k8s.io/v1";
  await lab.request("POST", `${group}/clusterroles`, role);
  await lab.request("POST", `${group}/clusterrolebindings`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "User", name: "reader", apiGroup: "rbac.authorization.k8s.io" }],
  });
}
