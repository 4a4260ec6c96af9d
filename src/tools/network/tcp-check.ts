import { isUtf8 } from "node:buffer";
import { addAbortListener } from "node:events";
import type { Duplex } from "node:stream";
import * as z from "zod";
import type { Encoder } from "../../security/encoder.ts";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { Finding } from "../../core/finding.ts";
import { limitTime, type TimeLimit } from "../../core/time-limit.ts";
import type { Dialed } from "../../net/dial.ts";
import { formatAddress, printable } from "../../net/format.ts";
import { secure } from "../../net/tls.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { describeCertificate } from "./certificate.ts";
import { CHECK_TIMEOUT_MS, formatTimes, printablePart, timeoutField } from "./format.ts";

/** Servers that speak first (SSH, SMTP, MySQL, FTP) do so at once; all others wait for their client. */
const GREETING_WAIT_MS = 1_000;
const MAX_GREETING_BYTES = 256;

const input = z.strictObject({
  host: z
    .string()
    .min(1)
    .max(260)
    .meta({ description: "Host name or IP address", examples: ["db.example.com"] }),
  port: z
    .int()
    .min(1)
    .max(65_535)
    .meta({ examples: [5432] }),
  tls: z.boolean().default(false).describe("Also speak TLS and report the certificate"),
  timeoutSeconds: timeoutField(""),
});
type Input = z.infer<typeof input>;

/** Connects to a port. That nothing answers there is a result; only what may not be asked is an error. */
export const tcpCheck = defineTool({
  name: "tcp_check",
  summary: "tests whether a port answers; shows its banner and certificate",
  description:
    "Connects to a host and port and reports whether it is open, refused, silent (filtered) or unreachable, with times, the server's greeting and, with tls, its certificate. Use it for databases, brokers, mail, SSH: whatever does not speak HTTP.",
  input,
  effect: "read",
  kinds: { host: "host" },
  // More than an investigation needs, and too few to scan a host's ports.
  limits: { perRun: 20, perPersonHour: 60 },
  timeoutMs: CHECK_TIMEOUT_MS,
  doing: ({ host, port }) => `Connecting to ${formatAddress(host, port)}`,
  title: ({ host, port }) => `Connect to ${formatAddress(host, port)}`,
  async preview({ host, port }) {
    return {
      lines: [{ label: "Connects to", value: formatAddress(host, port) }],
      blastRadius: `Whoever answers for the name ${host} learns that it was looked up. Nothing else is sent.`,
      undo: "What was sent can't be taken back.",
    };
  },
  async run(args, ctx) {
    const { conclusion, severity, facts } = await check(args, ctx);
    if (ctx.signal.aborted) throw new BotError("ABORTED", "the check was stopped");
    const details = facts.map((fact) => `   ${fact}`).join("\n");
    if (severity === undefined) return { text: `${conclusion}\n\n${details}` };
    const object = { kind: "Port", namespace: "", name: formatAddress(args.host, args.port) };
    const [evidence = ""] = facts;
    return {
      text: details,
      findings: [{ object, cause: conclusion, severity, evidence, since: null }],
    };
  },
});

interface Seen {
  conclusion: string;
  /** Undefined: the port is well. */
  severity?: Finding["severity"] | undefined;
  facts: string[];
}

async function check(args: Input, ctx: ToolContext): Promise<Seen> {
  const limit = limitTime(ctx.signal, args.timeoutSeconds);
  const started = performance.now();
  let dialed: Dialed | undefined;
  try {
    dialed = await ctx.dial(args.host, args.port, limit);
    return await inspect(dialed, args, limit, ctx.encoder);
  } catch (error) {
    if (isBotError(error, "ADDRESS_UNKNOWN", "CONNECTION_FAILED")) {
      const took = formatTimes([["total", performance.now() - started]]);
      return {
        conclusion: `NOT OPEN: ${error.message}`,
        severity: "error",
        facts: [`times: ${took}`],
      };
    }
    if (!limit.signal.aborted) throw error;
    const conclusion = `NOT OPEN: no connection to ${formatAddress(args.host, args.port)} within ${limit.seconds} s`;
    return { conclusion, severity: "error", facts: [] };
  } finally {
    dialed?.socket.destroy();
  }
}

/** Reports on an open port. */
async function inspect(
  dialed: Dialed,
  args: Input,
  limit: TimeLimit,
  encoder: Encoder,
): Promise<Seen> {
  let severity: Seen["severity"];
  let conclusion = `OPEN: ${printable(formatAddress(args.host, args.port), 300)} accepts connections`;
  // An address was not looked up.
  const times: [string, number | undefined][] = [
    ["DNS", dialed.dnsMs === 0 ? undefined : dialed.dnsMs],
    ["connect", dialed.connectMs],
  ];
  const details: string[] = [];
  let stream: Duplex = dialed.socket;
  try {
    if (args.tls) {
      const { socket, tlsMs, protocol, ...tls } = await secure(stream, args.host, limit);
      const judged = describeCertificate(tls.certificate, args.host, tls.distrust, Date.now());
      stream = socket;
      times.push([protocol, tlsMs]);
      details.push(...judged.lines);
      conclusion += ` and speaks ${protocol}`;
      if (judged.problem !== undefined) {
        severity = "error";
        conclusion += `, but clients refuse its certificate: ${judged.problem}`;
      } else if (judged.warning !== undefined) {
        severity = "warning";
        conclusion += `; ${judged.warning}`;
      }
    }
    details.push(`greeting: ${await readGreeting(stream, limit, encoder)}`);
  } catch (error) {
    severity = "error";
    conclusion += `, but ${limit.signal.aborted ? `the TLS handshake did not end within ${limit.seconds} s` : messageOf(error)}`;
  }
  const address = formatAddress(dialed.address, dialed.port);
  const facts = [`address: ${address}`, `times: ${formatTimes(times)}`, ...details];
  return { conclusion, severity, facts };
}

/** What a server says by itself within a second, up to its first line's end. */
async function readGreeting(stream: Duplex, limit: TimeLimit, encoder: Encoder): Promise<string> {
  const enough = MAX_GREETING_BYTES + encoder.reach;
  const wait = AbortSignal.any([limit.signal, AbortSignal.timeout(GREETING_WAIT_MS)]);
  const listener = addAbortListener(wait, () => stream.destroy());
  let bytes = Buffer.alloc(0);
  try {
    for await (const chunk of stream) {
      bytes = Buffer.concat([bytes, chunk]).subarray(0, enough);
      if (bytes.includes("\n") || bytes.length === enough) break;
    }
  } catch {
    // Cut by the server or by the wait; which one it was shows below.
  } finally {
    listener[Symbol.dispose]();
  }
  if (bytes.length === 0) {
    return wait.aborted
      ? "none; the server waits for its client to speak"
      : "none; the server closed the connection at once";
  }
  const text = bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
  // In a binary greeting (MySQL's holds the version) a line feed is a byte like any other.
  const line = text.includes("\0") ? text : (text.split(/\r?\n/, 1)[0] ?? "");
  return printablePart(line, MAX_GREETING_BYTES, encoder);
}
