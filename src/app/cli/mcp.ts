import { once } from "node:events";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { BotError } from "../../core/errors.ts";
import { settingsOf } from "../../core/settings.ts";
import { type CliCommand, EXIT } from "./command.ts";

async function serveByHttp(config: Config): Promise<number> {
  const { mcpServerPart } = await import("../../config/mcp-server.ts");
  const { serve } = await import("../serve.ts");
  if (settingsOf(mcpServerPart, config.values).token !== undefined) return serve(config);
  throw new BotError("CONFIG_INVALID", "MCP_TOKEN: missing; agents send it as bearer token.");
}

export const mcp: CliCommand = {
  name: "mcp",
  forms: {
    "npm start -s -- mcp":
      "our tools and incidents for another agent, by the Model Context Protocol on stdin and stdout",
    "npm start -s -- mcp --http":
      "the same at /mcp of the HTTP server, with what `npm start` serves; needs MCP_TOKEN",
  },
  options: { http: "flag" },
  async run({ config, options }) {
    if (options["http"] === true) return serveByHttp(config);
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    const { createCaller } = await import("../mcp-calls.ts");
    const { createMcpServer } = await import("../mcp-server.ts");
    const { assemble } = await import("../assemble.ts");
    const { account, createLogger, stopOnSignal } = await import("../process.ts");
    // Standard output holds nothing but messages.
    const log = createLogger(config, join(config.dataDir, "watchkeeper.log"));
    const bot = await assemble(config, log, { local: true });
    // As if the person who runs the program typed each call in the terminal.
    const caller = createCaller({
      account: account().account,
      threads: "terminal:mcp-",
      tenants: "all",
    });
    stopOnSignal(bot);
    bot.start(caller.adapter);
    try {
      const server = createMcpServer(bot, caller);
      await server.connect(new StdioServerTransport());
      await once(process.stdin, "end");
      await server.close();
    } finally {
      await bot.stop();
    }
    return EXIT.answered;
  },
};
