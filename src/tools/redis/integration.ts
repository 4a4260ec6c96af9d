import * as z from "zod";
import { fromEnv, fromYaml } from "../../core/settings.ts";
import { ONLY, proofsOf } from "../instances.ts";
import { defineIntegration } from "../integration.ts";
import type { Target } from "./client.ts";

const FORM = "redis://user:password@host:6379/0";

const address = z
  .string()
  .trim()
  .refine((text) => {
    const { protocol = "", hostname = "", pathname = "" } = URL.parse(text) ?? {};
    return /^rediss?:$/.test(protocol) && hostname !== "" && /^\/?\d{0,5}$/.test(pathname);
  }, `expected ${FORM}, or rediss://… for TLS`);

const server = z.strictObject({
  url: address.describe("`redis://user@host:6379/0`, without the password."),
  password: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, "expected the name of an environment variable such as CACHE_PASSWORD")
    .optional()
    .describe("The variable that holds the password."),
});

/** Redis 6 and newer, and what speaks its protocol: memory, slow commands, replication, persistence, large keys. */
export const redis = defineIntegration({
  name: "redis",
  settings: z.object({
    // REDIS_URL is the program's own store.
    url: fromEnv(
      "REDIS_TARGET_URL",
      address.optional(),
      `A Redis to look at, \`${FORM}\`. Not the bot's own store, which \`REDIS_URL\` names.`,
      { secret: true, unset: "its tools are not offered" },
    ),
    named: fromYaml(
      "integrations.redis",
      z
        .record(
          z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "expected a short name such as prod"),
          server,
        )
        .default({}),
      "Several of them: `<name>: { url, password }`; `password` is the name of a variable.",
    ),
  }),
  variables: ({ named }) =>
    Object.values(named).flatMap(({ password }) => (password === undefined ? [] : [password])),
  unavailable: ({ url, named }) =>
    url === undefined && Object.keys(named).length === 0
      ? "REDIS_TARGET_URL is not set, and integrations.redis names no server"
      : undefined,
  async tools({ url, named }, { variable }) {
    const { createDiagnose } = await import("./diagnose.ts");
    const targets = [
      ...(url === undefined ? [] : [targetOf(ONLY, url, undefined)]),
      ...Object.entries(named).map(([name, { url: at, password }]) =>
        targetOf(name, at, password && variable(password)),
      ),
    ];
    return [createDiagnose(Object.fromEntries(targets.map((each) => [each.endpoint, each])))];
  },
  proofs: ({ url, named }) =>
    proofsOf(
      "redis",
      { ...(url !== undefined && { [ONLY]: url }), ...named },
      { tool: "redis_diagnose", args: {} },
    ),
});

export function targetOf(endpoint: string, text: string, password: string | undefined): Target {
  const url = new URL(text);
  const own = url.password === "" ? undefined : decodeURIComponent(url.password);
  return {
    endpoint,
    name: url.host,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    tls: url.protocol === "rediss:",
    user: url.username === "" ? undefined : decodeURIComponent(url.username),
    password: password ?? own,
    database: url.pathname.slice(1) || "0",
  };
}
