import { isBotError } from "../core/errors.ts";
import type { HttpRequest } from "../core/http-route.ts";
import { tryJson } from "../core/json.ts";
import { certificateHost, isAmazons } from "./signatures.ts";
import { type SnsMessage, snsMessage } from "./sns-message.ts";

interface SnsParts {
  /** The ARNs whose messages are taken. */
  topics: readonly string[];
  /** What stands at an address. @throws BotError when it cannot be had */
  get(url: URL): Promise<string>;
  /** Ms since 1970. */
  now(): number;
}

/** Amazon changes it about once a year. */
const KEPT_MS = 24 * 3_600_000;
/** There is one for each region. */
const MAX_KEPT = 40;
/** What is older was taken down by somebody and sent again. Amazon tries for an hour. */
const MAX_AGE_MS = 3 * 3_600_000;

/** What only Amazon's notification service needs: the certificate that a message names, and its subscriptions confirmed. */
export function createSns({ topics, get, now }: SnsParts) {
  const kept = new Map<string, { text: Promise<string>; until: number }>();

  async function certificateAt(address: string): Promise<string> {
    const known = kept.get(address);
    if (known !== undefined && known.until > now()) return known.text;
    if (kept.size >= MAX_KEPT) kept.clear();
    const text = get(new URL(address));
    kept.set(address, { text, until: now() + KEPT_MS });
    // What failed is asked for again.
    text.catch(() => kept.delete(address));
    return text;
  }

  async function signedIn({ body }: HttpRequest): Promise<SnsMessage | undefined> {
    const { data: message } = snsMessage.safeParse(tryJson(body));
    if (message === undefined || !topics.includes(message.TopicArn)) return undefined;
    const age = now() - Date.parse(message.Timestamp);
    if (Number.isNaN(age) || age > MAX_AGE_MS) return undefined;
    if (certificateHost(message.SigningCertURL) === undefined) return undefined;
    const certificate = await certificateAt(message.SigningCertURL);
    return isAmazons(message, certificate, now()) ? message : undefined;
  }

  return {
    /** Amazon signed it, for one of the topics. @throws BotError while the certificate cannot be had */
    isSigned: async (request: HttpRequest) => (await signedIn(request)) !== undefined,

    /** Confirms the subscription of a topic, where that is what a signed message asks for. @throws BotError when Amazon does not answer */
    async confirm(request: HttpRequest): Promise<"confirmed" | undefined> {
      const message = await signedIn(request).catch((error: unknown) => {
        if (isBotError(error)) return undefined;
        throw error;
      });
      const { Type, SubscribeURL = "" } = message ?? {};
      const url = URL.parse(SubscribeURL);
      if (Type !== "SubscriptionConfirmation" || url === null || !isAmazonsService(url))
        return undefined;
      await get(url);
      return "confirmed";
    },
  };
}

function isAmazonsService({ protocol, hostname, port, username }: URL): boolean {
  const isTheirs = /^sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/.test(hostname);
  return protocol === "https:" && isTheirs && port === "" && username === "";
}
