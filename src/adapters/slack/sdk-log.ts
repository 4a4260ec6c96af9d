import { LogLevel, type webApi } from "@slack/bolt";
import type { Logger } from "pino";

type SdkLogger = NonNullable<webApi.WebClientOptions["logger"]>;

/** Tokens, and the addresses of Socket Mode's connections, which are tokens themselves. */
const SECRETS = /\bx(?:ox[a-z]|app)-[\w.%-]+|\bwss?:\/\/\S+|(?<=\bticket=)[\w%-]+/g;

/**
 * Slack's libraries log here. Their debug lines hold people's messages and connection addresses, so they are dropped.
 */
export function createSdkLogger(log: Logger): SdkLogger {
  const shown = (parts: unknown[]) => parts.map(String).join(" ").replaceAll(SECRETS, "[hidden]");
  return {
    debug: () => {},
    info: (...parts: unknown[]) => log.debug(shown(parts)),
    warn: (...parts: unknown[]) => log.debug(shown(parts)),
    error: (...parts: unknown[]) => log.warn(shown(parts)),
    setLevel: () => {},
    getLevel: () => LogLevel.INFO,
    setName: () => {},
  };
}
