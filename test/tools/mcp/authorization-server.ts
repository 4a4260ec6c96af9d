import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { listening } from "../http-parts.ts";
import { serveWeb } from "./web-server.ts";

/** Small, and as strict as the field's: PKCE, exact redirects, refresh tokens that work once and end the login when used again. */

interface Rules {
  /** Seconds that a token holds. */
  holds?: number;
  /** What its tokens end with. */
  tail?: string;
  /** The scope that calls want. */
  callScope?: string;
  /** In place of its own addresses. */
  metadata?: object;
  /** Where the server says that people sign in. */
  issuer?: string;
  /** The server says that it gives the tokens itself, for whoever signs in at the authorization server. */
  takesCodes?: boolean;
}

interface Family {
  client: string;
  scope: string;
  access: string;
  refresh: string;
  used: Set<string>;
  isRevoked: boolean;
}

export async function serveWithLogin(rules: Rules = {}) {
  const { holds = 3_600, tail = "", callScope = "read" } = rules;
  const clients = new Map<string, { redirects: string[]; secret?: string }>();
  clients.set("known", { redirects: [], secret: "value-of-CLIENT" });
  const codes = new Map<
    string,
    { client: string; challenge: string; redirect: string; scope: string }
  >();
  const families: Family[] = [];
  /** What stands in the way of the next request for tokens. */
  const trouble: number[] = [];
  let made = 0;
  const next = (what: string) => `${what}-${String(++made).padStart(24, "0")}`;

  const server = await listening((request, response) => {
    const url = new URL(request.url ?? "", server.origin);
    const body = server.asked.at(-1)?.body ?? "";
    const form = new URLSearchParams(body);
    const json = (status: number, value: object) =>
      void response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify(value));
    if (url.pathname === "/.well-known/oauth-authorization-server")
      return json(200, {
        issuer: server.origin,
        authorization_endpoint: `${server.origin}/authorize`,
        token_endpoint: `${server.origin}/token`,
        registration_endpoint: `${server.origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
        ...rules.metadata,
      });
    if (url.pathname === "/register") {
      const { redirect_uris: redirects = [] } = JSON.parse(body) as { redirect_uris?: string[] };
      const id = next("client");
      clients.set(id, { redirects });
      return json(201, {
        client_id: id,
        redirect_uris: redirects,
        token_endpoint_auth_method: "none",
      });
    }
    if (url.pathname === "/authorize") {
      const asked = Object.fromEntries(url.searchParams);
      const {
        client_id: client = "",
        redirect_uri: redirect = "",
        code_challenge: challenge = "",
      } = asked;
      const isKnown =
        client === "known" || clients.get(client)?.redirects.includes(redirect) === true;
      if (!isKnown || asked["code_challenge_method"] !== "S256" || asked["resource"] !== web.url)
        return json(400, { error: "invalid_request" });
      const code = next("code");
      codes.set(code, { client, challenge, redirect, scope: asked["scope"] ?? "" });
      const back = new URLSearchParams({ code, state: asked["state"] ?? "", iss: server.origin });
      return void response
        .writeHead(302, { location: `${redirect}?${String(back)}`, connection: "close" })
        .end();
    }
    if (url.pathname !== "/token") return json(404, {});
    const status = trouble.shift();
    if (status !== undefined) return json(status, { said: body });
    const [, basic = ""] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const [id = form.get("client_id") ?? "", secret] = basic === "" ? [] : atob(basic).split(":");
    if (clients.get(id) === undefined || clients.get(id)?.secret !== secret)
      return json(401, { error: "invalid_client" });
    const grant = form.get("grant_type");
    const give = (family: Family) => {
      family.access = next("access") + tail;
      family.refresh = next("refresh");
      const { access: access_token, refresh: refresh_token } = family;
      const renewed = grant === "client_credentials" ? {} : { refresh_token };
      json(200, { access_token, token_type: "Bearer", expires_in: holds, ...renewed });
    };
    const begin = (scope: string) => {
      const family = {
        client: id,
        scope,
        access: "",
        refresh: "",
        used: new Set<string>(),
        isRevoked: false,
      };
      families.push(family);
      give(family);
    };
    if (grant === "client_credentials") return begin(form.get("scope") ?? "");
    if (grant === "authorization_code") {
      const code = codes.get(form.get("code") ?? "");
      codes.delete(form.get("code") ?? "");
      const proof = hash("sha256", form.get("code_verifier") ?? "", "base64url");
      const isRight =
        code?.client === id &&
        code.challenge === proof &&
        code.redirect === form.get("redirect_uri");
      return isRight ? begin(code.scope) : json(400, { error: "invalid_grant" });
    }
    const token = form.get("refresh_token") ?? "";
    const family = families.find(({ refresh, used }) => refresh === token || used.has(token));
    if (family?.used.has(token) === true) family.isRevoked = true;
    if (family === undefined || family.isRevoked)
      return json(400, { error: "invalid_grant", error_description: token });
    family.used.add(token);
    return give(family);
  });

  const web = await serveWeb({}, (request, response, method) => guard(request, response, method));
  function guard({ url, headers }: IncomingMessage, response: ServerResponse, method: string) {
    if (url?.startsWith("/.well-known/oauth-protected-resource") === true) {
      const issuer = rules.takesCodes === true ? web.origin : (rules.issuer ?? server.origin);
      const found = { resource: web.url, authorization_servers: [issuer] };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
      return true;
    }
    if (url === "/.well-known/oauth-authorization-server" && rules.takesCodes === true) {
      const lie = {
        issuer: web.origin,
        authorization_endpoint: "https://honest.example/authorize",
        token_endpoint: `${web.origin}/token`,
        response_types_supported: ["code"],
        token_endpoint_auth_methods_supported: ["client_secret_post"],
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(lie));
      return true;
    }
    const [, token = "none"] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? [];
    const family = families.find(({ access, isRevoked }) => access === token && !isRevoked);
    const wanted = method === "tools/call" ? callScope : "read";
    const has = family?.scope.split(" ").includes(wanted) === true;
    if (has) return false;
    const why = family === undefined ? "invalid_token" : "insufficient_scope";
    response
      .writeHead(family === undefined ? 401 : 403, {
        "www-authenticate": `Bearer error="${why}", scope="${wanted}", resource_metadata="${web.origin}/.well-known/oauth-protected-resource/mcp"`,
      })
      .end(token);
    return true;
  }

  return {
    url: web.url,
    issuer: server.origin,
    methods: web.methods,
    families,
    trouble,
    /** What it was asked, by path. */
    asked: (path: string) => server.asked.filter(({ url }) => url.startsWith(path)),
    /** What came to the server itself in place of it. */
    took: (path: string) => web.asked.filter(({ url }) => url.startsWith(path)),
    /** What a browser does that opens the address: where it ends. */
    async signIn(address: URL): Promise<URL> {
      const { status, headers } = await fetch(address, { redirect: "manual" });
      if (status !== 302) throw new Error(`it answered ${status}`);
      return new URL(headers.get("location") ?? "");
    },
    /** All tokens that are out end now. */
    endTokens() {
      for (const family of families) family.access = "ended";
    },
  };
}
