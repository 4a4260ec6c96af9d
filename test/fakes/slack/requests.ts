import type { IncomingMessage } from "node:http";
import type { Data } from "./types.ts";

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The arguments in a request's address and body; undefined when the body is not what it says it is. */
export function argumentsOf(request: IncomingMessage, body: Buffer): Data | undefined {
  const { searchParams } = new URL(request.url ?? "", "http://localhost");
  const query: Data = Object.fromEntries(searchParams);
  const type = (request.headers["content-type"] ?? "").split(";")[0] ?? "";
  try {
    if (type === "application/json") {
      const json: unknown = JSON.parse(body.toString());
      return typeof json === "object" && json !== null ? { ...query, ...json } : undefined;
    }
    return { ...query, ...Object.fromEntries(new URLSearchParams(body.toString())) };
  } catch {
    return undefined;
  }
}
