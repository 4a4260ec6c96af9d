import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Logger } from "pino";
import { isBotError, messageOf } from "../../core/errors.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../../core/http-route.ts";
import { oneLine } from "../../core/text.ts";
import type { Vault } from "../adapter.ts";
import { createApi } from "./api.ts";
import type { Granted, Installation, Installations, InstallOptions } from "./installations.ts";
import * as phrases from "./install-phrases.ts";
import { INSTALL_PATH, SCOPES } from "./scopes.ts";

const CALLBACK_PATH = "/slack/oauth";
const COOKIE = "watchkeeper_slack_install";
const STATE_MS = 600_000;

export interface InstallRouteParts extends InstallOptions {
  apiUrl: string | undefined;
  log: Logger;
  now?: (() => number) | undefined;
}

/** What is there once the platform is started. */
export interface Installing {
  vault: Pick<Vault, "once">;
  installations: Installations;
  /** It is in the store: from now on it is served. */
  onInstalled(installation: Installation): Promise<void>;
}

/** What Slack gives back unchanged: signed, for ten minutes, one browser and one use. */
function createStates({ clientSecret, now = Date.now }: InstallRouteParts) {
  const signed = (text: string) =>
    createHmac("sha256", clientSecret).update(`slack install ${text}`).digest("base64url");
  return {
    make(): string {
      const text = `${randomBytes(24).toString("base64url")}.${now() + STATE_MS}`;
      return `${text}.${signed(text)}`;
    },
    /** Why it is not one that this browser was given for this, or undefined: then it is used up. */
    async whyNot(state: string, headers: HttpRequest["headers"], vault: Installing["vault"]) {
      const [nonce = "", until = "", signature = ""] = state.split(".");
      const given = cookiesIn(headers).get(COOKIE) ?? "";
      const isOurs = isSame(signature, signed(`${nonce}.${until}`)) && isSame(state, given);
      if (!isOurs) return phrases.OTHER_BROWSER;
      if (Number(until) < now()) return phrases.TOO_LATE;
      return (await vault.once(`slack-install:${nonce}`)) ? undefined : phrases.USED;
    },
  };
}

/**
 * How a workspace's administrator installs the app: `INSTALL_PATH` leads to Slack, which comes back with a code. Both answer 503
 * until `installing` is there.
 */
export function createInstallRoutes(
  parts: InstallRouteParts,
  installing: () => Installing | undefined,
): HttpRoute[] {
  const { clientId, workspaces, apiUrl, log } = parts;
  const states = createStates(parts);

  function begin(): HttpReply {
    const state = states.make();
    const url = new URL("/oauth/v2/authorize", apiUrl ?? "https://slack.com");
    const [team, ...others] = workspaces;
    url.search = new URLSearchParams({
      client_id: clientId,
      scope: SCOPES.join(","),
      state,
      ...(team !== undefined && others.length === 0 && { team }),
    }).toString();
    const headers = { location: url.href, ...cookie(state, STATE_MS / 1_000) };
    return { status: 302, headers: { ...HEADERS, ...headers } };
  }

  /** A token that is of no use here is given back. */
  async function giveBack({ access_token: token }: Granted): Promise<void> {
    const api = createApi({ apiUrl, log, token, variable: "SLACK_CLIENT_ID" });
    await api
      .ask("auth.revoke", (client) => client.auth.revoke({}))
      .catch((error: unknown) => log.warn({ err: error }, "a refused token was not revoked"));
  }

  async function finish(code: string, here: Installing): Promise<HttpReply> {
    const given = await here.installations.access({ code });
    const { team, is_enterprise_install } = given;
    const isWelcome = !is_enterprise_install && team != null && workspaces.includes(team.id);
    if (!isWelcome) {
      await giveBack(given);
      log.warn({ team: team?.id, enterprise: given.enterprise?.id }, "an installation was refused");
      if (is_enterprise_install || team == null) return page(403, phrases.ORG_WIDE);
      return page(403, phrases.notWelcome(oneLine(team.name ?? ""), team.id));
    }
    const { id, name = id } = team;
    const installation = await here.installations.put(id, oneLine(name), given);
    try {
      await here.onInstalled(installation);
    } catch (error) {
      if (!isBotError(error)) throw error;
      log.error({ err: error, team: id }, "a workspace was installed and is not connected yet");
      return page(200, phrases.installedLater(name, messageOf(error)));
    }
    return page(200, phrases.installed(name));
  }

  async function callBack(request: HttpRequest, here: Installing): Promise<HttpReply> {
    const { query, headers } = request;
    const problem = await states.whyNot(query.get("state") ?? "", headers, here.vault);
    if (problem !== undefined) return page(400, problem);
    const code = query.get("code");
    if (code === null) return page(400, phrases.cancelled(oneLine(query.get("error") ?? "")));
    return finish(code, here);
  }

  const route = (
    path: string,
    answer: (request: HttpRequest, here: Installing) => Promise<HttpReply>,
  ) =>
    ({
      method: "GET",
      path,
      async handle(request) {
        const here = installing();
        if (here === undefined) return page(503, phrases.NOT_READY);
        try {
          return await answer(request, here);
        } catch (error) {
          log.error({ err: error }, "an installation failed");
          return page(502, phrases.failed(isBotError(error) ? messageOf(error) : ""));
        }
      },
    }) satisfies HttpRoute;

  return [route(INSTALL_PATH, async () => begin()), route(CALLBACK_PATH, callBack)];
}

const HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

/** Plain words: nothing that Slack or a query says is markup. The state is used up. */
function page(status: number, text: string): HttpReply {
  const type = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status, text: `${text}\n`, headers: { ...HEADERS, ...type, ...cookie("", 0) } };
}

function cookie(value: string, seconds: number): Record<string, string> {
  const rules = "Path=/slack; HttpOnly; Secure; SameSite=Lax";
  return { "set-cookie": `${COOKIE}=${value}; Max-Age=${seconds}; ${rules}` };
}

function cookiesIn(headers: HttpRequest["headers"]): Map<string, string> {
  const pairs = String(headers["cookie"] ?? "").split(/;\s*/);
  return new Map(
    pairs.map((pair): [string, string] => {
      const [name = "", ...value] = pair.split("=");
      return [name, value.join("=")];
    }),
  );
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length > 0 && a.length === b.length && timingSafeEqual(a, b);
}
