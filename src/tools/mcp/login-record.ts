import type {
  AuthorizationServerMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import * as z from "zod";
import { MAX_LEARNED_LENGTH } from "../../security/encoder.ts";
import type { Secrets } from "../../team/secrets.ts";

/** What is kept of a login at a server, encrypted. */

/** Nothing holds longer; a server may say so much that it is no number any more. */
const MAX_SECONDS = 10 * 365 * 86_400;

/** What is longer could not be kept out of texts. */
const secret = z.string().max(MAX_LEARNED_LENGTH, "a token or secret is longer than 8 KiB");

/** What a header can carry. */
const token = secret.regex(/^[!-~]+$/);

const login = z.strictObject({
  /** The server that it is for: its token is sent to no other. */
  url: z.string(),
  /** The authorization server. */
  issuer: z.string(),
  /** Of it, as far as tokens are renewed by it. */
  endpoints: z
    .strictObject({ token: z.string(), methods: z.array(z.string()).optional() })
    .optional(),
  resource: z.string().optional(),
  /** Origins that whoever logged in permitted, besides those of the configuration. */
  permitted: z.array(z.string()),
  client: z.strictObject({
    client_id: z.string(),
    client_secret: secret.optional(),
    token_endpoint_auth_method: z.string().optional(),
  }),
  access: token,
  refresh: token.optional(),
  /** ms since 1970; left out: the server did not say. */
  endsAt: z.number().optional(),
  /** What the authorization server answered when the token was to be renewed: somebody has to log in. */
  refused: z.string().optional(),
  /** Scopes that the server asked for and this login does not have. */
  wanted: z.string().optional(),
});

export type Login = z.infer<typeof login>;

/** Tokens as they are kept. @throws z.ZodError for what no header can carry, and what is too long */
export function tokensOf(
  { access_token: access, refresh_token: refresh, expires_in: seconds }: OAuthTokens,
  now = Date.now(),
): Pick<Login, "access" | "refresh" | "endsAt"> {
  return {
    access: token.parse(access),
    ...(refresh !== undefined && { refresh: token.parse(refresh) }),
    ...(seconds !== undefined && { endsAt: now + Math.min(seconds, MAX_SECONDS) * 1_000 }),
  };
}

/** What is kept of them. */
export function endpointsOf(
  metadata: AuthorizationServerMetadata | undefined,
): Login["endpoints"] | undefined {
  if (metadata === undefined) return undefined;
  const { token_endpoint, token_endpoint_auth_methods_supported: methods } = metadata;
  return { token: token_endpoint, ...(methods !== undefined && { methods }) };
}

/** The other way round. */
export function metadataOf({ issuer, endpoints }: Login): {
  metadata?: AuthorizationServerMetadata;
} {
  if (endpoints === undefined) return {};
  const metadata = {
    issuer,
    authorization_endpoint: issuer,
    response_types_supported: ["code"],
    token_endpoint: endpoints.token,
    token_endpoint_auth_methods_supported: endpoints.methods,
  };
  return { metadata };
}

/** @throws z.ZodError for what could not be read again */
function textOf(next: Login): string {
  return JSON.stringify(login.parse(next));
}

/** The login at the server of that name. */
export function createLogins(secrets: () => Secrets, server: string) {
  const name = `mcp:${server}`;
  return {
    /** @throws BotError, as `Secrets.read` does */
    async read(): Promise<{ login: Login | undefined; version: number }> {
      const { value, version } = await secrets().read(name);
      return { login: value === undefined ? undefined : login.parse(JSON.parse(value)), version };
    },
    /** False: there is another one by now. */
    write: async (next: Login, version: number): Promise<boolean> =>
      secrets().write(name, textOf(next), version),
    /** Whatever is there. Undefined removes it. */
    async replace(next: Login | undefined): Promise<void> {
      const value = next && textOf(next);
      while (!(await secrets().write(name, value, (await secrets().read(name)).version)));
    },
    exclusive: async <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) =>
      secrets().exclusive(name, signal, work),
  };
}
