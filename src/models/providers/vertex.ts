import type { AnthropicVertex } from "@anthropic-ai/vertex-sdk";
import * as z from "zod";
import { baseUrl, fromEnv } from "../../core/settings.ts";
import { defineProvider } from "../provider.ts";
import { createGoogleToken } from "./google-token.ts";
import { createMessagesModel } from "./messages.ts";

const word = (expected: string) =>
  z
    .string()
    .trim()
    .regex(/^[a-z0-9-]+$/, expected)
    .optional();

type AuthClient = NonNullable<
  NonNullable<ConstructorParameters<typeof AnthropicVertex>[0]>["authClient"]
>;

/** All that the SDK asks of it. */
function googleClient(token: () => Promise<string>): AuthClient {
  const client = {
    getRequestHeaders: async () => new Headers({ authorization: `Bearer ${await token()}` }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK calls this one method
  return client as unknown as AuthClient;
}

/** Claude on Google's Vertex AI, with a service account's key. */
export const vertex = defineProvider({
  name: "vertex",
  example: "claude-sonnet-4-5@20250929",
  contextWindow: 200_000,
  settings: z.object({
    region: fromEnv(
      "CLOUD_ML_REGION",
      word("expected a region such as us-east5 or global"),
      "Needed with `vertex/…`, such as `us-east5` or `global`.",
    ),
    project: fromEnv(
      "ANTHROPIC_VERTEX_PROJECT_ID",
      word("expected the id of a project, such as my-project-1"),
      "Needed with `vertex/…`: the project that pays.",
    ),
    keyFile: fromEnv(
      "GOOGLE_APPLICATION_CREDENTIALS",
      z.string().trim().optional(),
      "Needed with `vertex/…`: the path of a service account's key, a JSON file.",
      { shared: true },
    ),
    baseURL: fromEnv(
      "ANTHROPIC_VERTEX_BASE_URL",
      baseUrl.optional(),
      "An http or https URL, if not the region's own address.",
    ),
  }),
  missing({ region, project, keyFile }) {
    if (region === undefined) return "CLOUD_ML_REGION";
    if (project === undefined) return "ANTHROPIC_VERTEX_PROJECT_ID";
    return keyFile === undefined ? "GOOGLE_APPLICATION_CREDENTIALS" : undefined;
  },
  create(options, { region = "", project = "", keyFile = "", baseURL }) {
    return createMessagesModel(options, {
      id: `vertex/${options.name}`,
      apiKey: "",
      variables: { key: "GOOGLE_APPLICATION_CREDENTIALS", address: "CLOUD_ML_REGION" },
      throttles: true,
      // Vertex takes requests of 30 MB.
      maxFileBytes: 21 * 1024 * 1024,
      async connect(fetch) {
        const { AnthropicVertex: Client } = await import("@anthropic-ai/vertex-sdk");
        const token = createGoogleToken(keyFile, fetch);
        return new Client({
          region,
          projectId: project,
          ...(baseURL !== undefined && { baseURL }),
          authClient: googleClient(token),
          fetch,
          maxRetries: 0,
          logLevel: "off",
        });
      },
    });
  },
});
