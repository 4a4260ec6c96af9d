import type { Gap } from "../core/finding.ts";
import { formatElapsed, formatUtc } from "../core/instant.ts";
import type { Endpoint } from "./http.ts";
import type { ToolContext } from "./tool.ts";

/** Something that changed somewhere, as whoever looks for a cause wants to know it. */
export interface Change {
  /** ms since 1970. */
  at: number;
  /** Where, such as `github acme/shop`. */
  where: string;
  /** What, in one line without secrets. */
  text: string;
  /** Who did it, where that is known. */
  by?: string | undefined;
  /** What it is about, by names that services may have: a repository, a workload, a unit. */
  about: readonly string[];
  /** It changed what runs, rather than what will be built of it. */
  isLive: boolean;
}

/** From when until when, ms since 1970. */
export interface Window {
  from: number;
  to: number;
}

export interface Changes {
  changes: Change[];
  gaps: Gap[];
}

/** A system that knows what changed in it. `what_changed` asks all of them. */
export interface ChangeSource {
  /** Such as `github`. */
  name: string;
  /** The servers that it asks, by the names that it asks them by. */
  endpoints: Readonly<Record<string, Endpoint>>;
  /** It throws when nothing at all can be seen. */
  changes(window: Window, ctx: ToolContext): Promise<Changes>;
  /** When what the call's thread is about began, ms since 1970, and what says so; undefined: it does not know. */
  brokeAt?(ctx: ToolContext): Promise<{ at: number; source: string } | undefined>;
}

/** `2026-11-23 01:30:05 UTC, 4 min before: github acme/shop: merged #12 "Faster" by ana` */
export function changeLine({ at, where, text, by }: Change, moment: number): string {
  const distance = formatElapsed(
    Math.max(1_000, Math.round(Math.abs(moment - at) / 1_000) * 1_000),
  );
  const when = `${formatUtc(at, "second")}, ${distance} ${at <= moment ? "before" : "after"}`;
  return `${when}: ${where}: ${text}${by === undefined ? "" : ` by ${by}`}`;
}

/** The last before the moment first, then those after it, as they came. */
export function aroundMoment(changes: readonly Change[], moment: number): Change[] {
  const before = changes.filter(({ at }) => at <= moment).toSorted((a, b) => b.at - a.at);
  const after = changes.filter(({ at }) => at > moment).toSorted((a, b) => a.at - b.at);
  return [...before, ...after];
}
