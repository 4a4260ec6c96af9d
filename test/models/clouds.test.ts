import { createHash, createHmac, createVerify, generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadModel } from "../../src/models/load.ts";
import type { Model } from "../../src/models/model.ts";
import { bedrockEvent, bedrockException } from "../fakes/amazon-events.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server.ts";
import { anthropic, compatible, openai } from "./dialects.ts";
import { failureOf, requestOf, said } from "./harness.ts";

/** Each through its SDK's own class, to a server on this machine. */
const { signal } = new AbortController();
const request = requestOf([said("Is the shop up?")]);
const ANSWER = { text: ["It ", "is."], usage: { input: 12, output: 3, cacheRead: 4 } };
const SAYS = { content: [{ kind: "text", text: "It is." }], usage: { input: 12, output: 3 } };
const STREAM = { "content-type": "application/vnd.amazon.eventstream" };
const once = { attempts: 1 };

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.seen.length = 0;
  server.answer();
});

async function answered(model: Model, pieces: readonly (string | Uint8Array)[], headers = {}) {
  server.answer({ pieces, headers });
  const deltas: unknown[] = [];
  const response = await model.generate(request, { signal, onDelta: (text) => deltas.push(text) });
  expect(response).toMatchObject(SAYS);
  expect(deltas).toEqual(["It ", "is."]);
  const seen = server.seen.at(-1);
  return {
    path: seen?.path,
    headers: seen?.headers ?? {},
    text: seen?.body ?? "",
    body: JSON.parse(seen?.body ?? "") as Record<string, unknown>,
  };
}

async function failed(model: Model, status: number, error: unknown) {
  server.answer({
    status,
    pieces: [JSON.stringify(error)],
    headers: { "content-type": "application/json" },
  });
  return failureOf(model.generate(request, { signal }));
}

describe("Azure OpenAI", () => {
  const values = () => ({
    AZURE_OPENAI_API_KEY: "azure-key-0001",
    AZURE_OPENAI_ENDPOINT: server.url,
  });
  const azure = () => loadModel("azure/on-call", { values: values(), effort: "low" }, once);

  test("gets the deployment, the version and its own header", async () => {
    const { path, headers, body } = await answered(await azure(), openai.events(ANSWER));
    expect(path).toBe("/openai/responses?api-version=2025-04-01-preview");
    expect([headers["api-key"], headers.authorization]).toEqual(["azure-key-0001", undefined]);
    expect(body).toMatchObject({
      model: "on-call",
      stream: true,
      store: false,
      reasoning: { effort: "low" },
    });
  });

  test("that has no such deployment says which settings to check", async () => {
    const error = {
      error: { code: "DeploymentNotFound", message: "The API deployment does not exist." },
    };
    const { code, message } = await failed(await azure(), 404, error);
    expect(code).toBe("MODEL_UNKNOWN");
    expect(message).toContain("AZURE_OPENAI_ENDPOINT");
  });
});

describe("Gemini", () => {
  const gemini = () =>
    loadModel(
      "gemini/gemini-2.5-pro",
      {
        values: { GEMINI_API_KEY: "gemini-key-1", GEMINI_BASE_URL: `${server.url}/v1beta/openai` },
      },
      once,
    );

  test("is asked by its interface for Chat Completions", async () => {
    const { path, headers, body } = await answered(await gemini(), compatible.events(ANSWER));
    expect([path, headers.authorization]).toEqual([
      "/v1beta/openai/chat/completions",
      "Bearer gemini-key-1",
    ]);
    expect(body).toMatchObject({ model: "gemini-2.5-pro" });
  });

  test("that is asked too often is asked again later: it never says when", async () => {
    const error = {
      error: { code: 429, message: "Resource exhausted", status: "RESOURCE_EXHAUSTED" },
    };
    expect((await failed(await gemini(), 429, error)).code).toBe("MODEL_RATE_LIMITED");
  });
});

describe("Bedrock", () => {
  const NAME = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
  const KEYS = {
    AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "secret-of-a-test",
    AWS_SESSION_TOKEN: "session-of-a-test",
  };
  const bedrock = (values: Record<string, string> = KEYS) =>
    loadModel(
      `bedrock/${NAME}`,
      { values: { AWS_REGION: "eu-west-1", ANTHROPIC_BEDROCK_BASE_URL: server.url, ...values } },
      once,
    );
  const events = () =>
    anthropic.events(ANSWER).map((event) => bedrockEvent(/data: (.*)/.exec(event)?.[1] ?? ""));

  test("gets the model in the path and a signature that holds, and its framed stream is read", async () => {
    const { path = "", headers, body, text } = await answered(await bedrock(), events(), STREAM);
    expect(path).toBe(`/model/${NAME}/invoke-with-response-stream`);
    expect(body).toMatchObject({ anthropic_version: expect.any(String) });
    expect([body["model"], body["stream"]]).toEqual([undefined, undefined]);
    expect(headers["x-amz-security-token"]).toBe("session-of-a-test");
    const [, day = "", names = "", signature] =
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
        headers.authorization ?? "",
      ) ?? [];
    expect(signature).toBe(signatureOf({ path, headers, names, text, day }));
  });

  test("takes a key of its own instead", async () => {
    const model = await bedrock({ AWS_BEARER_TOKEN_BEDROCK: "bedrock-key-1" });
    const { headers } = await answered(model, events(), STREAM);
    expect(headers.authorization).toBe("Bearer bedrock-key-1");
  });

  test.each([
    [
      403,
      "The security token included in the request is invalid.",
      "MODEL_AUTH",
      "AWS_SECRET_ACCESS_KEY",
    ],
    [400, "The provided model identifier is invalid.", "MODEL_UNKNOWN", "AWS_REGION"],
    [400, "Input is too long for requested model.", "MODEL_CONTEXT_TOO_LONG", "too long"],
    [
      429,
      "Too many requests, please wait before trying again.",
      "MODEL_RATE_LIMITED",
      "rate limit",
    ],
    [503, "Bedrock is unable to process your request.", "MODEL_OVERLOADED", "overloaded"],
  ])("%i %j is %s", async (status, message, code, hint) => {
    const error = await failed(await bedrock(), status, { message });
    expect(error.code).toBe(code);
    expect(error.message).toContain(hint);
    expect(error.message).not.toContain("secret-of-a-test");
  });

  test("whose stream breaks off with an exception brings no response", async () => {
    const pieces = [
      ...events().slice(0, 3),
      bedrockException("throttlingException", "Too many tokens"),
    ];
    server.answer({ pieces, headers: STREAM });
    const error = await failureOf((await bedrock()).generate(request, { signal }));
    expect(error.code).toBe("MODEL_RATE_LIMITED");
    server.answer({ pieces: events().slice(0, 4), headers: STREAM });
    expect((await failureOf((await bedrock()).generate(request, { signal }))).code).toBe(
      "MODEL_CUT",
    );
  });
});

/** AWS's signature, version 4, of a request as it arrived. */
function signatureOf({
  path,
  headers,
  names,
  text,
  day,
}: {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  names: string;
  text: string;
  day: string;
}): string {
  const hash = (data: string) => createHash("sha256").update(data).digest("hex");
  const hmac = (key: string | Buffer, data: string) =>
    createHmac("sha256", key).update(data).digest();
  const lines = names.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const twice = path.split("/").map(encodeURIComponent).join("/");
  const canonical = ["POST", twice, "", lines.join(""), names, hash(text)].join("\n");
  const scope = `${day}/eu-west-1/bedrock/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash(canonical)].join("\n");
  const key = [day, "eu-west-1", "bedrock", "aws4_request"].reduce<string | Buffer>(
    hmac,
    "AWS4secret-of-a-test",
  );
  return hmac(key, toSign).toString("hex");
}

describe("Vertex", () => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const keyFile = join(tmpdir(), `wk-vertex-${process.pid}.json`);
  const vertex = (path = keyFile) =>
    loadModel(
      "vertex/claude-haiku-4-5@20251001",
      {
        values: {
          CLOUD_ML_REGION: "us-east5",
          ANTHROPIC_VERTEX_PROJECT_ID: "shop-1",
          GOOGLE_APPLICATION_CREDENTIALS: path,
          ANTHROPIC_VERTEX_BASE_URL: `${server.url}/v1`,
        },
      },
      once,
    );
  beforeAll(async () => {
    const private_key = privateKey.export({ type: "pkcs8", format: "pem" });
    const key = {
      type: "service_account",
      client_email: "bot@shop-1.example",
      private_key,
      token_uri: `${server.url}/token`,
    };
    await writeFile(keyFile, JSON.stringify(key));
  });

  test("gets a token for the account's key once, and the model in the path", async () => {
    server.answerAll(({ path }) =>
      path === "/token"
        ? { pieces: ['{"access_token":"ya29.test","expires_in":3599}'] }
        : { pieces: anthropic.events(ANSWER) },
    );
    const model = await vertex();
    for (let n = 0; n < 2; n += 1)
      expect(await model.generate(request, { signal })).toMatchObject(SAYS);
    const path =
      "/v1/projects/shop-1/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict";
    expect(server.seen.map((seen) => decodeURIComponent(seen.path))).toEqual([
      "/token",
      path,
      path,
    ]);
    expect(server.seen[1]?.headers.authorization).toBe("Bearer ya29.test");
    expect(JSON.parse(server.seen[1]?.body ?? "")).toMatchObject({
      anthropic_version: expect.any(String),
      stream: true,
    });
    const jwt = new URLSearchParams(server.seen[0]?.body).get("assertion") ?? "";
    const [head = "", claims = "", signature = ""] = jwt.split(".");
    const isSigned = createVerify("RSA-SHA256")
      .update(`${head}.${claims}`)
      .verify(publicKey, signature, "base64url");
    expect(isSigned).toBe(true);
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      iss: "bot@shop-1.example",
      aud: `${server.url}/token`,
    });
  });

  test("that refuses the key, or is given no key, says which setting to mend", async () => {
    server.answerAll(() => ({ status: 400, pieces: ['{"error":"invalid_grant"}'] }));
    const refused = await failureOf((await vertex()).generate(request, { signal }));
    expect(refused.message).toContain("GOOGLE_APPLICATION_CREDENTIALS");
    expect(refused.code).toBe("MODEL_AUTH");
    const none = await failureOf((await vertex("/nowhere.json")).generate(request, { signal }));
    expect([none.code, none.message]).toEqual([
      "CONFIG_INVALID",
      expect.stringContaining("GOOGLE_APPLICATION_CREDENTIALS"),
    ]);
  });
});
