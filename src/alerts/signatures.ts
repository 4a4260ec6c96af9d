import { createHmac, timingSafeEqual, verify, X509Certificate } from "node:crypto";
import type { HttpRequest } from "../core/http-route.ts";
import type { SnsMessage } from "./sns-message.ts";

/** Whether a system itself signed what came in its name. */

/** https://developer.pagerduty.com/docs/verifying-webhook-signatures: one for each secret that is in use. */
export function isPagerDutys({ headers, body }: HttpRequest, secret: string): boolean {
  const given = String(headers["x-pagerduty-signature"] ?? "").split(",");
  return given.some((each) => isSame(each.trim(), `v1=${hmac(secret, body)}`));
}

/** https://docs.sentry.io/organization/integrations/integration-platform/webhooks/#verifying-the-signature */
export function isSentrys({ headers, body }: HttpRequest, secret: string): boolean {
  return isSame(String(headers["sentry-hook-signature"] ?? ""), hmac(secret, body));
}

/** Where Amazon keeps the certificates of its notification service. */
const CERTIFICATE = /^https:\/\/(sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?)\/[\w-]+\.pem$/;

/** The host of the certificate that a message names; undefined where it is not Amazon's. */
export function certificateHost(address: string): string | undefined {
  return CERTIFICATE.exec(address)?.[1];
}

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
