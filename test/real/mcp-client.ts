import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { JsonObject } from "../../src/core/entry.ts";
import { isBotError } from "../../src/core/errors.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { createNetwork } from "../../src/net/dial.ts";
import { createSecretKeys } from "../../src/team/secret-keys.ts";
import { createSecrets } from "../../src/team/secrets.ts";
import { logIn } from "../../src/tools/mcp/login.ts";
import { createServer, httpServer } from "../../src/tools/mcp/servers.ts";
import { serverSettings } from "../../src/tools/mcp/settings.ts";
import { createLaunch } from "../../src/tools/process.ts";

/**
 * Our MCP client for `@modelcontextprotocol/conformance`, which says what to do by environment and appends the server's address:
 * `npx @modelcontextprotocol/conformance client --command "node test/real/mcp-client.ts" --suite auth`
 */

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = z
  .object({ client_id: z.string().optional(), client_secret: z.string().optional() })
  .parse(JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}"));

/** The runner's authorization servers listen on loopback, at ports that it only tells by its metadata. */
const MAX_LOGINS = 2;

const folder = await mkdtemp(join(tmpdir(), "mcp-client-"));
const journal = await openSqliteJournal({ path: join(folder, "db") });
const file = join(folder, "key");
const secrets = createSecrets(
  journal,
  createSecretKeys({ secret: undefined, older: undefined, file }),
);
const stopped = new AbortController();
const named = new Set<string>();

function settings() {
  const oauth = {
    servers: [...named],
    ...(scenario.includes("client-credentials") && { grant: "client_credentials" }),
    ...(context.client_id !== undefined && { client: context.client_id }),
    ...(context.client_secret !== undefined && { secret: "CLIENT_SECRET" }),
  };
  return serverSettings.parse({ url, ...(scenario.startsWith("auth/") && { oauth }) });
}

const parts = {
  network: () => createNetwork({ allow: [], local: true }),
  secrets: () => secrets,
  variable: () => context.client_secret ?? "",
  launch: createLaunch(),
  stopped: stopped.signal,
};

async function enter(): Promise<void> {
  const { login } = httpServer("server", settings(), parts);
  if (login === undefined || login.settings.grant !== "authorization_code") return;
  await logIn({
    ...login,
    redirectUrl: "http://127.0.0.1:8931/callback",
    permit: async () => false,
    async signIn(address) {
      const { headers } = await fetch(address, { redirect: "manual" });
      return new URL(headers.get("location") ?? "");
    },
    signal: AbortSignal.timeout(20_000),
  });
}

/** As an operator who names in the yaml what the error says. */
async function naming<T>(work: () => Promise<T>): Promise<T> {
  for (let times = 0; ; times += 1) {
    try {
      return await work();
    } catch (error) {
      const [, origin] =
        /leads to (http:\/\/(?:localhost|127\.0\.0\.1):\d+)/.exec(String(error)) ?? [];
      if (origin === undefined || named.has(origin) || times > MAX_LOGINS) throw error;
      named.add(origin);
    }
  }
}

try {
  if (scenario.startsWith("auth/")) await naming(enter);
  for (let logins = 0; ; logins += 1) {
    try {
      await naming(async () => {
        const { session } = createServer("server", settings(), parts);
        const signal = AbortSignal.timeout(25_000);
        const { tools } = await session.list(signal);
        for (const [name, form] of tools) {
          const schema = z
            .object({
              properties: z
                .record(z.string(), z.object({ type: z.string().optional() }))
                .default({}),
            })
            .parse(form["inputSchema"]);
          const args: JsonObject = Object.fromEntries(
            Object.entries(schema.properties).map(([key, { type }]) => [
              key,
              type === "number" ? 2 : "x",
            ]),
          );
          await session.call(name, args, { signal, timeoutMs: 20_000 });
        }
        await session.close();
      });
      break;
    } catch (error) {
      const wantsLogin = isBotError(error, "NOT_AVAILABLE") && error.message.includes("mcp login");
      if (!wantsLogin || logins >= MAX_LOGINS) throw error;
      await naming(enter);
    }
  }
} finally {
  stopped.abort();
  await journal.close();
  await rm(folder, { recursive: true });
}
