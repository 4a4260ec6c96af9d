import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { argumentsOf, bodyOf } from "./requests.ts";
import type { FakeSlack } from "./slack.ts";
import type { Data } from "./types.ts";

/** How long a code holds (docs.slack.dev, "Installing with OAuth"). */
const CODE_MS = 600_000;
/** How long a rotated token holds. */
const TOKEN_S = 43_200;

interface Token {
  team: string;
  state: "valid" | "token_revoked" | "account_inactive";
  until: number;
}

export interface FakeApp {
  readonly clientId: string;
  readonly clientSecret: string;
  /** For all the workspaces. */
  readonly apiUrl: string;
  /** Methods, by the workspace whose token asked. */
  readonly asked: { team: string; method: string }[];
  /** An administrator allows the app at the address that it led to. Returns the query with which Slack comes back. */
  allow(at: string, team: string, more?: { isOrgWide?: boolean }): string;
  /** The app rotates its tokens from now on. */
  rotates: boolean;
  /** Added to the time. */
  laterMs: number;
  /** Refuses the next renewals with this. */
  renewalError: string | undefined;
  renewals: number;
  /** From now on no token of the workspace holds. */
  uninstall(team: string, state?: "token_revoked" | "account_inactive"): void;
  stop(): Promise<void>;
}

/** One app in several workspaces: the pages and methods of OAuth, and before each workspace's own API the tokens that it gave out. */
export async function startFakeApp(workspaces: readonly FakeSlack[]): Promise<FakeApp> {
  const codes = new Map<string, { team: string; isOrgWide: boolean; until: number }>();
  const refreshes = new Map<string, string>();
  const tokens = new Map<string, Token>();
  const now = () => Date.now() + app.laterMs;
  const secret = (prefix: string) => `${prefix}-${randomBytes(9).toString("hex")}`;

  function grant(team: string, isOrgWide = false): Data {
    const slack = workspaces.find((each) => each.team.id === team);
    if (slack === undefined) throw new Error(`there is no workspace ${team}`);
    const token = secret(app.rotates ? "xoxe.xoxb" : "xoxb");
    tokens.set(token, {
      team,
      state: "valid",
      until: app.rotates ? now() + TOKEN_S * 1_000 : Infinity,
    });
    const refresh = secret("xoxe-1");
    if (app.rotates) refreshes.set(refresh, team);
    return {
      ok: true,
      app_id: slack.appId,
      authed_user: { id: "U0ADMIN" },
      scope: "chat:write",
      token_type: "bot",
      access_token: token,
      bot_user_id: slack.botUser.id,
      team: isOrgWide ? null : { id: team, name: slack.team.name },
      enterprise: isOrgWide ? { id: "E0ORG", name: "Org" } : null,
      is_enterprise_install: isOrgWide,
      ...(app.rotates && { refresh_token: refresh, expires_in: TOKEN_S }),
    };
  }

  /** https://docs.slack.dev/reference/methods/oauth.v2.access */
  function access(args: Data): Data {
    const refused = (error: string) => ({ ok: false, error });
    if (args["client_id"] !== app.clientId) return refused("invalid_client_id");
    if (args["client_secret"] !== app.clientSecret) return refused("bad_client_secret");
    if (args["grant_type"] === "refresh_token") {
      app.renewals += 1;
      const refresh = String(args["refresh_token"]);
      const team = refreshes.get(refresh);
      if (app.renewalError !== undefined) return refused(app.renewalError);
      if (team === undefined) return refused("invalid_refresh_token");
      refreshes.delete(refresh);
      return grant(team);
    }
    const code = String(args["code"]);
    const found = codes.get(code);
    if (args["redirect_uri"] !== undefined) return refused("bad_redirect_uri");
    if (found === undefined || found.until < now()) return refused("invalid_code");
    codes.delete(code);
    return grant(found.team, found.isOrgWide);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const [, method = ""] = /^\/api\/([\w.]+)$/.exec(request.url ?? "") ?? [];
    const say = (data: Data) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(data));
    };
    if (method === "oauth.v2.access") return say(access(argumentsOf(request, body) ?? {}));
    const given = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    const token = tokens.get(given);
    if (given === "") return say({ ok: false, error: "not_authed" });
    if (token === undefined) return say({ ok: false, error: "invalid_auth" });
    if (token.state !== "valid") return say({ ok: false, error: token.state });
    if (token.until < now()) return say({ ok: false, error: "token_expired" });
    app.asked.push({ team: token.team, method });
    if (method === "auth.revoke") {
      token.state = "token_revoked";
      return say({ ok: true, revoked: true });
    }
    const slack = workspaces.find((each) => each.team.id === token.team);
    const passed = await fetch(`${slack?.apiUrl}${method}`, {
      method: "POST",
      headers: {
        "content-type": request.headers["content-type"] ?? "",
        authorization: `Bearer ${slack?.botToken}`,
      },
      body: new Uint8Array(body),
    });
    const names = ["content-type", "retry-after", "x-oauth-scopes"];
    const headers = names.flatMap((name) => {
      const value = passed.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    response.writeHead(passed.status, Object.fromEntries(headers));
    response.end(Buffer.from(await passed.arrayBuffer()));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((problem: unknown) => {
      response.writeHead(500);
      response.end(`the fake itself failed: ${String(problem)}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const app: FakeApp = {
    clientId: "1234.5678",
    clientSecret: "fake-client-secret",
    apiUrl: `http://127.0.0.1:${port}/api/`,
    asked: [],
    rotates: false,
    laterMs: 0,
    renewalError: undefined,
    renewals: 0,
    allow(at, team, { isOrgWide = false } = {}) {
      const url = new URL(at);
      const asked = Object.fromEntries(url.searchParams);
      if (url.pathname !== "/oauth/v2/authorize" || asked["client_id"] !== app.clientId)
        throw new Error(`Slack shows no such page: ${at}`);
      if ((asked["scope"] ?? "") === "") throw new Error("no_scopes");
      const code = secret("code");
      codes.set(code, { team, isOrgWide, until: now() + CODE_MS });
      return new URLSearchParams({ code, state: asked["state"] ?? "" }).toString();
    },
    uninstall(team, state = "token_revoked") {
      for (const token of tokens.values()) if (token.team === team) token.state = state;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return app;
}
