import { randomBytes } from "node:crypto";
import {
  auth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
} from "@modelcontextprotocol/sdk/client/auth.js";
import { OAuthError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { LATEST_PROTOCOL_VERSION } from "@modelcontextprotocol/sdk/types.js";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import { oneLine } from "../../core/text.ts";
import { cleanText } from "../../security/sanitize.ts";
import { createLoginFetch } from "./http.ts";
import { createLogins, endpointsOf, type Login, tokensOf } from "./login-record.ts";
import { checkSecretFor, type OAuthParts, originsOf, tokenUrlOf } from "./oauth.ts";

/** Somebody logs in at a server, for all processes of the store. */

export interface LoginTerms extends Omit<OAuthParts, "authorizer"> {
  /** Where the browser comes back to. */
  redirectUrl: string;
  /** Asks whoever logs in, once for each origin that the configuration does not name. */
  permit(origin: string): Promise<boolean>;
  /** Shows where to sign in, and returns the address that the browser came back to. `isOurs`: it answers this very login. */
  signIn(address: URL, isOurs: (redirect: URL) => boolean): Promise<URL>;
  signal: AbortSignal;
}

/**
 * Logs in and keeps the login. Nothing is asked of an address that neither the configuration names nor `permit` grants.
 * @throws BotError NOT_AVAILABLE with what the other side refused, ADDRESS_REFUSED, ABORTED
 */
export async function logIn(terms: LoginTerms): Promise<Pick<Login, "endsAt" | "refresh">> {
  try {
    return await attempt(terms);
  } catch (error) {
    if (isBotError(error) || terms.signal.aborted) throw error;
    const said = error instanceof OAuthError ? `${error.errorCode}: ` : "";
    throw new BotError("NOT_AVAILABLE", `${terms.name}: ${said}${plain(messageOf(error))}`);
  }
}

async function attempt(terms: LoginTerms): Promise<Pick<Login, "endsAt" | "refresh">> {
  const { name, settings, endpoint, network, signal } = terms;
  const named = originsOf(settings);
  const asked = new Map<string, Promise<boolean>>();
  const permitted = new Set<string>();
  const permits = async (origin: string) => {
    const answer = asked.get(origin) ?? terms.permit(origin);
    asked.set(origin, answer);
    if (await answer) permitted.add(origin);
    return answer;
  };
  const fetchFn = createLoginFetch({ endpoint, network, named, permits, signal });
  const logins = createLogins(terms.secrets, name);
  const { wanted } = await lastLogin(logins);

  const challenge = extractWWWAuthenticateParams(await fetchFn(endpoint.url, KNOCK));
  const { resourceMetadataUrl } = challenge;
  const info = await discoverOAuthServerInfo(endpoint.url, {
    fetchFn,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  });
  const tokens = tokenUrlOf(info);
  checkSecretFor(tokens, terms);
  const scope = settings.scopes?.join(" ") ?? union(challenge.scope, wanted);
  const state = randomBytes(24).toString("base64url");
  const flow: Flow = { client: undefined, verifier: "", address: undefined, tokens: undefined };
  const provider = providerOf(terms, { flow, state, info });
  const options = { serverUrl: endpoint.url, fetchFn, ...(scope !== undefined && { scope }) };
  await auth(provider, options);
  if (flow.address === undefined) throw new Error("it named no address to sign in at");
  checkAddress(flow.address, [new URL(endpoint.url).origin, ...named]);
  checkCodeFor(tokens, flow.address, named);

  const redirect = await terms.signIn(
    flow.address,
    (url) => url.searchParams.get("state") === state,
  );
  const authorizationCode = codeIn(redirect, state, info.authorizationServerMetadata?.issuer);
  await auth(provider, { ...options, authorizationCode });
  if (flow.tokens === undefined || flow.client === undefined) throw new Error("it gave no token");
  const { client_id, client_secret } = flow.client;
  const method =
    "token_endpoint_auth_method" in flow.client
      ? flow.client.token_endpoint_auth_method
      : undefined;
  const endpoints = endpointsOf(info.authorizationServerMetadata);
  const login: Login = {
    url: endpoint.url,
    issuer: info.authorizationServerUrl,
    ...(endpoints && { endpoints }),
    ...(info.resourceMetadata && { resource: info.resourceMetadata.resource }),
    permitted: [...permitted],
    client: {
      client_id,
      // One that the configuration names is read there each time.
      ...(settings.client === undefined && client_secret !== undefined && { client_secret }),
      ...(method !== undefined && { token_endpoint_auth_method: method }),
    },
    ...tokensOf(flow.tokens),
  };
  await logins.replace(login);
  return login;
}

/** A message that a server without a login would answer. */
const KNOCK = {
  method: "POST",
  headers: {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: "watchkeeper", version: "1" },
    },
  }),
};

/** One that cannot be read any more is replaced. */
async function lastLogin(logins: ReturnType<typeof createLogins>): Promise<Partial<Login>> {
  return (await logins.read().catch(() => undefined))?.login ?? {};
}

function union(...scopes: readonly (string | undefined)[]): string | undefined {
  const all = new Set(
    scopes.flatMap((each) => each?.split(" ") ?? []).filter((each) => each !== ""),
  );
  return all.size === 0 ? undefined : [...all].join(" ");
}

/** What is known by now. */
interface Flow {
  client: OAuthClientInformationMixed | undefined;
  verifier: string;
  address: URL | undefined;
  tokens: OAuthTokens | undefined;
}

interface FlowParts {
  flow: Flow;
  state: string;
  info: Awaited<ReturnType<typeof discoverOAuthServerInfo>>;
}

function providerOf(
  { settings, clientSecret, redirectUrl }: LoginTerms,
  { flow, state, info }: FlowParts,
): OAuthClientProvider {
  const { client: id } = settings;
  const registered = id && {
    client_id: id,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  };
  if (registered) flow.client = registered;
  return {
    redirectUrl,
    clientMetadata: {
      client_name: "Watchkeeper",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(settings.scopes && { scope: settings.scopes.join(" ") }),
    },
    state: () => state,
    clientInformation: () => flow.client,
    saveClientInformation(client) {
      flow.client = client;
    },
    // Whoever logs in wants another login.
    tokens: () => undefined,
    saveTokens(tokens) {
      flow.tokens = tokens;
    },
    redirectToAuthorization(address) {
      flow.address = address;
    },
    saveCodeVerifier(verifier) {
      flow.verifier = verifier;
    },
    codeVerifier: () => flow.verifier,
    discoveryState: () => info,
  };
}

/** A browser is sent nowhere else than by https, or where the configuration says. */
function checkAddress(address: URL, known: readonly string[]): void {
  if (address.protocol === "https:" || known.includes(address.origin)) return;
  const text = `The address to sign in at is ${address.origin}, which is not https`;
  throw new BotError("ADDRESS_REFUSED", text);
}

/**
 * What one authorization server gives goes to no other, whatever the server's metadata says: it could have somebody sign in at
 * a service that they trust, and be given what that service answers.
 */
function checkCodeFor(tokens: URL, { origin }: URL, named: readonly string[]): void {
  if (tokens.origin === origin || named.includes(tokens.origin)) return;
  const text = `You would sign in at ${origin}, and its answer would go to ${tokens.origin}; \`oauth.servers\` says which addresses may get it`;
  throw new BotError("ADDRESS_REFUSED", text);
}

/** What the other side said, for a terminal. */
function plain(text: string): string {
  return oneLine(cleanText(text)).slice(0, 300);
}

/** @throws BotError NOT_AVAILABLE where it is no answer to this login, or refuses it */
function codeIn({ searchParams }: URL, state: string, issuer: string | undefined): string {
  const refuse = (text: string) => new BotError("NOT_AVAILABLE", plain(text));
  if (searchParams.get("state") !== state)
    throw refuse("That address does not belong to this login; begin again");
  const from = searchParams.get("iss");
  // RFC 9207: another authorization server's answer.
  if (from !== null && issuer !== undefined && from !== issuer)
    throw refuse(`That answer is from ${from}, not from ${issuer}`);
  const error = searchParams.get("error");
  if (error !== null) throw refuse(`The login was refused (${error})`);
  const code = searchParams.get("code");
  if (code === null) throw refuse("That address has no code");
  return code;
}
