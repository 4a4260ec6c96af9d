import { once } from "node:events";
import { join } from "node:path";
import { type CliCommand, EXIT } from "./command.ts";

export const mcp: CliCommand = {
  name: "mcp",
  forms: {
    "npm start -s -- mcp":
      "our tools and incidents for another agent, by the Model Context Protocol on stdin and stdout",
  },
  async run({ config }) {
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    const { createGuests, createMcpServer } = await import("../mcp-server.ts");
    const { assemble } = await import("../assemble.ts");
    const { account, createLogger, stopOnSignal } = await import("../process.ts");
    // Standard output holds nothing but messages.
    const log = createLogger(config, join(config.dataDir, "watchkeeper.log"));
    const bot = await assemble(config, log, { local: true });
    const guests = createGuests(account());
    stopOnSignal(bot);
    bot.start(guests.adapter);
    try {
      const server = createMcpServer(bot, guests);
      await server.connect(new StdioServerTransport());
      await once(process.stdin, "end");
      await server.close();
    } finally {
      await bot.stop();
    }
    return EXIT.answered;
  },
};
