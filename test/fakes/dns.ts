import dgram from "node:dgram";
import { onTestFinished } from "vitest";

/** A DNS server on loopback: what it has, by `name type`; what it does not have does not exist. */
export type Zone = Readonly<Record<string, readonly DnsRecord[] | Refusal>>;
type Refusal = "NXDOMAIN" | "SERVFAIL" | "REFUSED" | "silent" | "garbage";
export type DnsRecord = readonly [name: string, type: string, ttl: number, data: Buffer];

const TYPES: Readonly<Record<string, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  CAA: 257,
};
const CODES: Readonly<Record<string, number>> = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };

/** A name on the wire (RFC 1035, 3.1). */
export function wireName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from(label, "latin1"));
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
    Buffer.from([0]),
  ]);
}

export function uint16(...numbers: number[]): Buffer {
  return Buffer.concat(numbers.map((number) => Buffer.from([number >> 8, number & 255])));
}

/** Gives its port and what it was asked. */
export async function startDns(zone: Zone): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const socket = dgram.createSocket("udp4");
  socket.on("message", (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const type = Object.entries(TYPES).find(([, code]) => code === query.readUInt16BE(at + 1))?.[0];
    const question = query.subarray(12, at + 5);
    const key = `${labels.join(".")} ${type}`;
    asked.push(key);
    const isKnown = Object.keys(zone).some((each) => each.startsWith(`${labels.join(".")} `));
    const found = zone[key] ?? (isKnown ? [] : "NXDOMAIN");
    if (found === "silent") return;
    const records = typeof found === "string" ? [] : found;
    const code = typeof found === "string" ? (CODES[found] ?? 0) : 0;
    const id = query.subarray(0, 2);
    const head = [id, uint16(0x8180 | code, 1, records.length, 0, 0), question];
    const answers = records.map(([name, of, ttl, data]) =>
      Buffer.concat([wireName(name), uint16(TYPES[of] ?? 0, 1, 0, ttl, data.length), data]),
    );
    const whole = Buffer.concat([...head, ...answers]);
    socket.send(found === "garbage" ? whole.subarray(0, 14) : whole, from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    socket.close();
  });
  return { port: socket.address().port, asked };
}
