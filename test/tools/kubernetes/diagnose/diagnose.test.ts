import { describe, expect, it } from "vitest";
import { diagnose } from "../../../../src/tools/kubernetes/diagnose/diagnose.ts";
import { NOW } from "./incident-workload.ts";
import { snapshotOf, type Incident } from "./incident.ts";
import { CRASHING, look, service } from "./look.ts";

describe("what is found", () => {
  it("pods of one workload with one cause are one finding", async () => {
    const { findings } = await look({
      workloads: [{ ...CRASHING, name: "web", replicas: 3 }],
      logs: { web: ["panic: no configuration"] },
    });
    expect(findings).toHaveLength(1);
    expect(findings[0]?.evidence).toContain("3 of 3 pods");
    expect(findings[0]?.since).toBe("2026-03-12T09:58:00Z");
  });

  it("consequences come after their cause and name it", async () => {
    const { findings } = await look({
      workloads: [
        { ...CRASHING, name: "db", last: { ...CRASHING.last, reason: "OOMKilled", exitCode: 137 } },
        {
          ...CRASHING,
          name: "api",
          container: { env: [{ name: "DB_HOST", value: "db" }] },
        },
      ],
      objects: [service("db"), service("api")],
      logs: { api: ["could not connect to server: Connection refused"] },
    });
    expect(findings.map(({ object }) => `${object.kind} ${object.name}`)).toEqual([
      "Deployment db",
      "Deployment api",
      "Service api",
      "Service db",
    ]);
    expect(findings[1]?.evidence).toMatch(/^Because of #1\./);
    expect(findings[2]?.evidence).toMatch(/^Because of #2\./);
  });

  it("two workloads that blame each other are both told", async () => {
    const env = (value: string) => ({ env: [{ name: "PEER_ADDR", value: `${value}:80` }] });
    const { findings } = await look({
      workloads: [
        { ...CRASHING, name: "a", container: env("b") },
        { ...CRASHING, name: "b", container: env("a") },
      ],
      objects: [service("a"), service("b")],
      logs: { a: ["dial tcp: connection refused"], b: ["dial tcp: connection refused"] },
    });
    expect(new Set(findings.map(({ object }) => object.name))).toEqual(new Set(["a", "b"]));
  });

  it("events in the newer shape count as well", async () => {
    const { findings } = await look({
      workloads: [{ name: "web", state: "none" }],
      objects: [
        {
          kind: "Event",
          metadata: { name: "e" },
          regarding: { kind: "ReplicaSet", name: "web-7d9c5b8f6d" },
          type: "Warning",
          reason: "FailedCreate",
          note: 'Error creating: pods "web-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
          eventTime: "2026-03-12T09:50:00.000000Z",
          series: { count: 7, lastObservedTime: "2026-03-12T09:59:00.000000Z" },
        },
      ],
    });
    expect(findings[0]?.cause).toBe(
      "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2",
    );
    expect(findings[0]?.evidence).toContain("×7");
  });

  it("a quota that was raised since the refusal is said to be, in place of what mends it", async () => {
    const message =
      'pods "web-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2';
    const fixOf = async (pods: string) => {
      const quota = { kind: "ResourceQuota", metadata: { name: "q" }, status: { hard: { pods } } };
      const events = [{ on: "ReplicaSet/$rs", reason: "FailedCreate", message }];
      const { findings } = await look({
        workloads: [{ name: "web", replicas: 3, pods: 2, events }],
        objects: [quota],
      });
      return findings[0]?.fix;
    };
    expect(await fixOf("2")).toMatch(/^Raise ResourceQuota q/);
    expect(await fixOf("10")).toMatch(/^ResourceQuota q was raised since, to pods=10/);
  });

  it("a Service that was refused for its quota shows in what needs it", async () => {
    const { findings } = await look({
      workloads: [{ name: "web", container: { env: [{ name: "CART_ADDR", value: "cart:80" }] } }],
      objects: [
        {
          kind: "ResourceQuota",
          metadata: { name: "objects" },
          status: { hard: { services: "5" }, used: { services: "5" } },
        },
      ],
    });
    expect(findings[0]).toMatchObject({
      object: { kind: "ResourceQuota", name: "objects" },
      cause: "quota used up: services=5, limited: 5",
    });
  });
});

describe("less common causes", () => {
  it("an old recording is judged by its own time", async () => {
    const snapshot = snapshotOf({
      incident: "",
      workloads: [
        {
          name: "auth",
          restarts: 14,
          container: { livenessProbe: { httpGet: { path: "/helth", port: 80 } } },
          last: { reason: "Completed", exitCode: 0, finishedAt: "2026-03-12T09:59:00Z" },
          events: [
            {
              reason: "Unhealthy",
              message: "Liveness probe failed: HTTP probe failed with statuscode: 404",
            },
          ],
        },
      ],
    });
    const { findings } = await diagnose(snapshot, { now: NOW + 200 * 86_400_000 });
    expect(findings[0]?.cause).toContain("HTTP status 404 at path /helth");
  });

  it("an init container that never ends is named", async () => {
    const { findings } = await look({
      workloads: [
        {
          name: "api",
          state: "waiting",
          age: "30m",
          waiting: { reason: "PodInitializing" },
          spec: {
            initContainers: [{ name: "hang", image: "busybox", command: ["sleep", "infinity"] }],
          },
          podStatus: {
            phase: "Pending",
            initContainerStatuses: [
              {
                name: "hang",
                ready: false,
                state: { running: { startedAt: "2026-03-12T09:30:00Z" } },
              },
            ],
          },
        },
      ],
    });
    expect(findings[0]?.cause).toContain("init container hang does not end");
    expect(findings[0]?.evidence).toContain("sleep infinity");
  });

  it("a program that runs and logs nothing but errors is a warning", async () => {
    const { findings } = await look({
      workloads: [{ name: "cart" }],
      logs: { cart: Array.from({ length: 8 }, () => "ERROR checkout: invalid token for customer") },
    });
    expect(findings[0]).toMatchObject({
      object: { kind: "Deployment", name: "cart" },
      cause: "ERROR checkout: invalid token for customer",
      severity: "warning",
    });
  });

  it("a stateful set whose service is missing says why its members do not meet", async () => {
    const { findings } = await look({
      workloads: [
        {
          ...CRASHING,
          kind: "StatefulSet",
          name: "nacos",
          workloadSpec: { serviceName: "nacos-headless" },
        },
      ],
      logs: {
        nacos: ["java.net.UnknownHostException: nacos-0.nacos-headless: Name or service not known"],
      },
    });
    expect(findings[0]?.cause).toContain("there is no Service nacos-headless");
  });
});

describe("a healthy namespace", () => {
  it("has no findings when features that are off have addresses of their own", async () => {
    const { findings } = await look({
      workloads: [
        {
          name: "frontend",
          container: {
            ports: [{ containerPort: 8080 }],
            env: [
              { name: "PORT", value: "8080" },
              { name: "SHOPPING_ASSISTANT_SERVICE_ADDR", value: "shoppingassistantservice:80" },
              { name: "COLLECTOR_SERVICE_ADDR", value: "opentelemetrycollector:4317" },
              { name: "BACKEND_URL", value: "https://api.partner.example/v1" },
              { name: "DB_HOST", value: "10.0.0.12" },
            ],
          },
        },
      ],
      objects: [service("frontend", [{ port: 80, targetPort: 8080 }])],
    });
    expect(findings).toEqual([]);
  });

  it("has none when a port is not declared but probed", async () => {
    const { findings } = await look({
      workloads: [
        {
          name: "web",
          container: {
            ports: [{ name: "metrics", containerPort: 9090 }],
            readinessProbe: { httpGet: { path: "/", port: 8080 } },
          },
        },
      ],
      objects: [service("web", [{ port: 80, targetPort: 8080 }])],
    });
    expect(findings).toEqual([]);
  });

  it("a workload that was scaled to zero and that nobody needs is at most mentioned", async () => {
    const { findings } = await look({
      workloads: [{ name: "old", replicas: 0 }, { name: "web" }],
      objects: [service("old")],
    });
    expect(findings.map(({ severity }) => severity)).toEqual(["info"]);
  });

  it("one restart of a pod that is ready again is nothing to tell", async () => {
    const { findings } = await look({
      workloads: [
        {
          name: "web",
          restarts: 1,
          last: { reason: "Error", exitCode: 143, finishedAt: "2026-03-12T09:50:00Z" },
        },
      ],
    });
    expect(findings).toEqual([]);
  });
});

describe("one workload", () => {
  const incident: Partial<Incident> = {
    workloads: [{ ...CRASHING, name: "web" }, { ...CRASHING, name: "api" }, { name: "jobs" }],
    logs: { web: ["panic: web"], api: ["panic: api"] },
  };

  it.each(["web", "deployment/web", "Deployment web", "web-7d9c5b8f6d-x2k9p"])(
    "is found by %s",
    async (name) => {
      const { findings } = await look(incident, name);
      expect(findings.map(({ object }) => object.name)).toEqual(["web"]);
    },
  );

  it("brings along what it is a consequence of", async () => {
    const { findings } = await look(
      {
        workloads: [
          { name: "redis", replicas: 0 },
          {
            ...CRASHING,
            name: "cart",
            container: { env: [{ name: "REDIS_ADDR", value: "redis:6379" }] },
          },
          { ...CRASHING, name: "other" },
        ],
        objects: [service("redis", [{ port: 6379 }])],
        logs: { cart: ["connection refused"], other: ["panic: other"] },
      },
      "cart",
    );
    expect(findings.map(({ object }) => object.name)).toEqual(["redis", "cart"]);
  });

  it("that does not exist gets the nearest name", async () => {
    const { findings, text } = await look(incident, "wbe");
    expect(findings).toEqual([]);
    expect(text).toContain("Did you mean web?");
  });
});
