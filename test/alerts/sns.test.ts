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
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf321",
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
  const confirmed: string[] = [];
  const clock = { now: NOW };
  const { signed: signedBy } = createSns({
    topics: [TOPIC],
    get: async (url) => {
      asked.push(url.href);
      return get(url);
    },
    now: () => clock.now,
    confirmed: (topic) => confirmed.push(topic),
  });
  return { signedBy, asked, confirmed, clock };
}

test("a signed message of a topic that is named is taken, and the certificate is asked for once", async () => {
  const { signedBy, asked } = stage();
  const at = Date.parse("2026-11-20T09:59:00.000Z");
  const found = await Promise.all([signedBy(signed()), signedBy(signed({ Subject: "Alarm" }))]);
  expect(found).toEqual([{ at }, { at }]);
  expect(await signedBy(signed({ MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf322" }))).toEqual({
    at,
  });
  expect(asked).toEqual([`${SERVICE}/SimpleNotificationService-1.pem`]);
});

test.each([
  ["another topic's", signed({ TopicArn: `${TOPIC}-of-others` }), 0],
  ["one that was changed", signed({}, { Message: "all is well" }), 1],
  ["one without a time", signed({ Timestamp: "lately" }), 0],
  [
    "one whose lines are cut elsewhere",
    signed({ MessageId: "x1\nTimestamp\n2099-01-01 00:00:00Z (" }),
    0,
  ],
  ["one with a title of two lines", signed({ Subject: "a\nTimestamp" }), 0],
  ["none at all", { headers: {}, body: "[]", query: new URLSearchParams() }, 0],
  ...[
    "https://evil.test/SimpleNotificationService-1.pem",
    "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
    "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem",
    "https://sns.eu-west-1.amazonaws.com.evil.test/SimpleNotificationService-1.pem",
    "https://evil.test/sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
    "https://sns.eu-west-1.amazonaws.com@evil.test/SimpleNotificationService-1.pem",
    "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem?again=1",
    "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem#1",
    "https://sns.eu-west-1.amazonaws.com/x/../SimpleNotificationService-1.pem",
    "https://sns.eu-west-1.amazonaws.com/?Action=Subscribe",
  ].map(
    (address) =>
      [`one with a certificate at ${address}`, signed({ SigningCertURL: address }), 0] as const,
  ),
] as const)("%s is not, and no more is fetched than needed", async (_, request, fetched) => {
  const { signedBy, asked } = stage();
  expect(await signedBy(request)).toBeUndefined();
  expect(asked).toHaveLength(fetched);
});

const certificate = (name: string) => `${SERVICE}/SimpleNotificationService-${name}.pem`;
const away = async () => Promise.reject(new BotError("CONNECTION_FAILED", "away"));

test("a certificate that cannot be had is asked for again after a minute", async () => {
  const answers = [away, async () => pem("valid")];
  const { signedBy, asked, clock } = stage(async () => (await answers.shift()?.()) ?? "");
  await expect(signedBy(signed())).rejects.toThrow("away");
  await expect(signedBy(signed())).rejects.toThrow("gave no certificate a moment ago");
  expect(asked).toHaveLength(1);
  clock.now += 60_000;
  expect(await signedBy(signed())).toBeDefined();
});

test("a flood of certificates that do not exist is bounded, and forgets none that has proved a message", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { signedBy, asked } = stage(async ({ pathname }) => {
    if (pathname.includes("-1.pem")) return pem("valid");
    await promise;
    return away();
  });
  expect(await signedBy(signed())).toBeDefined();
  const forged = (name: string) => signed({ SigningCertURL: certificate(name) });
  const flood = Array.from({ length: 300 }, async (_, i) =>
    signedBy(forged(`f${i}`)).catch(() => "busy"),
  );
  expect(asked).toHaveLength(5);
  expect(
    await signedBy(signed({ MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf322" })),
  ).toBeDefined();
  resolve();
  expect(new Set(await Promise.all(flood))).toEqual(new Set(["busy"]));
  for (let i = 0; i < 300; i += 1) await signedBy(forged(`g${i}`)).catch(() => "away");
  const before = asked.length;
  expect(
    await signedBy(signed({ MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf323" })),
  ).toBeDefined();
  expect(asked).toHaveLength(before);
});

test("certificates that are there and prove nothing push out none that has proved a message", async () => {
  const { signedBy, asked } = stage();
  expect(await signedBy(signed())).toBeDefined();
  for (let i = 2; i < 60; i += 1)
    expect(
      await signedBy(signed({ SigningCertURL: certificate(`${i}`) }, { Message: "forged" })),
    ).toBeUndefined();
  const before = asked.length;
  expect(
    await signedBy(signed({ MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf322" })),
  ).toBeDefined();
  expect(asked).toHaveLength(before);
});

test("an expired certificate proves nothing", async () => {
  expect(await stage(async () => pem("expired")).signedBy(signed())).toBeUndefined();
});

const SUBSCRIBE = { Type: "SubscriptionConfirmation", Token: "t&u", Message: "You have chosen …" };

test("a subscription is confirmed once for a topic that is named, at its own region's address whatever the message says", async () => {
  const { signedBy, asked, confirmed } = stage();
  for (const SubscribeURL of [
    `${SERVICE}/?Action=ConfirmSubscription&Token=t`,
    "https://evil.test/?Token=t",
    `${SERVICE}/?Action=Unsubscribe&SubscriptionArn=x`,
  ]) {
    const found = await signedBy(signed({ ...SUBSCRIBE, SubscribeURL }));
    await Promise.all([found?.settle?.(), found?.settle?.()]);
  }
  expect(asked.slice(1)).toEqual([
    `${SERVICE}/?Action=ConfirmSubscription&TopicArn=${encodeURIComponent(TOPIC)}&Token=t%26u`,
  ]);
  expect(confirmed).toEqual([TOPIC]);
  expect(await signedBy(signed(SUBSCRIBE, { Token: "x" }))).toBeUndefined();
  expect((await signedBy(signed()))?.settle).toBeUndefined();
});

test("a confirmation that Amazon did not answer is tried again", async () => {
  let isAway = true;
  const { signedBy, confirmed } = stage(async ({ search }) =>
    isAway && search !== "" ? away() : pem("valid"),
  );
  const found = await signedBy(signed(SUBSCRIBE));
  await expect(found?.settle?.()).rejects.toThrow("away");
  isAway = false;
  await found?.settle?.();
  expect(confirmed).toEqual([TOPIC]);
});
