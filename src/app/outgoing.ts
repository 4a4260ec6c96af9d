import type { Config } from "../config/config.ts";
import { outgoingPart } from "../config/outgoing.ts";
import { settingsOf } from "../core/settings.ts";
import { PROXY_VARIABLES, proxyEnvironment } from "../net/proxy.ts";

/**
 * Has everything that connects to other machines do so as configured. The environment carries it to them: a proxy's address may come from a
 * file (`HTTPS_PROXY_FILE`). `env` is this process's; `known`: the authorities' file that Node has read when it started.
 * @throws BotError CONFIG_INVALID when the authorities cannot be read
 */
export async function connectAsConfigured(
  { values }: Pick<Config, "values">,
  known: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  for (const name of PROXY_VARIABLES) {
    const value = values[name];
    if (typeof value === "string") env[name] = value;
  }
  const { authorities } = settingsOf(outgoingPart, values);
  if (authorities === undefined) return;
  const { readAuthorities, trustAuthorities } = await import("../net/authorities.ts");
  const certificates = readAuthorities(authorities);
  if (authorities !== known) await trustAuthorities(certificates);
}

/** The same for git, which is a program of its own. */
export function outgoingOfGit(values: Config["values"]): {
  env: Record<string, string>;
  authorities?: () => Promise<string>;
} {
  const { httpsProxy, httpProxy, noProxy, authorities } = settingsOf(outgoingPart, values);
  const env = proxyEnvironment({
    HTTPS_PROXY: httpsProxy,
    HTTP_PROXY: httpProxy,
    NO_PROXY: noProxy,
  });
  if (authorities === undefined) return { env };
  return {
    env,
    async authorities() {
      const { allAuthorities, readAuthorities } = await import("../net/authorities.ts");
      return allAuthorities(readAuthorities(authorities));
    },
  };
}
