import type { Logger } from "pino";
import * as z from "zod";
import { BotError, isBotError } from "../../core/errors.ts";
import { tryJson } from "../../core/json.ts";
import type { Vault } from "../adapter.ts";
import { createApi } from "./api.ts";

/** The app's own credentials, and the workspaces that may install it. */
export interface InstallOptions {
  clientId: string;
  clientSecret: string;
  /** Their ids. Whoever finds the address could install the app anywhere. */
  workspaces: readonly string[];
}

const record = z.strictObject({
  team: z.string(),
  name: z.string(),
  token: z.string(),
  /** Where the app rotates its tokens: what the next one is asked with, and until when this one holds, ms since 1970. */
  refresh: z.string().optional(),
  expiresAt: z.number().optional(),
});
export type Installation = z.infer<typeof record>;

/** `oauth.v2.access`: of a bot's token, first or renewed. */
const granted = z.object({
  access_token: z.string(),
  token_type: z.literal("bot"),
  refresh_token: z.string().optional(),
  expires_in: z.number().optional(),
  is_enterprise_install: z.boolean().default(false),
  team: z.object({ id: z.string(), name: z.string().optional() }).nullish(),
  enterprise: z.object({ id: z.string(), name: z.string().optional() }).nullish(),
});
export type Granted = z.infer<typeof granted>;

const PREFIX = "slack:";
/** A token lives for 12 hours; as Slack's own libraries do, another one is asked for two hours before. */
const RENEW_MS = 7_200_000;
/** A renewal that fails is not tried again at once while the old token holds. */
const RETRY_MS = 60_000;

export interface InstallationParts extends InstallOptions {
  vault: Vault;
  apiUrl: string | undefined;
  log: Logger;
  now?: (() => number) | undefined;
}

export type Installations = ReturnType<typeof createInstallations>;

/** What `oauth.v2.access` gives for a code or a refresh token. Throws what `Api.ask` throws. */
function createAccess({ clientId, clientSecret, apiUrl, log }: InstallationParts) {
  const api = createApi({ apiUrl, log, token: undefined, variable: "SLACK_CLIENT_SECRET" });
  const own = { client_id: clientId, client_secret: clientSecret };
  return async (args: { code: string } | { refresh_token: string }): Promise<Granted> => {
    const kind = "code" in args ? "authorization_code" : "refresh_token";
    const asked = { ...own, ...args, grant_type: kind } as const;
    const answer = await api.ask("oauth.v2.access", (client) => client.oauth.v2.access(asked));
    const read = granted.safeParse(answer);
    if (read.success) return read.data;
    throw new BotError("PLATFORM_REFUSED", "Slack gave no bot's token. Is the app this one?");
  };
}

/** The records in the store, and as this process read them last. */
function createRecords({ vault, log, now = Date.now }: InstallationParts) {
  const held = new Map<string, Installation>();

  async function find(team: string): Promise<Installation | undefined> {
    const { value } = await vault.read(PREFIX + team);
    const read = value === undefined ? undefined : record.safeParse(tryJson(value)).data;
    if (read === undefined) held.delete(team);
    else held.set(team, read);
    return read;
  }

  async function write(team: string, value: string | undefined): Promise<void> {
    let isWritten = false;
    while (!isWritten) {
      const { version } = await vault.read(PREFIX + team);
      isWritten = await vault.write(PREFIX + team, value, version);
    }
  }

  return {
    find,
    known: async (team: string) => held.get(team) ?? (await find(team)),
    async put(team: string, name: string, given: Granted): Promise<Installation> {
      const { access_token: token, refresh_token: refresh, expires_in } = given;
      const expiresAt = expires_in === undefined ? undefined : now() + expires_in * 1_000;
      const made: Installation = {
        team,
        name,
        token,
        ...(refresh !== undefined && { refresh }),
        ...(expiresAt !== undefined && { expiresAt }),
      };
      await write(team, JSON.stringify(made));
      held.set(team, made);
      return made;
    },
    /** Those that can be read. */
    async all(): Promise<Installation[]> {
      const found: Installation[] = [];
      for (const name of await vault.names(PREFIX)) {
        try {
          const one = await find(name.slice(PREFIX.length));
          if (one !== undefined) found.push(one);
        } catch (error) {
          if (!isBotError(error)) throw error;
          log.error({ err: error, team: name }, "a workspace's tokens cannot be read");
        }
      }
      return found;
    },
    async remove(team: string): Promise<void> {
      await write(team, undefined);
      held.delete(team);
    },
  };
}

/** The workspaces in which the app is installed, with their tokens: encrypted in the store, for any number of processes. */
export function createInstallations(parts: InstallationParts) {
  const { vault, log, now = Date.now } = parts;
  const access = createAccess(parts);
  const { known, ...records } = createRecords(parts);
  const renewing = new Map<string, Promise<string>>();
  /** When a renewal failed last. */
  const failed = new Map<string, number>();

  const isFresh = ({ refresh, expiresAt }: Installation, forMs: number) =>
    refresh === undefined || expiresAt === undefined || expiresAt - now() > forMs;

  /** One process asks: a refresh token can be used once. */
  async function renew(team: string): Promise<string> {
    return vault.exclusive(PREFIX + team, new AbortController().signal, async () => {
      const found = await records.find(team);
      if (found === undefined) throw notInstalled(team);
      if (found.refresh === undefined || isFresh(found, RENEW_MS)) return found.token;
      const given = await access({ refresh_token: found.refresh });
      return (await records.put(team, found.name, given)).token;
    });
  }

  async function renewed(of: Installation): Promise<string> {
    const { team, token } = of;
    const mayWait = isFresh(of, 0);
    if (mayWait && now() - (failed.get(team) ?? -RETRY_MS) < RETRY_MS) return token;
    const work = renewing.get(team) ?? renew(team).finally(() => renewing.delete(team));
    renewing.set(team, work);
    try {
      return await work;
    } catch (error) {
      if (!mayWait || !isBotError(error)) throw error;
      failed.set(team, now());
      log.warn({ err: error, team }, "a workspace's token could not be renewed yet");
      return token;
    }
  }

  return {
    access,
    ...records,
    /** The workspace's token as it is now. @throws BotError PLATFORM_REFUSED where there is none, or it cannot be renewed */
    async tokenOf(team: string): Promise<string> {
      const found = await known(team);
      if (found === undefined) throw notInstalled(team);
      return isFresh(found, RENEW_MS) ? found.token : renewed(found);
    },
  };
}

function notInstalled(team: string): BotError {
  return new BotError("PLATFORM_REFUSED", `The app isn't installed in the workspace ${team}.`);
}
