import type { Logger } from "pino";
import type { PlatformNames } from "../core/name-forms.ts";
import type { SettingsPart } from "../core/settings.ts";
import type { ChatAdapter } from "./adapter.ts";

/**
 * A chat platform, before anything of it is loaded: a folder below `src/adapters` and a line in `platforms.ts`. Reading the
 * settings and their documentation follow from `settings`.
 */
export interface Platform<S = unknown> extends SettingsPart<S> {
  /** The transport that its keys and accounts begin with; its folder's name. */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  readonly names: PlatformNames;
  /** True when these settings turn it on. */
  serves(settings: S): boolean;
  /** How somebody begins to set it up, a sentence. */
  setUp?(): Promise<string>;
  /** Loads and makes its adapter, not connected yet. */
  create(settings: S, log: Logger): Promise<ChatAdapter>;
}

/** Lets TypeScript infer the type of the settings from their schema. */
export function definePlatform<S>(platform: Platform<S>): Platform<S> {
  return platform;
}
