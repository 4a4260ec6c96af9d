import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import { serverSettings } from "./settings.ts";

/** Servers that speak the Model Context Protocol: their tools, under our policy. */
export const mcp = defineIntegration({
  name: "mcp",
  settings: z.object({
    servers: fromYaml(
      "integrations.mcp",
      z
        .record(
          z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "expected a short name such as github"),
          serverSettings,
        )
        .default({}),
      "MCP servers: `<name>: { command, url, token, oauth, env, environment, tools, check, timeoutSeconds }`; `tools` turns each one on by its effect.",
    ),
  }),
  variables: ({ servers }) =>
    Object.values(servers).flatMap(({ token, env, oauth }) =>
      [...env, token, oauth?.secret].filter((name) => name !== undefined),
    ),
  unavailable: ({ servers }) =>
    Object.keys(servers).length === 0 ? "integrations.mcp names no server" : undefined,
  tools: () => [],
  async live({ servers }, parts) {
    const { openMcp } = await import("./create.ts");
    return openMcp(servers, parts);
  },
  proofs: ({ servers }) =>
    Object.keys(servers).map((server) => ({
      subject: `mcp ${server}`,
      tool: "mcp_status",
      args: { server },
    })),
});
