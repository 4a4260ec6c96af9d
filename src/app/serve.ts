import type { Config } from "../config/config.ts";
import { whyChanging } from "../core/host-name.ts";
import { chosenStore } from "../journal/stores.ts";
import { loadAgents } from "./mcp-agents.ts";
import { assemble } from "./assemble.ts";
import { type HttpServer, startHttpServer } from "./http.ts";
import { connectPlatforms, loadPlatforms } from "./platforms.ts";
import { createLogger, stopOnSignal } from "./process.ts";
import { isThanks } from "../thread/tone.ts";
import { createVault, openSecrets } from "./secrets.ts";

/** Where HTTP is served when only this machine's agents need it. */
const LOOPBACK = "127.0.0.1";

/**
 * Serves every configured platform, and agents over HTTP where they are turned on, until it is told to stop. Returns only when
 * there was neither: then with what was wrong on stderr.
 */
export async function serve(config: Config): Promise<number> {
  const log = createLogger(config);
  const store = chosenStore(config.values);
  for (const text of [await store.whyLost?.(), whyChanging(config.host)])
    if (text !== undefined) log.warn(text);
  const bot = await assemble(config, log, { local: false });
  let http: HttpServer | undefined;
  let agents: Awaited<ReturnType<typeof loadAgents>>;
  const stop = async () => {
    await bot.stop();
    await agents?.stop();
    await http?.stop();
  };
  const stopped = stopOnSignal({ stop });
  try {
    const platforms = await loadPlatforms(config, log);
    agents = await loadAgents(config, bot, platforms, log);
    const events = platforms.flatMap((platform) => platform.routes ?? []);
    const routes = [...events, ...bot.metricsRoutes, ...(await bot.alertRoutes())];
    const isPublic = routes.length > 0 || (config.isPortSet && platforms.length > 0);
    const host = config.listenHost ?? (isPublic ? undefined : LOOPBACK);
    if (isPublic || agents !== undefined) {
      const all = [bot.healthRoute, ...routes, ...(agents?.routes ?? [])];
      http = await startHttpServer({ routes: all, port: config.port, host, log });
    }
    bot.start(...platforms, ...(agents === undefined ? [] : [agents.adapter]));
    const vault = createVault(openSecrets(config, bot.journal), bot.journal);
    const connected = await connectPlatforms(
      platforms,
      { ...bot, vault, isThanks },
      { log, signal: stopped },
    );
    if (connected.length === 0 && agents === undefined && !stopped.aborted) return 1;
    log.info({ store: store.shown, model: config.model.id ?? "none" }, "serving");
    await new Promise(() => {}); // until a signal ends the process
    return 0;
  } finally {
    await stop();
  }
}
