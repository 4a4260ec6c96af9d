import * as z from "zod";
import { fromEnv, fromYaml } from "../../core/settings.ts";
import { ONLY, proofsOf } from "../instances.ts";
import { defineIntegration } from "../integration.ts";
import type { Database } from "./client.ts";
import type { PostgresParts } from "./parts.ts";

const FORM = "postgres://user:password@host:5432/database";

const SSL_MODES = [
  "disable",
  "allow",
  "prefer",
  "require",
  "no-verify",
  "verify-ca",
  "verify-full",
];

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

const address = z
  .string()
  .trim()
  .refine((text) => {
    const url = URL.parse(text);
    if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.hostname === "")
      return false;
    return [url.username, url.password, url.pathname].every(isDecodable);
  }, `expected ${FORM}, with %25 for a percent sign`)
  .refine(
    (text) => {
      const mode = URL.parse(text)?.searchParams.get("sslmode") ?? "disable";
      return SSL_MODES.includes(mode);
    },
    `expected sslmode to be one of ${SSL_MODES.join(", ")}`,
  );

/** In the yaml, where a password would be no secret. */
const openAddress = address.refine(
  (text) => (URL.parse(text)?.password ?? "") === "",
  "expected no password: name the variable that holds it",
);

const variable = z
  .string()
  .regex(/^[A-Za-z_]\w*$/, "expected the name of an environment variable such as SHOP_DB_PASSWORD");

const server = z.strictObject({
  url: openAddress.describe("`postgres://user@host:5432/database`, without the password."),
  password: variable.optional().describe("The variable that holds the password."),
  admin: openAddress.optional().describe("The same server with a role that ends sessions."),
  adminPassword: variable.optional().describe("The variable that holds that role's password."),
});

/** PostgreSQL 12 and newer: who does what, who waits for whom, what is slow, what grows. */
export const postgres = defineIntegration({
  name: "postgres",
  settings: z.object({
    url: fromEnv(
      "POSTGRES_URL",
      address.optional(),
      `A PostgreSQL to look at, \`${FORM}\`. Its role needs \`pg_monitor\`.`,
      { secret: true, unset: "its tools are not offered" },
    ),
    admin: fromEnv(
      "POSTGRES_ADMIN_URL",
      address.optional(),
      "The same server with a role that has `pg_signal_backend`: only ending sessions uses it.",
      { secret: true, unset: "sessions cannot be ended" },
    ),
    named: fromYaml(
      "integrations.postgres",
      z
        .record(
          z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "expected a short name such as prod"),
          server,
        )
        .default({}),
      "Several of them: `<name>: { url, password, admin, adminPassword }`; passwords are names of variables.",
    ),
  }),
  variables: ({ named }) =>
    Object.values(named)
      .flatMap(({ password, adminPassword }) => [password, adminPassword])
      .filter((name) => name !== undefined),
  unavailable: ({ url, named }) =>
    url === undefined && Object.keys(named).length === 0
      ? "POSTGRES_URL is not set, and integrations.postgres names no server"
      : undefined,
  proofs: ({ url, named }) =>
    proofsOf(
      "postgres",
      { ...(url !== undefined && { [ONLY]: url }), ...named },
      { tool: "postgres_diagnose", args: {} },
    ),
  async tools({ url, admin, named }, { variable: valueOf }) {
    const several = Object.entries(named);
    const readers = partsOf([
      [ONLY, url, undefined],
      ...several.map(
        ([name, { url: at, password }]) => [name, at, password && valueOf(password)] as const,
      ),
    ]);
    const admins = partsOf([
      [ONLY, admin, undefined],
      ...several.map(
        ([name, each]) =>
          [name, each.admin, each.adminPassword && valueOf(each.adminPassword)] as const,
      ),
    ]);
    const { createTools } = await import("./tools.ts");
    return createTools(readers, admins);
  },
});

/** Servers by their names. A password in the address is the one of a variable that holds the whole address. */
function partsOf(
  servers: readonly (readonly [
    name: string,
    url: string | undefined,
    password: string | undefined,
  ])[],
): PostgresParts {
  const set = servers.flatMap(([name, url, password]) =>
    url === undefined ? [] : [{ name, url: new URL(url), password }],
  );
  return {
    databases: Object.fromEntries(
      set.map(({ name, url, password }) => [name, databaseOf(name, url, password)]),
    ),
    endpoints: Object.fromEntries(
      set.map(({ name, url }) => [name, { url: `postgres://${url.host}` }]),
    ),
  };
}

function databaseOf(endpoint: string, url: URL, password: string | undefined): Database {
  const own = url.password === "" ? undefined : decodeURIComponent(url.password);
  const mode = url.searchParams.get("sslmode") ?? "disable";
  return {
    endpoint,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    user: decodeURIComponent(url.username) || "postgres",
    password: password ?? own,
    database: decodeURIComponent(url.pathname.slice(1)) || "postgres",
    tls: mode === "disable" ? "off" : mode.startsWith("verify") ? "verified" : "unverified",
  };
}
