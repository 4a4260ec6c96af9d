import type { Duplex } from "node:stream";
import * as z from "zod";
import { BotError } from "../core/errors.ts";
import { fromEnv, fromYaml } from "../core/settings.ts";
import { formatBytes } from "../core/text.ts";
import type { Endpoint } from "./http.ts";
import { instanceOf, ONLY, proofsOf } from "./instances.ts";

/** What the tools of SQL databases have in common: their settings, the servers in them, and their connections. */

/** A database that tools ask. */
export interface Database {
  /** Its name among the tool's endpoints. */
  endpoint: string;
  /** The name that its certificate has to be for. */
  host: string;
  user: string;
  password: string | undefined;
  database: string;
  tls: "off" | "unverified" | "verified";
}

/** The servers that a tool asks. */
export interface DatabaseParts {
  databases: Readonly<Record<string, Database>>;
  endpoints: Readonly<Record<string, Endpoint>>;
}

/** The argument that ranks statements. */
export const costField = z
  .enum(["total", "mean", "calls"])
  .default("total")
  .describe("What to rank by: all time together, the time of one call, or the number of calls");

/** What tells one kind of database from another in the settings. */
export interface DatabaseSystem {
  /** As its yaml key and folder are called. */
  name: string;
  /** What its variables begin with. */
  prefix: string;
  /** What its addresses begin with, the usual one first. */
  protocols: readonly [string, ...string[]];
  /** The parameter of an address that says how TLS is spoken, and what its values mean. None given: the first. */
  tls: { parameter: string; values: Readonly<Record<string, Database["tls"]>> };
  /** The user and the database where an address names none. */
  defaults: { user: string; database: string };
  /** What people are told of its two variables. */
  about: { url: string; admin: string };
}

interface Server {
  url: string;
  password?: string | undefined;
  admin?: string | undefined;
  adminPassword?: string | undefined;
}

interface DatabaseSettings {
  url?: string | undefined;
  admin?: string | undefined;
  named: Readonly<Record<string, Server>>;
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function addressOf({ protocols, tls }: DatabaseSystem) {
  const modes = Object.keys(tls.values);
  return z
    .string()
    .trim()
    .refine((text) => {
      const url = URL.parse(text);
      if (url === null || !protocols.includes(url.protocol) || url.hostname === "") return false;
      return [url.username, url.password, url.pathname].every(isDecodable);
    }, `expected ${protocols[0]}//user:password@host/database, with %25 for a percent sign`)
    .refine(
      (text) => {
        const mode = URL.parse(text)?.searchParams.get(tls.parameter);
        return mode === null || mode === undefined || modes.includes(mode);
      },
      `expected ${tls.parameter} to be one of ${modes.join(", ")}`,
    );
}

const variable = z
  .string()
  .regex(/^[A-Za-z_]\w*$/, "expected the name of an environment variable such as SHOP_DB_PASSWORD");

/**
 * `<PREFIX>_URL` and `<PREFIX>_ADMIN_URL`, or any number of servers at `integrations.<name>` in the yaml. A role that only reads
 * is told from the one that ends sessions.
 */
export function databaseSettings(system: DatabaseSystem) {
  const { name, prefix, protocols, about } = system;
  const address = addressOf(system);
  // In the yaml a password would be no secret.
  const open = address.refine(
    (text) => (URL.parse(text)?.password ?? "") === "",
    "expected no password: name the variable that holds it",
  );
  const server = z.strictObject({
    url: open.describe(`\`${protocols[0]}//user@host/database\`, without the password.`),
    password: variable.optional().describe("The variable that holds the password."),
    admin: open.optional().describe("The same server with a role that ends sessions."),
    adminPassword: variable.optional().describe("The variable that holds that role's password."),
  });
  return z.object({
    url: fromEnv(`${prefix}_URL`, address.optional(), about.url, {
      secret: true,
      unset: "its tools are not offered",
    }),
    admin: fromEnv(`${prefix}_ADMIN_URL`, address.optional(), about.admin, {
      secret: true,
      unset: "sessions cannot be ended",
    }),
    named: fromYaml(
      `integrations.${name}`,
      z
        .record(
          z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "expected a short name such as prod"),
          server,
        )
        .default({}),
      "Several of them: `<name>: { url, password, admin, adminPassword }`; passwords are names of variables.",
    ),
  });
}

/** What an integration says of such settings. */
export function databaseWords({ name, prefix }: DatabaseSystem) {
  return {
    variables: ({ named }: DatabaseSettings) =>
      Object.values(named)
        .flatMap(({ password, adminPassword }) => [password, adminPassword])
        .filter((each) => each !== undefined),
    unavailable: ({ url, named }: DatabaseSettings) =>
      url === undefined && Object.keys(named).length === 0
        ? `${prefix}_URL is not set, and integrations.${name} names no server`
        : undefined,
    proofs: ({ url, named }: DatabaseSettings) =>
      proofsOf(
        name,
        { ...(url !== undefined && { [ONLY]: url }), ...named },
        { tool: `${name}_diagnose`, args: {} },
      ),
  };
}

/** The servers by their names: as those see them who read, and as those who end sessions. */
export function serversIn(
  system: DatabaseSystem,
  { url, admin, named }: DatabaseSettings,
  valueOf: (variable: string) => string,
): { readers: DatabaseParts; admins: DatabaseParts } {
  const several = Object.entries(named);
  const secret = (of: string | undefined) => (of === undefined ? undefined : valueOf(of));
  return {
    readers: partsOf(system, [
      [ONLY, url, undefined],
      ...several.map(([name, each]) => [name, each.url, secret(each.password)] as const),
    ]),
    admins: partsOf(system, [
      [ONLY, admin, undefined],
      ...several.map(([name, each]) => [name, each.admin, secret(each.adminPassword)] as const),
    ]),
  };
}

/** A password in the address is the one of a variable that holds the whole address. */
function partsOf(
  system: DatabaseSystem,
  servers: readonly (readonly [
    name: string,
    url: string | undefined,
    password: string | undefined,
  ])[],
): DatabaseParts {
  const set = servers.flatMap(([name, url, password]) =>
    url === undefined ? [] : [{ name, url: new URL(url), password }],
  );
  return {
    databases: Object.fromEntries(
      set.map(({ name, url, password }) => [name, databaseOf(system, name, url, password)]),
    ),
    endpoints: Object.fromEntries(
      set.map(({ name, url }) => [name, { url: `${system.protocols[0]}//${url.host}` }]),
    ),
  };
}

function databaseOf(
  { tls, defaults }: DatabaseSystem,
  endpoint: string,
  url: URL,
  password: string | undefined,
): Database {
  const own = url.password === "" ? undefined : decodeURIComponent(url.password);
  const mode = url.searchParams.get(tls.parameter) ?? "";
  return {
    endpoint,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    user: decodeURIComponent(url.username) || defaults.user,
    password: password ?? own,
    database: decodeURIComponent(url.pathname.slice(1)) || defaults.database,
    tls: tls.values[mode] ?? "off",
  };
}

/** The server that a call is for. */
export function databaseFor(
  { databases }: DatabaseParts,
  input: { instance?: string | undefined },
): Database {
  const name = instanceOf(input, databases);
  const found = databases[name];
  if (found === undefined) throw new TypeError(`There is no database ${name}.`);
  return found;
}

/** Which server, and what stands for it in messages: `127.0.0.1:5432/shop`. */
export function nameOf({ endpoints }: DatabaseParts, { endpoint, database }: Database): string {
  const host = URL.parse(endpoints[endpoint]?.url ?? "")?.host ?? "?";
  return database === "" ? host : `${host}/${database}`;
}

/** Of everything that a server sends in a session: one cell may hold a gigabyte. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Whatever a server sends ends no more than its connection: a client throws where bytes are not the protocol's. */
export function guarded(channel: Duplex, protocol: string): Duplex {
  const emit = channel.emit.bind(channel);
  let received = 0;
  channel.emit = (event: string, ...given: unknown[]) => {
    const [chunk] = given;
    received += event === "data" && Buffer.isBuffer(chunk) ? chunk.length : 0;
    if (received > MAX_BYTES) {
      const text = `The answer is larger than ${formatBytes(MAX_BYTES)}: ask for less of it.`;
      channel.destroy(event === "data" ? new BotError("INPUT_INVALID", text) : undefined);
      return event === "data" || emit(event, ...given);
    }
    try {
      return emit(event, ...given);
    } catch (error) {
      const text = `What the server sent is not ${protocol}'s protocol.`;
      channel.destroy(new BotError("CONNECTION_FAILED", text, { cause: error }));
      return true;
    }
  };
  return channel;
}
