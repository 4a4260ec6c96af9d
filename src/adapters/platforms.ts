import type { PlatformNames } from "../core/name-forms.ts";
import { discord } from "./discord/platform.ts";
import type { Platform } from "./platform.ts";
import { slack } from "./slack/platform.ts";
import { terminalNames } from "./terminal/names.ts";

/** Every chat platform: one line for each. */
export const PLATFORMS: readonly Platform[] = [slack, discord];

/** How each platform and the terminal name people and places. */
export const PLATFORM_NAMES: readonly PlatformNames[] = [
  ...PLATFORMS.map(({ names }) => names),
  terminalNames,
];
