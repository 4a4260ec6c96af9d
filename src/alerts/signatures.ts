import { createHmac, timingSafeEqual, verify, X509Certificate } from "node:crypto";
import * as z from "zod";
import type { HttpRequest } from "../core/http-route.ts";
import { tryJson } from "../core/json.ts";
import { isoTime } from "./alert.ts";
import type { SnsMessage } from "./sns-message.ts";

/** Whether a system itself signed what came in its name, and when. */

/** What a request's own signature shows. */
export interface Signed {
  /** When its system says that it happened or was sent, ms since 1970; undefined: it does not say. */
  readonly at: number | undefined;
  /** Does what it asks for besides, such as that a subscription be confirmed. @throws BotError when that cannot be done now */
  settle?(): Promise<void>;
}

/** https://developer.pagerduty.com/docs/verifying-webhook-signatures: one for each secret that is in use. */
export function pagerDutySigned(
  { headers, body }: HttpRequest,
  secret: string,
): Signed | undefined {
  const given = String(headers["x-pagerduty-signature"] ?? "").split(",", MAX_SECRETS);
  const right = `v1=${hmac(secret, body)}`;
  if (!given.some((each) => isSame(each.trim(), right))) return undefined;
  const { data } = pagerDutyTime.safeParse(tryJson(body));
  return { at: data?.event.occurred_at };
}

/**
 * https://docs.sentry.io/organization/integrations/integration-platform/webhooks/#verifying-the-signature. Sentry signs the body
 * alone: its header's time tells an old request only where nobody changed it, an event's own time always.
 */
export function sentrySigned({ headers, body }: HttpRequest, secret: string): Signed | undefined {
  if (!isSame(String(headers["sentry-hook-signature"] ?? ""), hmac(secret, body))) return undefined;
  const said = Number(headers["sentry-hook-timestamp"] ?? Number.NaN);
  const { data } = sentryTime.safeParse(tryJson(body));
  const times = [said, data?.data.event.received ?? Number.NaN].filter((each) => each > 0);
  return { at: times.length === 0 ? undefined : Math.min(...times) * 1_000 };
}

/** PagerDuty sends one for each secret, and two while a secret is replaced. */
const MAX_SECRETS = 10;

const pagerDutyTime = z.object({ event: z.object({ occurred_at: isoTime }) });
/** Seconds since 1970, by Sentry's own clock. */
const sentryTime = z.object({ data: z.object({ event: z.object({ received: z.number() }) }) });

const SIGNED = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: [
    "Message",
    "MessageId",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
  ],
  UnsubscribeConfirmation: [
    "Message",
    "MessageId",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
  ],
} as const;

/**
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html. `certificate`: PEM, from the address that the
 * message names. `now`: ms since 1970.
 */
export function isAmazons(message: SnsMessage, certificate: string, now: number): boolean {
  const text = SIGNED[message.Type]
    .flatMap((name) => (message[name] == null ? [] : [`${name}\n${message[name]}\n`]))
    .join("");
  const digest = message.SignatureVersion === "1" ? "sha1" : "sha256";
  try {
    const { publicKey, validFromDate, validToDate } = new X509Certificate(certificate);
    if (now < validFromDate.getTime() || now > validToDate.getTime()) return false;
    const signature = Buffer.from(message.Signature, "base64");
    return verify(digest, Buffer.from(text), publicKey, signature);
  } catch {
    return false;
  }
}

function hmac(secret: string, body: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** Takes as long for any text of the right length. */
function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
