import * as z from "zod";
import { shortened } from "./text.ts";

/** What tools find, as data: cards, checks, incidents and scripts use it without reading the text. */

const finding = z.strictObject({
  /** `namespace` is empty for what has none. */
  object: z.strictObject({ kind: z.string(), namespace: z.string(), name: z.string() }),
  /** Exactly one, in the system's own words. */
  cause: z.string(),
  /** `error` only for what is broken now. */
  severity: z.enum(["error", "warning", "info"]),
  /** What was seen that shows it. */
  evidence: z.string(),
  /** What would mend it, where the system leaves no doubt. */
  fix: z.string().optional(),
  /** When it began, ISO 8601; null: not known. */
  since: z.string().nullable(),
});

const gap = z.strictObject({
  /** What could not be seen, such as `secrets in namespace shop`. */
  what: z.string(),
  /** Such as `forbidden`, in the system's own words. */
  why: z.string(),
  /** The permission or setting that would help. */
  help: z.string(),
});

/** The most likely first. */
export const findings = z.array(finding);
export const gaps = z.array(gap);

export type Finding = z.infer<typeof finding>;
export type Gap = z.infer<typeof gap>;

/** What is broken comes first. */
export const SEVERITY_RANK: Readonly<Record<Finding["severity"], number>> = {
  error: 0,
  warning: 1,
  info: 2,
};

export function bySeverity(a: Pick<Finding, "severity">, b: Pick<Finding, "severity">): number {
  return SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity];
}

/** Kept of one call; a tool ranks them, so those that are left out matter least. */
const MAX_FINDINGS = 30;
const MAX_GAPS = 20;
/** Of each text in them, in characters: an event's message with its reason fits. */
const MAX_TEXT = 500;

/** As they are kept: each text made safe, on one line and not too long. */
export function keptFindings(found: readonly Finding[], safe: (text: string) => string): Finding[] {
  const clean = cleaner(safe);
  return found.slice(0, MAX_FINDINGS).map(({ object, cause, severity, evidence, fix, since }) => ({
    object: {
      kind: clean(object.kind),
      namespace: clean(object.namespace),
      name: clean(object.name),
    },
    cause: clean(cause),
    severity,
    evidence: clean(evidence),
    ...(fix !== undefined && { fix: clean(fix) }),
    since: since === null ? null : clean(since),
  }));
}

export function keptGaps(missed: readonly Gap[], safe: (text: string) => string): Gap[] {
  const clean = cleaner(safe);
  return missed
    .slice(0, MAX_GAPS)
    .map(({ what, why, help }) => ({ what: clean(what), why: clean(why), help: clean(help) }));
}

function cleaner(safe: (text: string) => string) {
  return (text: string) => {
    // A reason without its message leaves its colon.
    const line = safe(text).replaceAll(/\s+/g, " ").replace(/:? *$/, "").trim();
    return shortened(line, MAX_TEXT);
  };
}

/** `Service shop/web`, `Filesystem web-1:/var` */
export function objectText({ kind, namespace, name }: Finding["object"]): string {
  const separator = name.startsWith("/") ? ":" : "/";
  return `${kind} ${namespace === "" ? "" : `${namespace}${separator}`}${name}`;
}

/**
 * A result with what was found as a numbered list before it and what could not be seen behind it.
 * `showTime` shows a time (ms since 1970) as people read it.
 */
export function withFindings(
  text: string,
  { findings: found, gaps: missed }: { findings: readonly Finding[]; gaps: readonly Gap[] },
  showTime: (instant: number) => string,
): string {
  const list = found.map(({ object, cause, severity, evidence, fix, since }, index) => {
    const level = severity === "error" ? "" : ` (${severity})`;
    const began = Date.parse(since ?? "");
    const begun = Number.isNaN(began) ? "" : `\n   Since ${showTime(began)}`;
    const mend = fix === undefined ? "" : `\n   Fix: ${fix}`;
    return `${index + 1}. ${objectText(object)}${level}: ${cause}\n   ${evidence}${begun}${mend}`;
  });
  const unseen = missed.map(({ what, why, help }) => `Could not see ${what}: ${why}. ${help}`);
  return [list.join("\n"), text, unseen.join("\n")].filter((part) => part !== "").join("\n\n");
}
