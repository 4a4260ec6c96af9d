import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  App,
  HTTPReceiver,
  SocketModeReceiver,
  webApi,
  type Logger,
  type types,
} from "@slack/bolt";
import { onTestFinished } from "vitest";
import { bodyOf } from "./requests.ts";
import { FakeSlack, type FakeChannel, type FakeSlackOptions, type FakeUser } from "./slack.ts";

const silent: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => webApi.LogLevel.ERROR,
  setName: () => {},
};

interface Scene {
  slack: FakeSlack;
  ana: FakeUser;
  /** A public channel with Ana and the bot. */
  ops: FakeChannel;
  /** With the bot's token; repeats nothing by itself. */
  client: webApi.WebClient;
}

function clientOptions(slack: FakeSlack): webApi.WebClientOptions {
  const retryConfig = { retries: 0 };
  return { slackApiUrl: slack.apiUrl, retryConfig, logger: silent, rejectRateLimitedCalls: true };
}

/** A workspace of the running test, gone with it. */
export async function scene(options: FakeSlackOptions = {}): Promise<Scene> {
  const slack = await FakeSlack.start(options);
  onTestFinished(() => slack.stop());
  const ana = slack.addUser({ name: "ana", tz: "Europe/Madrid" });
  const ops = slack.addChannel({ name: "ops", members: [ana] });
  return { slack, ana, ops, client: clientFor(slack, slack.botToken) };
}

export function clientFor(slack: FakeSlack, token: string | undefined): webApi.WebClient {
  return new webApi.WebClient(token, clientOptions(slack));
}

/** A receiver that connects anew after this long; 5 s is its own default. */
export async function socketReceiver(
  slack: FakeSlack,
  anewMs = 5_000,
): Promise<SocketModeReceiver> {
  const receiver = new SocketModeReceiver({
    appToken: slack.appToken,
    logger: silent,
    clientPingTimeout: anewMs,
    installerOptions: { clientOptions: clientOptions(slack) },
  });
  onTestFinished(() => receiver.client.disconnect());
  return receiver;
}

export async function socketApp(slack: FakeSlack, anewMs?: number): Promise<App> {
  const receiver = await socketReceiver(slack, anewMs);
  const token = slack.botToken;
  const app = new App({ token, receiver, logger: silent, clientOptions: clientOptions(slack) });
  await app.start();
  return app;
}

/** An app that acknowledges over HTTP only what its listeners have done. */
export async function httpApp(slack: FakeSlack): Promise<{ app: App; url: string }> {
  const receiver = new HTTPReceiver({
    signingSecret: slack.signingSecret,
    processBeforeResponse: true,
    logger: silent,
  });
  const token = slack.botToken;
  const app = new App({ token, receiver, logger: silent, clientOptions: clientOptions(slack) });
  app.error(async (problem) => {
    throw problem;
  });
  const server = await receiver.start(0);
  onTestFinished(() => receiver.stop());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { app, url: `http://127.0.0.1:${port}/slack/events` };
}

/** A server that is no app of bolt's. */
export async function answering(
  answer: (body: string) => { status: number; headers: Record<string, string>; body: string },
): Promise<{ url: string }> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, headers, body } = answer((await bodyOf(request)).toString());
    response.writeHead(status, headers);
    response.end(body);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/` };
}

export const BUTTON = {
  type: "button",
  action_id: "approve:a1",
  value: "a1",
  text: { type: "plain_text", text: "Approve" },
} as const;

export const WHY: types.ModalView & { callback_id: string } = {
  type: "modal",
  callback_id: "deny:a1",
  title: { type: "plain_text", text: "Deny" },
  submit: { type: "plain_text", text: "Send" },
  blocks: [
    {
      type: "input",
      block_id: "why",
      label: { type: "plain_text", text: "Why" },
      element: { type: "plain_text_input", action_id: "text", max_length: 20 },
    },
  ],
};

export const section = (text: string) =>
  ({ type: "section", text: { type: "mrkdwn", text } }) as const;

export const rich = (...elements: unknown[]) => ({
  type: "rich_text",
  elements: [{ type: "rich_text_section", elements }],
});

/** Posts as the bot and returns the message's ts. */
export async function post(
  client: webApi.WebClient,
  args: Record<string, unknown>,
): Promise<string> {
  const posted: unknown = await client.apiCall("chat.postMessage", args);
  return (posted as { ts: string }).ts;
}

/** A form with one field, which does not take `no`, behind the button. */
export function askWhy(app: App): void {
  app.action(BUTTON.action_id, async ({ ack, body, client }) => {
    await ack();
    if (body.type === "block_actions") {
      await client.views.open({ trigger_id: body.trigger_id, view: WHY });
    }
  });
  app.view(WHY.callback_id, async ({ ack, view }) => {
    const said = view.state.values["why"]?.["text"]?.value;
    if (said === "no") await ack({ response_action: "errors", errors: { why: "Say more." } });
    else await ack();
  });
}

/** The error code of a call that Slack refuses, or how it failed. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (problem) {
    if (problem instanceof webApi.WebAPIPlatformError) return problem.data.error;
    return problem instanceof Error ? problem.constructor.name : String(problem);
  }
  return "it was not refused";
}
