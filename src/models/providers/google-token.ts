import { createSign } from "node:crypto";
import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { tryJson } from "../../core/json.ts";
import { readSmallFile } from "../../core/small-file.ts";
import type { Fetch } from "../fetch-guard.ts";
import { ModelError } from "../model.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const LIFE_S = 3_600;
/** A token that ends while a request is on its way is no use. */
const EARLY_MS = 120_000;

const accountKey = z.object({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  token_uri: z.url({ protocol: /^https?$/ }).default("https://oauth2.googleapis.com/token"),
});
const granted = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/**
 * What lets requests into Google's cloud: a token for a service account's key (RFC 7523), kept until shortly before it ends. Google's own library
 * would ask the machine's metadata service and follow no network rules.
 * @throws BotError CONFIG_INVALID when the file is no such key, ModelError when Google gives no token, and what `send` throws
 */
export function createGoogleToken(keyFile: string, send: Fetch): () => Promise<string> {
  let last: { token: string; until: number } | undefined;
  return async function token() {
    if (last !== undefined && Date.now() < last.until) return last.token;
    const key = readKey(keyFile);
    const body = new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: assertionOf(key),
    }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await send(key.token_uri, { method: "POST", headers, body });
    const { data } = granted.safeParse(tryJson(await response.text()));
    if (data === undefined) throw refusal(response.status);
    const { access_token, expires_in } = data;
    last = { token: access_token, until: Date.now() + expires_in * 1_000 - EARLY_MS };
    return access_token;
  };
}

function refusal(status: number): ModelError {
  const text = `Google gave no token for the service account's key (HTTP ${status}).`;
  return status >= 500
    ? new ModelError("MODEL_OVERLOADED", `${text} Ask again in a few minutes.`)
    : new ModelError("MODEL_AUTH", `${text} Check GOOGLE_APPLICATION_CREDENTIALS.`);
}

function readKey(path: string): z.infer<typeof accountKey> {
  const expected =
    "GOOGLE_APPLICATION_CREDENTIALS: expected the JSON file of a service account's key";
  try {
    return accountKey.parse(tryJson(readSmallFile(path)));
  } catch (cause) {
    throw new BotError("CONFIG_INVALID", `${expected} at this path.`, { cause });
  }
}

function assertionOf({ client_email, private_key, token_uri }: z.infer<typeof accountKey>): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: client_email,
    scope: SCOPE,
    aud: token_uri,
    iat: now,
    exp: now + LIFE_S,
  };
  const parts = [{ alg: "RS256", typ: "JWT" }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const signed = parts.join(".");
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(private_key, "base64url")}`;
}
