import * as z from "zod";
import { apiKey, baseUrl, fromEnv } from "../../core/settings.ts";
import { defineProvider } from "../provider.ts";
import { createMessagesModel } from "./messages.ts";

/** AWS's tools read these too. */
const shared = { shared: true } as const;
const secret = { secret: true, shared: true } as const;

/** Claude on Amazon Bedrock: with a Bedrock key, or signed with AWS's keys (SigV4). */
export const bedrock = defineProvider({
  name: "bedrock",
  example: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  contextWindow: 200_000,
  settings: z.object({
    region: fromEnv(
      "AWS_REGION",
      z
        .string()
        .trim()
        .regex(/^[a-z0-9-]+$/, "expected a region such as us-east-1")
        .optional(),
      "Needed with `bedrock/…`, such as `us-east-1`.",
      shared,
    ),
    bearer: fromEnv(
      "AWS_BEARER_TOKEN_BEDROCK",
      apiKey.optional(),
      "A Bedrock API key; with `bedrock/…` either this or AWS's two keys are needed.",
      secret,
    ),
    accessKey: fromEnv(
      "AWS_ACCESS_KEY_ID",
      apiKey.optional(),
      "With `bedrock/…`, without a Bedrock API key: whose requests they are.",
      shared,
    ),
    secretKey: fromEnv(
      "AWS_SECRET_ACCESS_KEY",
      apiKey.optional(),
      "What such requests are signed with.",
      secret,
    ),
    sessionToken: fromEnv(
      "AWS_SESSION_TOKEN",
      apiKey.optional(),
      "With keys that AWS gave for a while.",
      secret,
    ),
    baseURL: fromEnv(
      "ANTHROPIC_BEDROCK_BASE_URL",
      baseUrl.optional(),
      "An http or https URL, if not the region's own address.",
    ),
  }),
  missing({ region, bearer, accessKey, secretKey }) {
    if (region === undefined) return "AWS_REGION";
    if (bearer !== undefined) return undefined;
    if (accessKey === undefined) return "AWS_ACCESS_KEY_ID";
    return secretKey === undefined ? "AWS_SECRET_ACCESS_KEY" : undefined;
  },
  create(options, { region = "", bearer, accessKey, secretKey, sessionToken, baseURL }) {
    const key = bearer === undefined ? "AWS_SECRET_ACCESS_KEY" : "AWS_BEARER_TOKEN_BEDROCK";
    return createMessagesModel(options, {
      id: `bedrock/${options.name}`,
      apiKey: bearer ?? secretKey ?? "",
      variables: { key, address: "AWS_REGION" },
      throttles: true,
      // Bedrock takes requests of 20 MB.
      maxFileBytes: 14 * 1024 * 1024,
      async connect(fetch) {
        const { AnthropicBedrock: Client } = await import("@anthropic-ai/bedrock-sdk");
        return new Client({
          awsRegion: region,
          // Undefined, it would read its own variables.
          apiKey: bearer ?? null,
          baseURL: baseURL ?? `https://bedrock-runtime.${region}.amazonaws.com`,
          awsAccessKey: accessKey ?? "",
          awsSecretKey: secretKey ?? "",
          awsSessionToken: sessionToken ?? null,
          fetch,
          maxRetries: 0,
          logLevel: "off",
        });
      },
    });
  },
});
