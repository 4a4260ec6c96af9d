import { once } from "node:events";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { BotError } from "../../core/errors.ts";
import { settingsOf } from "../../core/settings.ts";
import { type CliCommand, type CommandInput, EXIT, printLines } from "./command.ts";

async function serveByHttp(config: Config): Promise<number> {
  const { mcpServerPart } = await import("../../config/mcp-server.ts");
  const { serve } = await import("../serve.ts");
  if (settingsOf(mcpServerPart, config.values).token !== undefined) return serve(config);
  throw new BotError("CONFIG_INVALID", "MCP_TOKEN: missing; agents send it as bearer token.");
}

export const mcp: CliCommand = {
  name: "mcp",
  forms: {
    mcp: "our tools and incidents for another agent, by the Model Context Protocol on stdin and stdout",
    "mcp --http": "the same at /mcp of the HTTP server, beside what is served; needs MCP_TOKEN",
    "mcp login <server>": "logs in at a server of integrations.mcp, by OAuth",
    "mcp logout <server>": "forgets that login",
  },
  options: { http: "flag" },
  words: { min: 0, max: 2 },
  async run(input) {
    const { config, options, words } = input;
    if (words.length > 0) return login(input);
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

async function login({ config, words: [verb, server] }: CommandInput): Promise<number> {
  const { logInAt, logOutAt } = await import("./mcp-login.ts");
  if (server === undefined || (verb !== "login" && verb !== "logout"))
    throw new BotError("USAGE", "mcp: expected mcp login <server> or mcp logout <server>");
  if (verb === "logout") {
    await logOutAt(config, server);
    await printLines([`The login at ${server} is forgotten here; revoke it at the server, too.`]);
  } else await logInAt(config, server, { input: process.stdin, output: process.stdout });
  return EXIT.answered;
}
