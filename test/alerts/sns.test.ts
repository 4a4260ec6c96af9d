import { createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSns } from "../../src/alerts/sns.ts";
import { BotError } from "../../src/core/errors.ts";

const FOLDER = join(import.meta.dirname, "../tools/network/certificates");
const pem = (name: string) => readFileSync(join(FOLDER, `${name}.pem`), "utf8");
const NOW = Date.parse("2026-11-20T10:00:00Z");
const TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms";
const SERVICE = "https://sns.eu-west-1.amazonaws.com";

/** As Amazon builds and signs it. */
function signed(changes: Record<string, string> = {}, after: Record<string, string> = {}) {
  const message: Record<string, string> = {
    Type: "Notification",
    MessageId: "m1",
    TopicArn: TOPIC,
    Message: "disk is full",
    Timestamp: "2026-11-20T09:59:00.000Z",
    SignatureVersion: "2",
    SigningCertURL: `${SERVICE}/SimpleNotificationService-1.pem`,
    ...changes,
  };
  const names =
    message["Type"] === "Notification"
      ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
      : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const text = names
    .flatMap((name) => (message[name] ? `${name}\n${message[name]}\n` : []))
    .join("");
  const Signature = sign("sha256", Buffer.from(text), createPrivateKey(pem("key"))).toString(
    "base64",
  );
  const body = JSON.stringify({ ...message, Signature, ...after });
  return { headers: {}, body, query: new URLSearchParams() };
}

function stage(get = async (_url: URL) => pem("valid")) {
  const asked: string[] = [];
  const sns = createSns({
    topics: [TOPIC],
    get: async (url) => {
      asked.push(url.href);
      return get(url);
    },
    now: () => NOW,
  });
  return { ...sns, asked };
}

test("a signed message of a topic that is named is taken, and the certificate is asked for once", async () => {
  const { isSigned, asked } = stage();
  expect(await isSigned(signed())).toBe(true);
  expect(await isSigned(signed({ Subject: "Alarm" }))).toBe(true);
  expect(asked).toEqual([`${SERVICE}/SimpleNotificationService-1.pem`]);
});

test.each([
  ["another topic's", signed({ TopicArn: `${TOPIC}-of-others` })],
  ["one that was changed", signed({}, { Message: "all is well" })],
  ["an old one", signed({ Timestamp: "2026-11-20T06:00:00.000Z" })],
  ["one with a certificate from elsewhere", signed({ SigningCertURL: "https://evil.test/a.pem" })],
  ["none at all", { headers: {}, body: "[]", query: new URLSearchParams() }],
])("%s is not", async (_, request) => {
  expect(await stage().isSigned(request)).toBe(false);
});

test("a certificate that cannot be had is asked for again", async () => {
  const answers = [
    async () => Promise.reject(new BotError("CONNECTION_FAILED", "away")),
    async () => pem("valid"),
  ];
  const { isSigned } = stage(async () => (await answers.shift()?.()) ?? "");
  await expect(isSigned(signed())).rejects.toThrow("away");
  expect(await isSigned(signed())).toBe(true);
});

test("an expired certificate proves nothing", async () => {
  expect(await stage(async () => pem("expired")).isSigned(signed())).toBe(false);
});

const SUBSCRIBE = { Type: "SubscriptionConfirmation", Token: "t", Message: "You have chosen …" };

test("a subscription is confirmed for a topic that is named, at Amazon alone", async () => {
  const url = `${SERVICE}/?Action=ConfirmSubscription&Token=t`;
  const { confirm, asked } = stage();
  expect(await confirm(signed({ ...SUBSCRIBE, SubscribeURL: url }))).toBe("confirmed");
  expect(asked.at(-1)).toBe(url);
  for (const changes of [
    { SubscribeURL: "https://evil.test/?Token=t" },
    { SubscribeURL: "http://sns.eu-west-1.amazonaws.com/?Token=t" },
    { SubscribeURL: url, TopicArn: `${TOPIC}-of-others` },
  ])
    expect(await confirm(signed({ ...SUBSCRIBE, ...changes }))).toBeUndefined();
  expect(
    await confirm(signed({ ...SUBSCRIBE, SubscribeURL: url }, { Token: "x" })),
  ).toBeUndefined();
  expect(asked).toHaveLength(2);
});
