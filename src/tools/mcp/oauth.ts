import {
  auth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  refreshAuthorization,
} from "@modelcontextprotocol/sdk/client/auth.js";
import { OAuthError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { setTimeout as wait } from "node:timers/promises";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import { formatUtc } from "../../core/instant.ts";
import { createTurns } from "../../core/turns.ts";
import type { Secrets } from "../../team/secrets.ts";
import { type Authorizer, createLoginFetch, type HttpServer } from "./http.ts";
import { createLogins, type Login, metadataOf, tokensOf } from "./login-record.ts";
import type { OAuthSettings } from "./settings.ts";
import { commandLine } from "../../core/installation.ts";

/** Tokens that are sent with each request, renewed before they end. */

/** Before a token's end it is renewed, so that it does not end on its way. */
const EARLY_MS = 30_000;
/** How soon it is tried again to keep what can be had only once. */
const KEEP_MS = 500;

export interface OAuthParts extends HttpServer {
  /** What the configuration calls the server. */
  name: string;
  settings: OAuthSettings;
  /** Of the client that was registered by hand. */
  clientSecret: string | undefined;
  secrets(): Secrets;
}

export function createAuthorizer(parts: OAuthParts): Authorizer {
  return parts.settings.grant === "client_credentials"
    ? createClientCredentialsAuthorizer(parts)
    : createLoginAuthorizer(parts);
}

/** A server's origin, as addresses are compared. */
export function originsOf({ servers }: OAuthSettings): string[] {
  return servers.map((url) => new URL(url).origin);
}

type ServerInfo = Pick<
  Awaited<ReturnType<typeof discoverOAuthServerInfo>>,
  "authorizationServerUrl" | "authorizationServerMetadata"
>;

/** Where tokens are asked for. */
export function tokenUrlOf({
  authorizationServerUrl: issuer,
  authorizationServerMetadata: metadata,
}: ServerInfo): URL {
  return metadata === undefined ? new URL("/token", issuer) : new URL(metadata.token_endpoint);
}

/**
 * A client's secret is told to the authorization servers that the configuration names, if any, and not to who says that it is
 * one. @throws BotError ADDRESS_REFUSED
 */
export function checkSecretFor(
  { origin }: URL,
  { name, settings, clientSecret }: Pick<OAuthParts, "name" | "settings" | "clientSecret">,
): void {
  const named = originsOf(settings);
  if (clientSecret === undefined || named.length === 0 || named.includes(origin)) return;
  const text = `The client secret of ${name} is for ${named.join(", ")}, and would go to ${origin}`;
  throw new BotError("ADDRESS_REFUSED", text);
}

const isEnding = ({ endsAt }: Pick<Login, "endsAt">) =>
  endsAt !== undefined && Date.now() > endsAt - EARLY_MS;

const untilText = (endsAt: number | undefined) =>
  endsAt === undefined ? "" : ` until ${formatUtc(endsAt, "second")}`;

/** Somebody logged in; every process of the store uses that login. */
function createLoginAuthorizer(parts: OAuthParts): Authorizer {
  const { name, settings, endpoint } = parts;
  const logins = createLogins(parts.secrets, name);
  const turns = createTurns<"renew">();
  let known: Login | undefined;

  const again = (why: string) =>
    new BotError("NOT_AVAILABLE", `${name}: ${why}. Run \`${commandLine(`mcp login ${name}`)}\`.`);

  /** @throws BotError NOT_AVAILABLE where somebody has to log in first */
  function checked(login: Login | undefined): Login {
    if (login === undefined) throw again("nobody logged in yet");
    if (login.url !== endpoint.url) throw again(`the login is for ${login.url}`);
    if (login.refused !== undefined)
      throw again(`the login was refused when it was to be renewed (${login.refused})`);
    return login;
  }

  async function load() {
    const { login, version } = await logins.read();
    known = login;
    return { login: checked(login), version };
  }

  /** Each token can be renewed once, by whichever process comes first. */
  async function renew(used: string, outer: AbortSignal): Promise<Login> {
    return turns("renew", async () =>
      logins.exclusive(outer, async (signal) => {
        const { login, version } = await load();
        if (login.access !== used && !isEnding(login)) return login;
        if (login.refresh === undefined) throw again("the login ended and cannot be renewed");
        try {
          const { endsAt: _ended, ...same } = login;
          const tokens = tokensOf(await askForAnother(parts, login, login.refresh, signal));
          return await keep({ ...same, ...tokens }, version, signal);
        } catch (error) {
          if (!isRefused(error)) throw failure(name, error);
          await logins.write({ ...login, refused: error.errorCode }, version);
          return checked((await load()).login);
        }
      }),
    );
  }

  /** The token before it is spent: what came for it must not be lost with a store that is away for a moment. */
  async function keep(next: Login, version: number, signal: AbortSignal): Promise<Login> {
    known = next;
    for (;;) {
      try {
        // Else somebody logged in meanwhile.
        return (await logins.write(next, version)) ? next : (await load()).login;
      } catch (error) {
        if (signal.aborted || !isBotError(error, "STORE_UNAVAILABLE")) throw error;
        await wait(KEEP_MS, undefined, { signal });
      }
    }
  }

  return {
    async token(signal) {
      // Asked each time: whoever logs out, or logs in as somebody else, means it from then on.
      const { login } = await load();
      return isEnding(login) && login.refresh !== undefined
        ? (await renew(login.access, signal)).access
        : login.access;
    },
    async renewed(used, answer, signal) {
      if (answer.status === 401) return (await renew(used, signal)).access;
      const { scope = "" } = extractWWWAuthenticateParams(answer);
      const { login, version } = await load();
      if (login.access !== used) return login.access;
      if (login.wanted !== scope) await logins.write({ ...login, wanted: scope }, version);
      const more = settings.scopes === undefined ? "" : ", after adding it to `scopes`";
      throw again(
        `this needs more rights than the login has (${scope || "no scope named"})${more}`,
      );
    },
    async state() {
      const { login } = await load();
      const renewed = login.refresh === undefined ? "" : ", renewed automatically";
      const wanted = login.wanted === undefined ? "" : `; some calls want ${login.wanted}`;
      return `logged in${untilText(login.endsAt)}${renewed}${wanted}`;
    },
    secrets() {
      const held = [known?.access, known?.refresh, known?.client.client_secret];
      return held.flatMap((value) => (value === undefined ? [] : [{ name: `mcp ${name}`, value }]));
    },
  };
}

async function askForAnother(
  parts: OAuthParts,
  login: Login,
  refreshToken: string,
  signal: AbortSignal,
): Promise<OAuthTokens> {
  const { settings, endpoint, network, clientSecret } = parts;
  const { issuer, client, permitted, resource, endpoints } = login;
  checkSecretFor(new URL(endpoints?.token ?? issuer), parts);
  return refreshAuthorization(issuer, {
    ...metadataOf(login),
    clientInformation: {
      ...client,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    },
    refreshToken,
    ...(resource !== undefined && { resource }),
    fetchFn: createLoginFetch({
      endpoint,
      network,
      named: originsOf(settings),
      permits: (origin) => permitted.includes(origin),
      signal,
    }),
  });
}

/** Quotes nothing of the other side: its words could hold the token. */
function failure(name: string, error: unknown): BotError {
  if (isBotError(error)) return error;
  const said = error instanceof OAuthError ? ` (${error.errorCode})` : "";
  const text = `${name}: the authorization server could not renew the login${said}`;
  return new BotError("CONNECTION_FAILED", text);
}

/** The authorization server refused for good. */
function isRefused(error: unknown): error is OAuthError {
  return (
    error instanceof OAuthError &&
    ["invalid_grant", "invalid_client", "unauthorized_client"].includes(error.errorCode)
  );
}

/** The program itself logs in: each process has a token of its own. */
function createClientCredentialsAuthorizer(parts: OAuthParts): Authorizer {
  const { name, settings, endpoint, network, clientSecret = "" } = parts;
  const turns = createTurns<"ask">();
  let held: ReturnType<typeof tokensOf> | undefined;
  let scope = settings.scopes?.join(" ");

  function provider(
    info: Awaited<ReturnType<typeof discoverOAuthServerInfo>>,
    save: (tokens: OAuthTokens) => void,
  ): OAuthClientProvider {
    return {
      discoveryState: () => info,
      redirectUrl: undefined,
      get clientMetadata() {
        return { redirect_uris: [], ...(scope !== undefined && { scope }) };
      },
      clientInformation: () => ({ client_id: settings.client ?? "", client_secret: clientSecret }),
      tokens: () => undefined,
      saveTokens: save,
      prepareTokenRequest: (asked) =>
        new URLSearchParams({ grant_type: "client_credentials", ...(asked && { scope: asked }) }),
      redirectToAuthorization: nobody,
      saveCodeVerifier: nobody,
      codeVerifier: nobody,
    };
  }

  async function renew(used: string | undefined, signal: AbortSignal, answer?: Response) {
    return turns("ask", async () => {
      if (held !== undefined && held.access !== used && !isEnding(held)) return held.access;
      const challenge = answer === undefined ? {} : extractWWWAuthenticateParams(answer);
      if (challenge.error === "insufficient_scope" && settings.scopes === undefined)
        scope = [...new Set(`${scope ?? ""} ${challenge.scope ?? ""}`.trim().split(" "))].join(" ");
      const named = originsOf(settings);
      const permits = () => false;
      const fetchFn = createLoginFetch({ endpoint, network, named, permits, signal });
      const { resourceMetadataUrl } = challenge;
      try {
        const info = await discoverOAuthServerInfo(endpoint.url, {
          fetchFn,
          ...(resourceMetadataUrl && { resourceMetadataUrl }),
        });
        checkSecretFor(tokenUrlOf(info), parts);
        const client = provider(info, (tokens) => {
          held = tokensOf(tokens);
        });
        await auth(client, {
          serverUrl: endpoint.url,
          fetchFn,
          ...(scope !== undefined && { scope }),
        });
      } catch (error) {
        throw refusal(error);
      }
      if (held === undefined) throw refusal(undefined);
      return held.access;
    });
  }

  function refusal(error: unknown): BotError {
    if (isBotError(error, "ADDRESS_REFUSED")) {
      return new BotError("NOT_AVAILABLE", `${name}: ${messageOf(error)}`);
    }
    if (isBotError(error)) return error;
    const said = error instanceof OAuthError ? ` (${error.errorCode})` : "";
    const text = `${name}: the authorization server issued no token for ${settings.client}${said}`;
    return new BotError("NOT_AVAILABLE", text);
  }

  return {
    token: async (signal) =>
      held === undefined || isEnding(held) ? renew(held?.access, signal) : held.access,
    renewed: async (used, answer, signal) => renew(used, signal, answer),
    state: async () => `has a token of its own${untilText(held?.endsAt)}`,
    secrets: () => (held === undefined ? [] : [{ name: `mcp ${name}`, value: held.access }]),
  };
}

function nobody(): never {
  throw new TypeError("nobody logs in here");
}
