import { createHmac } from "node:crypto";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { afterOwnTime } from "../own-time.ts";
import type { Attempt, Transport } from "./delivery.ts";
import { bodyOf } from "./requests.ts";
import type { Settings } from "./world.ts";

/** Slack's signature over the raw body (https://docs.slack.dev/authentication/verifying-requests-from-slack). */
export function sign(body: string, secret: string, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const hash = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${hash}` };
}

const AGENT = "Slackbot 1.0 (+https://api.slack.com/robots)";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** On a connection of its own, so that nothing is left open at an app that stops. */
async function post(
  url: string,
  secret: string,
  body: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const signed = { "user-agent": AGENT, ...headers, ...sign(body, secret, Date.now()) };
  const outgoing = request(url, { method: "POST", agent: false, headers: signed, signal }, resolve);
  outgoing.on("error", reject);
  outgoing.end(body);
  const response = await promise;
  const text = (await bodyOf(response)).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, body: text };
}

/** @throws when the address does not give back the challenge */
export async function verifyUrl(url: string, secret: string): Promise<void> {
  const body = JSON.stringify({
    token: "verification",
    challenge: "3eZbrw1a",
    type: "url_verification",
  });
  const headers = { "content-type": "application/json" };
  const response = await post(url, secret, body, headers, AbortSignal.timeout(3_000));
  const { status, body: answer } = response;
  if (status === 200 && answer.includes("3eZbrw1a")) return;
  throw new Error(`${url} answered url_verification with ${status} ${answer.slice(0, 80)}`);
}

function parsed({ headers, body }: Answer): unknown {
  if (body === "") return undefined;
  return headers["content-type"]?.includes("json") === true ? JSON.parse(body) : body;
}

function flat(body: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
}

/** Events as JSON, interactions as a form's `payload`, commands as a form; anything but 2xx within the deadline is a failure. */
export function createHttpTransport(url: string, secret: string, settings: Settings): Transport {
  return {
    async carry(parcel, retry, stopped): Promise<Attempt> {
      const json = JSON.stringify(parcel.body);
      const isEvent = parcel.kind === "event";
      const late = new AbortController();
      const callOff = afterOwnTime(settings.ackWithinMs, () => late.abort());
      const headers: Record<string, string> = {
        "content-type": isEvent ? "application/json" : "application/x-www-form-urlencoded",
      };
      if (retry !== undefined) {
        headers["x-slack-retry-num"] = String(retry.num);
        headers["x-slack-retry-reason"] = retry.reason;
      }
      const fields = parcel.kind === "command" ? flat(parcel.body) : { payload: json };
      const body = isEvent ? json : new URLSearchParams(fields).toString();
      try {
        const signal = AbortSignal.any([stopped, late.signal]);
        const answer = await post(url, secret, body, headers, signal);
        const isGood = isEvent
          ? answer.status >= 200 && answer.status < 300
          : answer.status === 200;
        if (isGood) return { ok: true, payload: parsed(answer) };
        const final = answer.headers["x-slack-no-retry"] === "1";
        return { ok: false, reason: "http_error", final };
      } catch {
        if (stopped.aborted) return { ok: false, reason: "stopped" };
        return { ok: false, reason: late.signal.aborted ? "http_timeout" : "connection_failed" };
      } finally {
        callOff();
      }
    },
  };
}
