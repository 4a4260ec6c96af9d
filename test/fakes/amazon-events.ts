import { crc32 } from "node:zlib";

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  // 7: a string.
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ]);
}

/** One message of `application/vnd.amazon.eventstream`, as AWS's services frame what they stream. */
function frame(headers: Record<string, string>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, head, body]);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(message));
  return Buffer.concat([message, end]);
}

/** Anthropic's event as Bedrock streams it. */
export function bedrockEvent(event: string): Buffer {
  const payload = JSON.stringify({ bytes: Buffer.from(event).toString("base64") });
  const headers = { ":event-type": "chunk", ":content-type": "application/json" };
  return frame({ ...headers, ":message-type": "event" }, payload);
}

/** How Bedrock ends a stream that goes wrong. */
export function bedrockException(type: string, message: string): Buffer {
  const headers = { ":exception-type": type, ":content-type": "application/json" };
  return frame({ ...headers, ":message-type": "exception" }, JSON.stringify({ message }));
}
