import * as z from "zod";
import { baseUrl } from "../../core/settings.ts";
import { pemFile, variable } from "../instances.ts";

const effect = z.enum(["read", "write", "destructive"]);
const kinds = z.record(z.string(), z.enum(["url", "host"]));

/** What a tool may do: its effect, or that with the kinds of its arguments. */
const grant = z.union([
  effect.transform((given) => ({ effect: given, kinds: undefined })),
  z.strictObject({ effect, kinds: kinds.optional() }),
]);

const oauth = z.strictObject({
  servers: z
    .array(baseUrl)
    .default([])
    .describe("Authorization servers that may be asked without a question at the login."),
  grant: z
    .enum(["authorization_code", "client_credentials"])
    .default("authorization_code")
    .describe("`client_credentials`: as the program itself; nobody logs in."),
  client: z.string().min(1).optional().describe("The id of a client that was registered by hand."),
  secret: variable.optional().describe("The variable that holds that client's secret."),
  scopes: z
    .array(z.string().regex(/^[!#-[\]-~]+$/))
    .optional()
    .describe("Scopes to ask for; left out: what the server says it needs."),
  port: z
    .int()
    .min(1024)
    .max(65_535)
    .default(8931)
    .describe("The port that the browser comes back to, on the machine of the login."),
});

export type OAuthSettings = z.infer<typeof oauth>;

export const serverSettings = z
  .strictObject({
    command: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("A program and its arguments, spoken with over its standard input and output."),
    url: baseUrl
      .optional()
      .describe("In place of it, the address of a server over streamable HTTP."),
    token: variable.optional().describe("The variable that holds its bearer token."),
    oauth: z
      .union([z.literal(true).transform(() => oauth.parse({})), oauth])
      .optional()
      .describe("In place of it, a login by OAuth (`mcp login`): `true`, or how."),
    ca: pemFile.optional().describe("A PEM file with the authority that signed its certificate."),
    env: z.array(variable).default([]).describe("Variables with secrets that the program gets."),
    environment: z
      .record(variable, z.string())
      .default({})
      .describe("Other variables of the program, such as `PATH`."),
    tools: z
      .record(z.string().min(1).max(128), grant)
      .default({})
      .describe("The tools that are on, each with its effect: `read`, `write` or `destructive`."),
    check: z
      .strictObject({ tool: z.string(), arguments: z.record(z.string(), z.json()).default({}) })
      .optional()
      .describe("A call that only works with the right credentials, for `doctor`."),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(600)
      .default(60)
      .describe("Seconds that a call may take, 1 to 600."),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: "expected either command or url",
  })
  .refine(({ url, token, oauth: given }) => given === undefined || (url && token === undefined), {
    message: "oauth goes with url, and without token",
  })
  .refine(
    ({ oauth: given }) =>
      given?.grant !== "client_credentials" || (given.client && given.secret !== undefined),
    { message: "oauth.grant client_credentials needs client and secret" },
  );

export type ServerSettings = z.infer<typeof serverSettings>;
