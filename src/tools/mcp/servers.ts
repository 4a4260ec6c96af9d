import type { Backoff } from "../../core/backoff.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import type { Endpoint } from "../http.ts";
import type { ToolParts } from "../integration.ts";
import { openHttp } from "./http.ts";
import type { OpenTransport } from "./connection.ts";
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
}

export interface LastingParts extends Pick<
  ToolParts,
  "launch" | "network" | "stopped" | "variable"
> {
  waits?: (() => Backoff) | undefined;
}

export function createServer(
  name: string,
  settings: ServerSettings,
  parts: LastingParts,
): McpServer {
  const { url, command, token } = settings;
  const { stopped } = parts;
  if (url === undefined) {
    const open = openProgram(name, settings, parts);
    const identity = `the program ${(command ?? []).join(" ")}`;
    const session = createSession({ name, open, stopped, waits: parts.waits?.() });
    return { name, settings, identity, isProgram: true, endpoints: {}, session };
  }
  const secret = token === undefined ? undefined : parts.variable(token);
  const endpoint: Endpoint = {
    url,
    ...(secret !== undefined && { credential: { kind: "bearer", secret } }),
    tls: { ...(settings.ca !== undefined && { ca: settings.ca }) },
  };
  const open = openHttp({ endpoint, network: parts.network });
  const session = createSession({ name, open, stopped, waits: parts.waits?.() });
  return {
    name,
    settings,
    identity: url,
    isProgram: false,
    endpoints: { [name]: endpoint },
    session,
  };
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
