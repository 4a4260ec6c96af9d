import type { Backoff } from "../../core/backoff.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import type { Endpoint } from "../http.ts";
import type { ToolParts } from "../integration.ts";
import { type HttpServer, openHttp } from "./http.ts";
import type { OpenTransport } from "./connection.ts";
import { createAuthorizer, type OAuthParts } from "./oauth.ts";
import { createSession, type Session } from "./session.ts";
import type { ServerSettings } from "./settings.ts";
import { createStdioTransport } from "./stdio.ts";

/** A server that the configuration names. */
export interface McpServer {
  name: string;
  settings: ServerSettings;
  /** What it is, for people: its address, or the program. */
  identity: string;
  /** It is a program on this very machine. */
  isProgram: boolean;
  endpoints: Readonly<Record<string, Endpoint>>;
  session: Session;
  /** How it stands with the login, for people; undefined where there is none. */
  loginState: (() => Promise<string>) | undefined;
  /** What no text may show of it. */
  secrets(): readonly { name: string; value: string }[];
}

export interface LastingParts extends Pick<
  ToolParts,
  "launch" | "network" | "secrets" | "stopped" | "variable"
> {
  waits?: (() => Backoff) | undefined;
}

export function createServer(
  name: string,
  settings: ServerSettings,
  parts: LastingParts,
): McpServer {
  const { url, command } = settings;
  const http = url === undefined ? undefined : httpServer(name, settings, parts);
  const open = http === undefined ? openProgram(name, settings, parts) : openHttp(http);
  const authorizer = http?.authorizer;
  return {
    name,
    settings,
    identity: url ?? `the program ${(command ?? []).join(" ")}`,
    isProgram: http === undefined,
    endpoints: http === undefined ? {} : { [name]: http.endpoint },
    session: createSession({ name, open, stopped: parts.stopped, waits: parts.waits?.() }),
    loginState: authorizer && (() => authorizer.state()),
    secrets: () => authorizer?.secrets() ?? [],
  };
}

/** How a server is reached by its address. */
export function httpServer(
  name: string,
  { url = "", token, ca, oauth }: ServerSettings,
  { network, secrets, variable }: Pick<LastingParts, "network" | "secrets" | "variable">,
): HttpServer & { login: OAuthParts | undefined } {
  const secret = token === undefined ? undefined : variable(token);
  const endpoint: Endpoint = {
    url,
    ...(secret !== undefined && { credential: { kind: "bearer", secret } }),
    tls: { ...(ca !== undefined && { ca }) },
  };
  const clientSecret = oauth?.secret === undefined ? undefined : variable(oauth.secret);
  const login = oauth && { name, settings: oauth, endpoint, network, secrets, clientSecret };
  return { endpoint, network, login, authorizer: login && createAuthorizer(login) };
}

function openProgram(
  name: string,
  { command = [], env, environment }: ServerSettings,
  { launch, variable }: LastingParts,
): OpenTransport {
  return async (_signal, ended) => {
    const named = Object.fromEntries(env.map((each) => [each, variable(each)]));
    const program = await launch(command, { ...environment, ...named });
    return createStdioTransport(program, (why) => {
      const words = program.lastWords().trim();
      const said = words === "" ? "" : ` It had said: ${words.slice(-300)}`;
      ended(new BotError("CONNECTION_FAILED", `${name}: ${messageOf(why)}.${said}`));
    });
  };
}
