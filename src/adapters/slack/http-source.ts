import { verifySlackRequest } from "@slack/bolt";
import type { Logger } from "pino";
import { atMost } from "../../core/time-limit.ts";
import { isBotError, messageOf } from "../../core/errors.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../../core/http-route.ts";
import { createQuietLog } from "../shared/quiet-log.ts";
import { type EventSource, STOP_MS, type Take } from "./receiver.ts";

export interface HttpSource extends EventSource {
  /** Where Slack sends events. Answers 503 until the source is started. */
  route: HttpRoute;
}

const PATH = "/slack/events";

/** How far a request's time may be from ours, either way (docs.slack.dev, "Verifying requests from Slack"). */
const MAX_SKEW_S = 300;

/**
 * Events over HTTP. A request is answered once its event is taken; 500 makes Slack send it again. A request that Slack did not
 * sign within five minutes of now gets 401; without the headers of a signature its body is not even read.
 */
export function createHttpSource({
  signingSecret,
  log,
}: {
  signingSecret: string;
  log: Logger;
}): HttpSource {
  const quietly = createQuietLog(log);
  const atWork = new Set<Promise<HttpReply>>();
  let take: Take | undefined;

  function refused(status: number, why: string): HttpReply {
    quietly(
      `A request was refused: ${why}. If it was Slack's, compare SLACK_SIGNING_SECRET and this machine's clock`,
      "http",
    );
    return { status };
  }

  async function answer(taking: Take, { headers, body }: HttpRequest): Promise<HttpReply> {
    try {
      verifySlackRequest({ signingSecret, body, headers: signatureIn(headers) });
    } catch (error) {
      return refused(401, messageOf(error));
    }
    let sent: unknown;
    try {
      sent = parseBody(body, String(headers["content-type"] ?? ""));
    } catch (error) {
      return refused(400, `its body cannot be read: ${messageOf(error)}`);
    }
    try {
      return { status: 200, json: await taking(sent) };
    } catch (error) {
      // Whoever took it has logged it.
      if (!isBotError(error)) quietly("a request could not be answered", "http", error);
      return { status: 500 };
    }
  }

  return {
    route: {
      method: "POST",
      path: PATH,
      refuse(headers) {
        if (take === undefined) return { status: 503 };
        const why = whyUnsigned(headers);
        return why === undefined ? undefined : refused(401, why);
      },
      async handle(request) {
        if (take === undefined) return { status: 503 };
        const reply = answer(take, request);
        atWork.add(reply);
        return reply.finally(() => atWork.delete(reply));
      },
      onCut: (why) => void refused(400, why),
    },
    async start(taking) {
      take = taking;
    },
    async stop() {
      take = undefined;
      await atMost(STOP_MS, Promise.allSettled(atWork), () => {});
    },
    isUp: () => take !== undefined,
    describe: () => `Slack sends events by HTTP to PORT, path ${PATH}.`,
    app: () => undefined,
  };
}

function signatureIn(headers: HttpRequest["headers"]) {
  return {
    "x-slack-signature": String(headers["x-slack-signature"] ?? ""),
    "x-slack-request-timestamp": Number(headers["x-slack-request-timestamp"] ?? NaN),
  };
}

/** Why the headers are not those of a request that Slack has just signed, or undefined. */
function whyUnsigned(headers: HttpRequest["headers"]): string | undefined {
  const signature = headers["x-slack-signature"];
  const timestamp = headers["x-slack-request-timestamp"];
  const isTime = typeof timestamp === "string" && /^\d+$/.test(timestamp);
  if (typeof signature !== "string" || !isTime) return "it is not signed";
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > MAX_SKEW_S) {
    return "its time differs from this machine's by more than five minutes";
  }
  return undefined;
}

/** Events are JSON; what people press is a form's `payload`, what they type as a command the form itself. */
function parseBody(body: string, type: string): unknown {
  if (!type.startsWith("application/x-www-form-urlencoded")) return JSON.parse(body);
  const form = new URLSearchParams(body);
  const payload = form.get("payload");
  return payload === null ? Object.fromEntries(form) : JSON.parse(payload);
}
