import type { Config } from "../config/config.ts";
import { chosenStore } from "../journal/stores.ts";
import { assemble } from "./assemble.ts";
import { type HttpServer, startHttpServer } from "./http.ts";
import { connectPlatforms, loadPlatforms } from "./platforms.ts";
import { createLogger, stopOnSignal } from "./process.ts";

/**
 * Serves every configured platform until it is told to stop. Returns only when none could be connected: then with what
 * was wrong on stderr.
 */
export async function serve(config: Config): Promise<number> {
  const log = createLogger(config, undefined);
  const bot = await assemble(config, log, { local: false });
  let http: HttpServer | undefined;
  const stop = async () => {
    await bot.stop();
    await http?.stop();
  };
  const stopped = stopOnSignal({ stop });
  try {
    const platforms = await loadPlatforms(config, log);
    const routes = platforms.flatMap((platform) => platform.routes ?? []);
    if (config.isPortSet || routes.length > 0) {
      http = await startHttpServer({ routes, port: config.port, log });
    }
    bot.start(...platforms);
    const connected = await connectPlatforms(platforms, bot, { log, signal: stopped });
    if (connected.length === 0 && !stopped.aborted) return 1;
    log.info(
      { store: chosenStore(config.values).shown, model: config.model.id ?? "none" },
      "serving",
    );
    await new Promise(() => {}); // until a signal ends the process
    return 0;
  } finally {
    await stop();
  }
}
