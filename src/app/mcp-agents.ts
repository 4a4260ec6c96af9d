import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { ChatAdapter } from "../adapters/adapter.ts";
import type { Config } from "../config/config.ts";
import { mcpServerPart } from "../config/mcp-server.ts";
import { BotError } from "../core/errors.ts";
import { tenantOf, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { AGENT } from "../core/people.ts";
import { settingsOf } from "../core/settings.ts";
import type { Bot } from "./assemble.ts";
import type { Channel } from "./mcp-calls.ts";

/** What serves agents over HTTP; undefined: it is not turned on. */
export async function loadAgents(
  config: Config,
  bot: Bot,
  platforms: readonly ChatAdapter[],
  log: Logger,
) {
  const { token, channel: name, hosts = [] } = settingsOf(mcpServerPart, config.values);
  if (token === undefined) return undefined;
  const { createCaller } = await import("./mcp-calls.ts");
  const { createMcpHttp } = await import("./mcp-http.ts");
  const { createMcpServer } = await import("./mcp-server.ts");
  const channel = name === undefined ? undefined : channelOf(name, bot, platforms);
  const caller = createCaller({
    account: AGENT,
    // A tenant of its own: the records of the operator's threads are not an agent's.
    threads: "terminal:mcp:",
    tenants: [...tenantsOf("terminal:mcp:"), ...tenantsOf(name)],
    channel,
  });
  const served = createMcpHttp({
    token,
    hosts,
    isLocal: config.listenHost === undefined,
    createServer: () => createMcpServer(bot, caller),
    log,
  });
  return { ...served, adapter: caller.adapter };
}

const tenantsOf = (key = "") => [tenantOf(key)].filter((tenant) => tenant !== undefined);

/** @throws BotError CONFIG_INVALID */
function channelOf(name: string, { encode }: Bot, platforms: readonly ChatAdapter[]): Channel {
  const key = tryJournalKey(name);
  const platform = platforms.find(({ transport }) => key && transport === transportOf(key));
  if (key === undefined || platform === undefined)
    throw new BotError("CONFIG_INVALID", "MCP_CHANNEL: its chat platform is not turned on.");
  return {
    name: key,
    open: (text) => platform.open(key, encode(text), { id: randomUUID(), isRetry: false }),
    link: (thread) => platform.link(thread),
  };
}
