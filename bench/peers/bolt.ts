import { App } from "@slack/bolt";

/**
 * The least that a bot on bolt can do: Socket Mode as bolt comes, and one message for each mention. What it answers is lost
 * with the process, twice if an event comes twice. Env: SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_API_URL.
 */
const env = (name: string) => process.env[name] ?? "";
const app = new App({
  token: env("SLACK_BOT_TOKEN"),
  appToken: env("SLACK_APP_TOKEN"),
  socketMode: true,
  clientOptions: { slackApiUrl: env("SLACK_API_URL") },
});
app.event("app_mention", async ({ event, say }) => {
  await say({ thread_ts: event.thread_ts ?? event.ts, text: `Heard ${event.text}` });
});
process.on("SIGTERM", () => process.exit(0));
await app.start();
