import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ask, labServer } from "../../fakes/kubernetes/record.ts";
import { pem } from "../../tools/network/servers.ts";

/** A real API server with its controllers, and what a kubelet would do for it. */

type Obj = Record<string, unknown>;
export type KubernetesLab = Awaited<ReturnType<typeof startLab>>;

export async function startLab(scripts: string) {
  const folder = mkdtempSync(join(tmpdir(), "watchkeeper-kubernetes-"));
  const { stdout } = await promisify(execFile)(join(scripts, "start"), [folder]);
  const kubeconfig = stdout.trim().split("\n").at(-1) ?? "";
  const server = labServer(kubeconfig);
  const logs = new Map<string, string>();
  const kubelet = https.createServer({ key: pem("key"), cert: pem("valid") }, (asked, response) => {
    const { pathname, searchParams } = new URL(asked.url ?? "", "https://kubelet");
    const [, kind, ...place] = pathname.split("/");
    const text = logs.get(
      `${place.join("/")}${searchParams.get("previous") === "true" ? "/previous" : ""}`,
    );
    if (kind !== "containerLogs" || text === undefined)
      return void response.writeHead(404).end("not found");
    const lines = text.split("\n").slice(-Number(searchParams.get("tailLines") ?? 1_000));
    response.end(lines.map((line) => `${line}\n`).join(""));
  });
  await new Promise<void>((resolve) => kubelet.listen(0, "127.0.0.1", resolve));
  const { port } = kubelet.address() as AddressInfo;

  /** The body of the answer. @throws Error unless it is a success */
  async function request(
    method: string,
    path: string,
    body?: unknown,
    type = "application/json",
  ): Promise<Obj> {
    const headers = { "content-type": type };
    const answer = await ask(server, {
      about: `${method} ${path}`,
      method,
      path,
      headers,
      ...(body !== undefined && { body }),
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as Obj;
  }

  const ready = (status: string) => [
    {
      type: "Ready",
      status,
      lastHeartbeatTime: new Date().toISOString(),
      lastTransitionTime: new Date().toISOString(),
    },
  ];

  async function addNode(name: string): Promise<void> {
    await request("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } });
    const amounts = { cpu: "4", memory: "8Gi", pods: "110" };
    const status = {
      capacity: amounts,
      allocatable: amounts,
      conditions: ready("True"),
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    await request(
      "PATCH",
      `/api/v1/nodes/${name}/status`,
      { status },
      "application/strategic-merge-patch+json",
    );
  }

  async function pods(namespace: string, app: string): Promise<Obj[]> {
    const list = await request(
      "GET",
      `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}`,
    );
    return list["items"] as Obj[];
  }

  /** Binds a workload's pods, reports them as running, or as `container` says, and ends those that are to end. */
  async function report(
    namespace: string,
    app: string,
    node: string,
    container: Obj = {},
  ): Promise<void> {
    for (const pod of await pods(namespace, app)) {
      const { name, deletionTimestamp } = pod["metadata"] as {
        name: string;
        deletionTimestamp?: string;
      };
      const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
      if (deletionTimestamp !== undefined) {
        await request("DELETE", path, {
          apiVersion: "v1",
          kind: "DeleteOptions",
          gracePeriodSeconds: 0,
        });
        continue;
      }
      const { nodeName, containers } = pod["spec"] as {
        nodeName?: string;
        containers: { name: string; image: string }[];
      };
      const target = { apiVersion: "v1", kind: "Node", name: node };
      if (nodeName === undefined)
        await request("POST", `${path}/binding`, {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name },
          target,
        });
      const isReady = container["ready"] !== false;
      const containerStatuses = containers.map(({ name: own, image }) => ({
        name: own,
        image,
        imageID: "",
        restartCount: 0,
        ready: true,
        state: { running: { startedAt: new Date().toISOString() } },
        ...container,
      }));
      const status = {
        phase: "Running",
        podIP: "10.1.0.7",
        conditions: ready(isReady ? "True" : "False"),
        containerStatuses,
      };
      await request(
        "PATCH",
        `${path}/status`,
        { status },
        "application/strategic-merge-patch+json",
      );
    }
  }

  return {
    kubeconfig,
    server,
    request,
    addNode,
    pods,
    report,
    /** Of the user `reader`, who has no rights until a binding gives them. */
    readerConfig: join(dirname(kubeconfig), "reader.kubeconfig"),
    log(
      namespace: string,
      pod: string,
      container: string,
      lines: readonly string[],
      previous = false,
    ) {
      logs.set(`${namespace}/${pod}/${container}${previous ? "/previous" : ""}`, lines.join("\n"));
    },
    async end() {
      for (const file of readdirSync(folder).filter((name) => name.endsWith(".pid"))) {
        const pid = Number(readFileSync(join(folder, file), "utf8"));
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It has ended.
        }
      }
      kubelet.closeAllConnections();
      await new Promise((resolve) => kubelet.close(resolve));
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
