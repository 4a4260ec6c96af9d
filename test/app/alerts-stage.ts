import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { assemble } from "../../src/app/assemble.ts";
import { startHttpServer } from "../../src/app/http.ts";
import { connectPlatforms, loadPlatforms } from "../../src/app/platforms.ts";
import { loadConfig } from "../../src/config/config.ts";
import { isThanks } from "../../src/thread/tone.ts";

export const TOKEN = "0123456789abcdef";
export const log = pino({ level: "silent" });

/**
 * The whole program but for its process, on a folder of its own, with a route of all alerts into the channel and one server for all
 * that comes by HTTP. `alerts`: more of that section's yaml.
 */
export async function alertsStage(
  { env: chat, channel }: { env: Record<string, string>; channel: string },
  alerts = "",
) {
  const folder = await mkdtemp(join(tmpdir(), "wk-alerts-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const yaml = `alerts:\n  routes: [{ channel: "${channel}" }]\n${alerts}`;
  await writeFile(join(folder, "watchkeeper.yaml"), yaml, { mode: 0o600 });
  const env = { ...chat, DATA_DIR: join(folder, "data"), ALERTS_TOKEN: TOKEN };
  const config = await loadConfig(env, { cwd: folder });

  async function start() {
    const bot = await assemble(config, log, { local: false });
    const platforms = await loadPlatforms(config, log);
    const routes = [
      ...platforms.flatMap((platform) => platform.routes ?? []),
      ...(await bot.alertRoutes()),
    ];
    const server = await startHttpServer({ routes, port: 0, host: "127.0.0.1", log });
    bot.start(...platforms);
    const { signal } = new AbortController();
    await connectPlatforms(platforms, { ...bot, isThanks }, { log, signal });
    onTestFinished(() => bot.stop().then(() => server.stop()));
    return { bot, at: (path: string) => `http://127.0.0.1:${server.port}${path}` };
  }
  return { start, config };
}

export async function sendTo(url: string, body: string, headers: Record<string, string>) {
  const sent = { "content-type": "application/json", ...headers };
  const reply = await fetch(url, { method: "POST", headers: sent, body });
  return { status: reply.status, text: await reply.text() };
}
