import type { PlatformNames } from "../core/name-forms.ts";
import { AGENT } from "../core/people.ts";
import { discord } from "./discord/platform.ts";
import type { Platform } from "./platform.ts";
import { slack } from "./slack/platform.ts";
import { terminalNames } from "./terminal/names.ts";

/** Every chat platform: one line for each. */
export const PLATFORMS: readonly Platform[] = [slack, discord];

/** Agents that ask by HTTP: their threads are a chat's or the terminal's. */
const agentNames: PlatformNames = {
  account: { shown: AGENT, pattern: new RegExp(`^${AGENT}$`) },
  channels: [],
};

/** How each platform, the terminal and agents name people and places. */
export const PLATFORM_NAMES: readonly PlatformNames[] = [
  ...PLATFORMS.map(({ names }) => names),
  terminalNames,
  agentNames,
];
