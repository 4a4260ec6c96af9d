import http from "node:http";
import * as z from "zod";
import { createNetwork } from "../../src/net/dial.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import type { Credential, Endpoint } from "../../src/tools/http.ts";
import { createContext } from "../../src/tools/tool-context.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";
import { noWorld } from "../fakes/tool-context.ts";
import { LOCAL } from "./dialing.ts";
import { listenHttp } from "./network/servers.ts";

/** Tools that make requests, and servers that keep what they were asked. */

export const SECRET = "Zt9-qLw27_KfPz4RbNcTy83HmVdSa6EjUoGi1Qls";
export const bearer: Credential = { kind: "bearer", secret: SECRET };
export const encoder = createEncoder([{ name: "GRAFANA_TOKEN", value: SECRET }]);

export type Permit = (args: object) => Promise<string | undefined>;
export interface Setting {
  rules?: Parameters<typeof createNetwork>[0];
  endpoints?: Record<string, Endpoint>;
  url?: string;
  permit?: Permit;
  signal?: AbortSignal;
}

export function toolWith(endpoints: Record<string, Endpoint>, run: Tool["run"]): Tool {
  const input = z.strictObject({ url: z.string().optional() });
  const about = {
    name: "ask",
    description: "For tests.",
    effect: "read",
    timeoutMs: 60_000,
  } as const;
  return defineTool({ ...about, input, kinds: { url: "url" }, endpoints, run });
}

/** What a call with this URL as its argument may use. */
export function contextOf({
  rules = LOCAL,
  endpoints = {},
  url = "",
  permit,
  signal,
}: Setting): ToolContext {
  const parts = { ...noWorld, network: createNetwork(rules), encoder };
  const tool = toolWith(endpoints, async () => ({ text: "" }));
  return createContext(parts, tool, {
    signal: signal ?? new AbortController().signal,
    args: { url },
    permit,
  });
}

/** A server that keeps what it was asked, and does as `answer` says. */
export async function listening(
  answer: http.RequestListener = (_, response) => response.end("ok"),
) {
  const asked: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }[] =
    [];
  const port = await listenHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  return { asked, origin: `http://127.0.0.1:${port}` };
}

export const redirectTo =
  (location: string): http.RequestListener =>
  (_, response) =>
    void response.writeHead(302, { location }).end();
