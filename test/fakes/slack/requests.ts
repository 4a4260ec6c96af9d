import type { IncomingMessage } from "node:http";
import type { Data } from "./types.ts";

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The fields of a form with files, whatever sent it. */
export function formOf(request: IncomingMessage, body: Buffer): Promise<FormData> {
  const type = request.headers["content-type"] ?? "";
  return new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
}

/** The arguments in a request's address and body; undefined when the body is not what it says it is. */
export async function argumentsOf(
  request: IncomingMessage,
  body: Buffer,
): Promise<Data | undefined> {
  const { searchParams } = new URL(request.url ?? "", "http://localhost");
  const query: Data = Object.fromEntries(searchParams);
  const type = (request.headers["content-type"] ?? "").split(";")[0] ?? "";
  try {
    if (type === "application/json") {
      const json: unknown = JSON.parse(body.toString());
      return typeof json === "object" && json !== null ? { ...query, ...json } : undefined;
    }
    if (type === "multipart/form-data") {
      return { ...query, ...Object.fromEntries(await formOf(request, body)) };
    }
    return { ...query, ...Object.fromEntries(new URLSearchParams(body.toString())) };
  } catch {
    return undefined;
  }
}
