import type { Backoff } from "../../core/backoff.ts";
import { messageOf } from "../../core/errors.ts";
import type { ToolParts } from "../integration.ts";
import type { Tool } from "../tool.ts";
import { createAccept, createStatus } from "./accept.ts";
import { readForms } from "./forms.ts";
import { createServer } from "./servers.ts";
import type { ServerSettings } from "./settings.ts";
import { toolOf } from "./tools.ts";

/** Left out: those that people are used to. */
export interface McpTimes {
  /** How long a start waits for servers whose tools it does not know yet, in ms. */
  seeMs?: number;
  /** How long a server is left alone whose connection failed. */
  waits?(): Backoff;
}

/** The tools that the configuration turns on, and those about the servers. */
export async function createMcpTools(
  named: Readonly<Record<string, ServerSettings>>,
  parts: ToolParts,
  { seeMs, waits }: McpTimes = {},
): Promise<readonly Tool[]> {
  const servers = Object.entries(named).map(([name, settings]) =>
    createServer(name, settings, { ...parts, waits }),
  );
  const forms = await readForms(servers, parts, seeMs);
  const tools = servers.flatMap((server) =>
    Object.keys(server.settings.tools).flatMap((tool) => {
      const granted = { server, tool };
      if (forms.accepted(granted) === undefined) return [];
      try {
        return [toolOf(granted, forms)];
      } catch (error) {
        parts.warn(`mcp ${server.name}: ${tool} cannot be offered: ${messageOf(error)}`);
        return [];
      }
    }),
  );
  return [...tools, createStatus(servers, tools, forms), createAccept(servers, forms)];
}
