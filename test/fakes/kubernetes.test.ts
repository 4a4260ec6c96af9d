import { readFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  comparable,
  type Exchange,
  EXCHANGES,
  type Recorded,
  SEEDS,
} from "./kubernetes/exchanges.ts";
import { type FakeKubernetes, startKubernetes } from "./kubernetes/server.ts";

/** The fake API server, beside what a real one answered. */

const recorded: Recorded[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "kubernetes/recorded.json"), "utf8"),
);

let fake: FakeKubernetes;
beforeAll(async () => {
  const tokens = { "token-of-admin": "admin", "token-of-reader": "reader" };
  fake = await startKubernetes({ old: true, tokens });
  for (const { body } of SEEDS) fake.add(body);
});
afterAll(() => fake.close());

async function ask({
  about,
  as = "admin",
  method = "GET",
  path,
  headers = {},
  body,
}: Exchange): Promise<Recorded> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const length = sent === undefined ? {} : { "content-length": Buffer.byteLength(sent) };
  const authorization = `Bearer token-of-${as}`;
  return new Promise((resolve, reject) => {
    const options = { method, agent: false, headers: { authorization, ...length, ...headers } };
    const request = http.request(`${fake.origin}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const contentType = response.headers["content-type"] ?? "";
        const text = Buffer.concat(chunks).toString();
        const answer = contentType === "application/json" ? JSON.parse(text) : text;
        resolve({ about, status: response.statusCode ?? 0, contentType, body: comparable(answer) });
      });
    });
    request.on("error", reject);
    request.end(sent);
  });
}

/** Requests follow from one another, so they are made in their order. */
test("the fake answers every recorded request as the real API server did", async () => {
  for (const [index, exchange] of EXCHANGES.entries()) {
    expect(await ask(exchange), exchange.about).toEqual(recorded[index]);
  }
  expect(recorded.map(({ about }) => about)).toEqual(EXCHANGES.map(({ about }) => about));
});
