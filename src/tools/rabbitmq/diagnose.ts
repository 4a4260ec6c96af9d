import * as z from "zod";
import { bySeverity, type Finding, type Gap } from "../../core/finding.ts";
import { isoUtc } from "../../core/instant.ts";
import { counted, formatBytes, oneLine } from "../../core/text.ts";
import type { Endpoint } from "../http.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { defineTool } from "../tool.ts";
import {
  type Connection,
  type Node,
  type Overview,
  type Queue,
  read,
  readOr,
  READS,
} from "./api.ts";

/** Messages that wait without a reader, from which on it is worth a line, and from which on it is a fault by itself. */
const FEW = 10;
const MANY = 1_000;
/** Messages that are out at consumers, each of them. */
const UNACKNOWLEDGED = 1_000;
/** Messages that a read queue has gained within ten minutes. */
const GAINED = 1_000;
/** Of a limit: what comes next is the alarm. */
const NEARLY = 0.9;
const MAX_ROWS = 15;

export function createDiagnose(endpoints: Readonly<Record<string, Endpoint>>) {
  return defineTool({
    name: "rabbitmq_diagnose",
    summary: "finds what is wrong in RabbitMQ: queues without consumers, alarms, nodes",
    description:
      "Finds what is wrong with RabbitMQ now: queues that nobody reads or that grow, unacknowledged messages, memory and disk alarms, nodes that are down or parted, blocked connections; lists the fullest queues. Use it first when messages are late or publishers hang.",
    input: z.strictObject({ ...instanceArgument(endpoints) }),
    diagnoses: true,
    effect: "read",
    doing: () => "Looking for what is wrong with RabbitMQ",
    endpoints,
    timeoutMs: 30_000,
    async run(input, ctx) {
      const at = instanceOf(input, endpoints);
      // Who may not even see this is told so, rather than given four gaps.
      const overview = await read(ctx, at, READS.overview);
      const [nodes, fullest, worst, connections] = await Promise.all([
        readOr(ctx, at, "nodes and their alarms", READS.nodes),
        readOr(ctx, at, "the fullest queues", READS.fullest),
        readOr(ctx, at, "queues that are down", READS.worst),
        readOr(ctx, at, "connections", READS.connections),
      ]);
      const all = [nodes, fullest, worst, connections];
      const gaps = all.flatMap((each) => ("gap" in each ? [each.gap] : []));
      const seen = {
        nodes: "value" in nodes ? nodes.value : [],
        queues: "value" in fullest ? fullest.value.items : [],
        worst: "value" in worst ? worst.value.items : [],
        connections: "value" in connections ? connections.value.items : [],
      };
      return {
        text: rows(overview, seen.queues),
        // Within a severity in the order in which one thing brings about another.
        findings: [
          ...seen.nodes.flatMap(nodeFindings),
          ...seen.worst.flatMap(stateFindings),
          ...seen.queues.flatMap(queueFindings),
          ...connectionFindings(seen.connections),
        ].toSorted(bySeverity),
        gaps: [...gaps, ...statisticsGap(overview)],
      };
    },
  });
}

function statisticsGap({ disable_stats: isOff }: Overview): Gap[] {
  if (!isOff) return [];
  const help = "Set management.disable_stats = false.";
  return [{ what: "how queues grow", why: "the server keeps no statistics", help }];
}

function nodeFindings(node: Node): Finding[] {
  const object = { kind: "Node", namespace: "", name: node.name };
  const found: Finding[] = [];
  const add = (severity: Finding["severity"], cause: string, evidence: string, fix?: string) =>
    found.push({
      object,
      cause,
      severity,
      evidence,
      ...(fix !== undefined && { fix }),
      since: null,
    });
  if (!node.running) {
    add("error", "it is not running", "The cluster knows it and does not reach it.");
    return found;
  }
  const memory = `${formatBytes(node.mem_used)} used, the limit is ${formatBytes(node.mem_limit)}`;
  if (node.mem_alarm)
    add(
      "error",
      "memory alarm: publishers are blocked",
      memory,
      "Let consumers empty the queues, or raise vm_memory_high_watermark.",
    );
  else if (node.mem_limit > 0 && node.mem_used > NEARLY * node.mem_limit)
    add("warning", "memory is nearly used up", memory);
  if (node.disk_free_alarm)
    add(
      "error",
      "disk alarm: publishers are blocked",
      `${formatBytes(node.disk_free)} free, the limit is ${formatBytes(node.disk_free_limit)}`,
      "Make room on the disk that holds its data.",
    );
  if (node.fd_total > 0 && node.fd_used > NEARLY * node.fd_total)
    add("warning", "file handles are nearly used up", `${node.fd_used} of ${node.fd_total}`);
  if (node.partitions.length > 0)
    add("error", "the cluster is parted", `It does not see ${node.partitions.join(", ")}.`);
  return found;
}

/** The default virtual host needs no name. */
function objectOf({ vhost, name }: Queue): Finding["object"] {
  return { kind: "Queue", namespace: vhost === "/" ? "" : vhost, name };
}

const WELL = new Set(["running", "idle", "flow"]);

function stateFindings(queue: Queue): Finding[] {
  const { state, node = "?", type } = queue;
  if (state === undefined || WELL.has(state)) return [];
  return [
    {
      object: objectOf(queue),
      cause: `it is ${state}`,
      severity: "error",
      evidence: `a ${type} queue on ${node}.`,
      since: null,
    },
  ];
}

/** Queues that are meant to fill up: somebody looks through them later. */
const PARKED = /dead|dlq|dlx|error|fail|park|poison/i;

function queueFindings(queue: Queue): Finding[] {
  const { messages, messages_unacknowledged: out, consumers, name } = queue;
  const { gained, since } = growthOf(queue);
  const object = objectOf(queue);
  const grows = gained > 0 ? `, ${gained} more than 10 min ago` : "";
  if (consumers === 0) {
    if (messages < FEW && gained <= 0) return [];
    const isFault = !PARKED.test(name) && (gained > 0 || messages >= MANY);
    return [
      {
        object,
        cause: "it has no consumers",
        severity: isFault ? "error" : "warning",
        evidence: `${counted(messages, "message")} ${messages === 1 ? "waits" : "wait"}${grows}.`,
        fix: "Start what reads it: look at that service's logs and deploys.",
        since,
      },
    ];
  }
  const readers = counted(consumers, "consumer");
  if (out >= UNACKNOWLEDGED * consumers)
    return [
      {
        object,
        cause: "its consumers do not acknowledge what they get",
        severity: "warning",
        evidence: `${out} messages are out at ${readers}; ${queue.messages_ready} wait${grows}.`,
        fix: "Look at what the consumers hang on, and set a prefetch limit.",
        since,
      },
    ];
  if (gained < GAINED) return [];
  return [
    {
      object,
      cause: "more comes in than its consumers take",
      severity: "warning",
      evidence: `${messages} messages, ${readers}${grows}.`,
      since,
    },
  ];
}

/** What it gained within the time of the samples, and when it was empty last. */
function growthOf({ messages, messages_details: trend }: Queue) {
  const samples = (trend?.samples ?? []).toSorted((a, b) => a.timestamp - b.timestamp);
  const oldest = samples[0];
  const empty = samples.findLastIndex(({ sample }) => sample === 0);
  const first = empty === -1 ? undefined : samples[empty + 1];
  return {
    gained: oldest === undefined ? 0 : messages - oldest.sample,
    since: first === undefined ? null : `${isoUtc(first.timestamp, "second")}Z`,
  };
}

/** Publishers that the server holds back, counted by who they are. */
function connectionFindings(connections: readonly Connection[]): Finding[] {
  const held = connections.filter(({ state }) => /^(?:blocked|blocking|flow)$/.test(state));
  const groups = Map.groupBy(held, ({ user, state }) => JSON.stringify([user, state]));
  return [...groups.values()].map((same) => {
    const [{ user, state, peer_host: from } = { user: "?", state: "?", peer_host: "?" }] = same;
    return {
      object: { kind: "User", namespace: "", name: user },
      cause:
        state === "flow"
          ? "its publishers are slowed down: the server does not keep up"
          : `its publishers are ${state}`,
      severity: state === "flow" ? "info" : "error",
      evidence: `${counted(same.length, "connection")}, such as one from ${from}.`,
      since: null,
    };
  });
}

function rows(overview: Overview, queues: readonly Queue[]): string {
  const { object_totals: all, queue_totals: totals } = overview;
  const of =
    all === undefined
      ? []
      : [
          counted(all.queues, "queue"),
          counted(all.consumers, "consumer"),
          counted(all.connections, "connection"),
        ];
  const messages =
    totals === undefined
      ? []
      : [
          `${counted(totals.messages, "message")} (${totals.messages_unacknowledged} unacknowledged)`,
        ];
  const first = [
    `RabbitMQ ${overview.rabbitmq_version}, cluster ${overview.cluster_name}`,
    ...of,
    ...messages,
  ].join(", ");
  const shown = queues.filter(({ messages: n }) => n > 0).slice(0, MAX_ROWS);
  const more = (all?.queues ?? queues.length) - shown.length;
  return [
    first,
    ...shown.map(row),
    ...(more > 0
      ? [
          `${shown.length === 0 ? "" : "… "}${counted(more, "queue")} with ${shown.length === 0 ? "no messages" : "fewer or none"}`,
        ]
      : []),
  ].join("\n");
}

function row(queue: Queue): string {
  const { namespace, name } = objectOf(queue);
  const { gained } = growthOf(queue);
  const change = gained === 0 ? "" : `, ${gained > 0 ? "+" : ""}${gained} in 10 min`;
  const called = oneLine(`${namespace === "" ? "" : `${namespace}/`}${name}`).slice(0, 100);
  return `${called}: ${queue.messages_ready} ready, ${queue.messages_unacknowledged} unacknowledged, ${counted(queue.consumers, "consumer")}${change}`;
}
