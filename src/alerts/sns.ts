import type { HttpRequest } from "../core/http-route.ts";
import { tryJson } from "../core/json.ts";
import { createCertificates } from "./certificates.ts";
import { isAmazons, type Signed } from "./signatures.ts";
import { type SnsMessage, snsMessage } from "./sns-message.ts";

interface SnsParts {
  /** The ARNs whose messages are taken. */
  topics: readonly string[];
  /** What stands at an address. @throws BotError when it cannot be had */
  get(url: URL): Promise<string>;
  /** Ms since 1970. */
  now(): number;
  /** A subscription of this topic was confirmed. */
  confirmed(topic: string): void;
}

/** Where Amazon keeps a region's certificates. */
const CERTIFICATE = /^\/SimpleNotificationService-[0-9A-Za-z]{1,64}\.pem$/;
/** Subscriptions that are remembered as confirmed. */
const MAX_CONFIRMED = 100;

/**
 * What only Amazon's notification service needs: the certificate that a message names, and its subscriptions confirmed. Nothing is
 * asked of any host but those of the topics' own regions.
 */
export function createSns({ topics, get, now, confirmed }: SnsParts) {
  const hosts = new Map(topics.map((topic) => [topic, hostOf(topic)]));
  const certificates = new Map(
    [...new Set(hosts.values())].map((host) => [host, createCertificates({ get, now })]),
  );
  /** By token, the oldest first: each is confirmed once, also where many ask at the same time. */
  const confirming = new Map<string, Promise<string>>();

  async function isProved(message: SnsMessage, host: string): Promise<boolean> {
    const { SigningCertURL: address } = message;
    const url = URL.parse(address);
    // Amazon writes it like this; any other spelling of the same address would be fetched once more.
    if (url === null || address !== `https://${host}${url.pathname}`) return false;
    const known = CERTIFICATE.test(url.pathname) ? certificates.get(host) : undefined;
    if (known === undefined || !isAmazons(message, await known.at(address), now())) return false;
    known.proved(address);
    return true;
  }

  /** @throws BotError when Amazon does not answer */
  async function confirm({ TopicArn, Token = "" }: SnsMessage, host: string): Promise<void> {
    if (Token === "" || confirming.has(Token)) return void (await confirming.get(Token));
    // Amazon also sends this address; put together here, it asks for nothing else whatever the message says.
    const query = new URLSearchParams({ Action: "ConfirmSubscription", TopicArn, Token });
    const asked = get(new URL(`https://${host}/?${query.toString()}`));
    const [oldest] = confirming.keys();
    if (confirming.size >= MAX_CONFIRMED && oldest !== undefined) confirming.delete(oldest);
    confirming.set(Token, asked);
    try {
      await asked;
    } catch (error) {
      confirming.delete(Token);
      throw error;
    }
    confirmed(TopicArn);
  }

  return {
    /** Undefined unless Amazon signed it for one of the topics. @throws BotError while the certificate cannot be had */
    async signed({ body }: HttpRequest): Promise<Signed | undefined> {
      const { data: message } = snsMessage.safeParse(tryJson(body));
      const host = message && hosts.get(message.TopicArn);
      if (message === undefined || host === undefined) return undefined;
      const at = Date.parse(message.Timestamp);
      if (Number.isNaN(at) || !(await isProved(message, host))) return undefined;
      const asks = message.Type === "SubscriptionConfirmation";
      return { at, ...(asks && { settle: async () => confirm(message, host) }) };
    },
  };
}

/** `arn:aws:sns:eu-west-1:…` is served by `sns.eu-west-1.amazonaws.com`. */
function hostOf(topic: string): string {
  const [, partition, , region] = topic.split(":");
  return `sns.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}`;
}
