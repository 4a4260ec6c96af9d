import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FakeSlack } from "../test/fakes/slack/slack.ts";
import { readRecording } from "./recording.ts";
import { startRecordedModel } from "./recorded-model.ts";
import { startShop } from "./shop.ts";

/**
 * `npm run picture`: plays the demo's conversation on a fake Slack and keeps what the program posted there, from which
 * `npm run docs` draws the readme's picture.
 */

const beside = (name: string) => join(import.meta.dirname, name);
const PATIENCE_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), "watchkeeper-picture-"));
const log = join(folder, "shop.log");
const shop = await startShop(log);
const recording = readFileSync(beside("recording.json"), "utf8");
const model = await startRecordedModel(readRecording(recording, { shop: shop.url, log }), {
  wordMs: 0,
});
mkdirSync(join(folder, "packs"));
copyFileSync(beside("shop.yaml"), join(folder, "packs/shop.yaml"));
const settings = `logs: { roots: [${JSON.stringify(folder)}] }\nnetwork: { allow: [127.0.0.1] }\n`;
writeFileSync(join(folder, "watchkeeper.yaml"), settings);

const slack = await FakeSlack.start();
const ana = slack.addUser({ name: "Ana" });
const bob = slack.addUser({ name: "Bob" });
const ops = slack.addChannel({ name: "ops", members: [ana, bob] });
const program = spawn(process.execPath, [beside("../src/main.ts")], {
  cwd: folder,
  stdio: ["ignore", "ignore", "inherit"],
  env: {
    // oxlint-disable-next-line node/no-process-env -- the program finds its tools there
    PATH: process.env["PATH"],
    DATA_DIR: join(folder, "data"),
    PACKS_DIR: join(folder, "packs"),
    SHOP_URL: shop.url,
    MODEL: "openai-compatible/recorded",
    OPENAI_BASE_URL: model.url,
    WATCHKEEPER_HOST: "shop-1",
    LOG_LEVEL: "error",
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
  },
});

async function until<T>(look: () => T | undefined): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(100)) {
    const found = look();
    if (found !== undefined) return found;
  }
  throw new Error(`It took too long. ${model.problems.join(" ")}`);
}

try {
  await until(() => slack.connections || undefined);
  const question = `why does the checkout fail? <${shop.url}/checkout>`;
  const root = slack.say(ana, ops, question, { mention: true });
  const posted = () => slack.messages(ops, root);
  const button = (message: ReturnType<typeof posted>[number]) =>
    slack.buttonsOf(message).find(({ actionId }) => actionId.startsWith("wk:approve"));
  const card = await until(() => posted().find((message) => button(message) !== undefined));
  const open = structuredClone(card.blocks);
  await slack.press(bob, ops, card.ts, button(card)?.actionId ?? "");
  const answer = await until(() => posted().find(({ text }) => text.includes("four again")));
  const messages = [
    { name: "Ana", blocks: posted()[0]?.blocks },
    { name: "watchkeeper", bot: true, blocks: open },
    { name: "watchkeeper", bot: true, blocks: answer.blocks },
  ];
  const about = "What the program posted to Slack in the demo's conversation (`npm run picture`).";
  const json = JSON.stringify({ about, messages }, null, 2)
    .replaceAll(shop.url, "https://shop.example")
    .replaceAll(folder, "/var/log");
  writeFileSync(beside("../docs/pictures/slack-thread.json"), `${json}\n`);
} finally {
  program.kill("SIGTERM");
  await new Promise((resolve) => program.on("close", resolve));
  await Promise.all([slack.stop(), shop.stop(), model.stop()]);
  rmSync(folder, { recursive: true, force: true });
}
