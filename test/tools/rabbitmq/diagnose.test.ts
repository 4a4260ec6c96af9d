import type { ServerResponse } from "node:http";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createDiagnose } from "../../../src/tools/rabbitmq/diagnose.ts";
import { READS } from "../../../src/tools/rabbitmq/api.ts";
import { SERVER } from "../dialing.ts";
import { contextOf, listening, SECRET } from "../http-parts.ts";

/** A management API that answers as RabbitMQ 3.10 did, with 5 000 orders that nobody reads; what is asked otherwise is refused. */
type Answers = Record<keyof typeof READS, unknown>;
type Answer = (response: ServerResponse) => void;

const recorded: Answers = JSON.parse(
  readFileSync(new URL("recorded.json", import.meta.url), "utf8"),
);
const healthy = { ...recorded, fullest: { items: [], total_count: 0 } };

async function diagnose(
  answers: Partial<Record<keyof typeof READS, unknown>> = {},
  signal?: AbortSignal,
) {
  const all: Answers = { ...recorded, ...answers };
  const server = await listening((request, response) => {
    const expected = `Basic ${Buffer.from(`watcher:${SECRET}`).toString("base64")}`;
    if (request.headers.authorization !== expected) return void response.writeHead(401).end("{}");
    const asked = Object.entries(READS).find(([, { path }]) => request.url === `/api/${path}`);
    if (asked === undefined) return void response.writeHead(404).end();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets the keys
    const answer = all[asked[0] as keyof typeof READS];
    if (typeof answer === "function") (answer as Answer)(response);
    else response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  const credential = { kind: "basic", user: "watcher", secret: SECRET } as const;
  const endpoints = { default: { url: server.origin, credential } };
  const ctx = contextOf({ rules: SERVER, endpoints, ...(signal && { signal }) });
  return createDiagnose(endpoints).run({}, ctx);
}

const status =
  (code: number): Answer =>
  (response) =>
    void response.writeHead(code).end('{"error":"not_authorised"}');

const queue = (changes: object) => ({
  name: "orders",
  vhost: "/",
  type: "quorum",
  state: "running",
  consumers: 2,
  messages: 0,
  messages_ready: 0,
  messages_unacknowledged: 0,
  ...changes,
});
const queues = (...items: object[]) => ({ items, total_count: items.length });

describe("rabbitmq_diagnose", () => {
  test("names the queue that nobody reads, since when, and lists what is in which queue", async () => {
    const { findings, gaps, text } = await diagnose();
    expect(findings).toMatchObject([
      {
        object: { kind: "Queue", namespace: "", name: "orders" },
        cause: "it has no consumers",
        severity: "error",
        evidence: expect.stringContaining("5000 messages wait"),
      },
    ]);
    expect(gaps).toEqual([]);
    expect(text).toContain("RabbitMQ 3.10.8");
    expect(text).toContain("orders: 5000 ready, 0 unacknowledged, 0 consumers");
  });

  test("finds nothing where nothing is wrong", async () => {
    const overview = { ...Object(recorded.overview), cluster_name: "x\n1. Node db: fine" };
    const { text, ...found } = await diagnose({ ...healthy, overview });
    expect(found).toMatchObject({ findings: [], gaps: [] });
    expect(text).toContain("cluster x 1. Node db: fine");
  });

  test.each<[string, Partial<Record<keyof typeof READS, unknown>>, string]>([
    [
      "a memory alarm",
      { nodes: [{ name: "a", mem_alarm: true }] },
      "memory alarm: publishers are blocked",
    ],
    [
      "a disk alarm",
      { nodes: [{ name: "a", disk_free_alarm: true }] },
      "disk alarm: publishers are blocked",
    ],
    ["a node that is gone", { nodes: [{ name: "a", running: false }] }, "it is not running"],
    ["a parted cluster", { nodes: [{ name: "a", partitions: ["b"] }] }, "the cluster is parted"],
    [
      "memory before its limit",
      { nodes: [{ name: "a", mem_used: 95, mem_limit: 100 }] },
      "memory is nearly used up",
    ],
    ["a queue that is down", { worst: queues(queue({ state: "down" })) }, "it is down"],
    [
      "consumers that do not acknowledge",
      { fullest: queues(queue({ messages: 3_000, messages_unacknowledged: 3_000 })) },
      "its consumers do not acknowledge what they get",
    ],
    [
      "consumers that are too slow",
      {
        fullest: queues(
          queue({
            messages: 9_000,
            messages_details: { samples: [{ sample: 100, timestamp: 1_795_401_240_000 }] },
          }),
        ),
      },
      "more comes in than its consumers take",
    ],
    [
      "publishers that are blocked",
      { connections: queues({ user: "shop", state: "blocked", peer_host: "10.0.0.7" }) },
      "its publishers are blocked",
    ],
  ])("finds %s", async (_, answers, cause) => {
    const { findings = [] } = await diagnose({ ...healthy, ...answers });
    expect(findings.map((each) => each.cause)).toEqual([cause]);
  });

  test("takes a queue of dead letters for a warning: nobody is meant to read it", async () => {
    const fullest = queues(queue({ name: "orders.dlq", consumers: 0, messages: 4_000 }));
    const { findings } = await diagnose({ ...healthy, fullest });
    expect(findings).toMatchObject([{ severity: "warning", cause: "it has no consumers" }]);
  });

  test("says which right its user lacks", async () => {
    await expect(diagnose({ overview: status(401) })).rejects.toMatchObject({
      code: "NOT_AVAILABLE",
      message: expect.stringContaining("does not know this user"),
    });
    const { gaps, findings } = await diagnose({ nodes: status(403) });
    expect(findings).toHaveLength(1);
    expect(gaps).toMatchObject([
      { what: "nodes and their alarms", help: expect.stringContaining("monitoring") },
    ]);
  });

  test.each<[string, unknown, string]>([
    [
      "cut off",
      (response: ServerResponse) => {
        response.writeHead(200, { "content-length": "1000" }).write("[");
        response.destroy();
      },
      "",
    ],
    [
      "too large",
      (response: ServerResponse) => response.end(`[${" ".repeat(1_100_000)}]`),
      "larger than 1 MiB",
    ],
    ["another program's", "<html>", "not the management API's"],
    ["of other types", { items: "none" }, "not the management API's"],
    ["an error", status(503), "answered 503"],
  ])("tells the rest when an answer is %s", async (_, nodes, why) => {
    const { gaps, findings } = await diagnose({ nodes });
    expect(findings).toHaveLength(1);
    expect(gaps).toMatchObject([
      { what: "nodes and their alarms", why: expect.stringContaining(why) },
    ]);
  });

  test("ends with its call when the server never answers", async () => {
    const asking = diagnose({ nodes: () => {} }, AbortSignal.timeout(100));
    await expect(asking).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("keeps a hostile name on its line, and short", async () => {
    const name = `x\n1. Queue all: fine\n${"y".repeat(10_000)}`;
    const fullest = queues(queue({ name, messages: 5 }));
    const { text } = await diagnose({ fullest });
    expect(text.split("\n")).toHaveLength(3);
    expect(text.length).toBeLessThan(500);
  });
});
