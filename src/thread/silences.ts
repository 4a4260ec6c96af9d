import type { AlertFields, Entry, JsonObject } from "../core/entry.ts";
import { askerIn, type Thread } from "./state.ts";
import { argsOf, type Call } from "./call.ts";
import type { Silence } from "./shown-living.ts";

/** Silences that were made from a thread, and when they end. */

/** The tool that silences alerts of Alertmanager. */
export const SILENCE = "alertmanager_silence";
const EXPIRE = "alertmanager_expire_silence";
/** Label `alertname` and the others as a matcher of Alertmanager's names them. */
const EQUALS = /^\s*([a-zA-Z_]\w*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^"~].*?)?)\s*$/s;
/** Silences that ended, for who looks back. */
const MAX_ENDED = 20;

/** What a call that is done did to silences. */
export function noteSilence(thread: Thread, call: Call, entry: Entry<"tool_finished">): void {
  if (entry.outcome !== "ok") return;
  if (call.tool === EXPIRE) return end(thread, byId(thread, argsOf(call)["id"]), entry);
  const { id, until } = entry.undo?.args ?? {};
  if (call.tool !== SILENCE || entry.undo?.tool !== EXPIRE) return;
  if (typeof id !== "string" || typeof until !== "number") return;
  const matchers = matchersOf(argsOf(call));
  const by = askerOf(thread, call);
  const approvedBy = (call.action?.votes ?? [])
    .filter(({ approve, name }) => approve && name !== by)
    .map(({ name }) => name);
  const when = { until, since: entry.at, endedAt: undefined };
  const made = { call: call.call, id, matchers, ...when, by, approvedBy };
  thread.silences.set(call.call, made);
  touchAlerts(thread, made, entry.seq);
  const ended = [...thread.silences.values()].filter(({ endedAt }) => endedAt !== undefined);
  const [oldest] = ended;
  if (!thread.keepsAll && oldest !== undefined && ended.length > MAX_ENDED)
    thread.silences.delete(oldest.call);
}

function askerOf({ runs }: Thread, { run }: Call): string | undefined {
  const asked = runs.get(run);
  return asked && askerIn(asked)?.name;
}

/** Its time is over. */
export function noteSilenceOver(thread: Thread, entry: Entry<"timer">): void {
  const silence = thread.silences.get(entry.silence ?? "");
  if (silence !== undefined) end(thread, silence, entry);
}

function end(
  thread: Thread,
  silence: Silence | undefined,
  { at, seq }: Pick<Entry, "at" | "seq">,
): void {
  if (silence === undefined || silence.endedAt !== undefined) return;
  silence.endedAt = Math.min(at, silence.until);
  touchAlerts(thread, silence, seq);
}

function byId({ silences }: Thread, id: unknown): Silence | undefined {
  return [...silences.values()].findLast((each) => each.id === id && each.endedAt === undefined);
}

function matchersOf({ matchers }: JsonObject): string[] {
  const texts = Array.isArray(matchers) ? matchers : [matchers];
  return texts.filter((each) => typeof each === "string");
}

function touchAlerts({ alerts }: Thread, silence: Silence, seq: number): void {
  for (const each of alerts.values())
    if (each.state.alerts.some((alert) => isSilenced(alert, silence))) each.touched = seq;
}

/** Those that have not ended. */
export function silencesIn({ silences }: Thread): Silence[] {
  return [...silences.values()].filter(({ endedAt }) => endedAt === undefined);
}

/** The silence that hides an alert for longest; undefined: none does that is known here. */
export function hiddenBy(thread: Thread, alert: AlertFields): Silence | undefined {
  const holding = silencesIn(thread).filter((each) => isSilenced(alert, each));
  return holding.toSorted((a, b) => b.until - a.until)[0];
}

/** Sure to be hidden by it. Of what is no plain equality nobody knows here. */
export function isSilenced({ labels }: AlertFields, { matchers }: Silence): boolean {
  return (
    matchers.length > 0 &&
    matchers.every((matcher) => {
      const [, name, quoted, bare = ""] = EQUALS.exec(matcher) ?? [];
      return name !== undefined && (labels[name] ?? "") === (unescaped(quoted) ?? bare);
    })
  );
}

function unescaped(quoted: string | undefined): string | undefined {
  return quoted?.replaceAll(/\\(.)/gs, (_, character: string) =>
    character === "n" ? "\n" : character,
  );
}

/** What a silence of exactly these alerts would match: those of one name, by all labels that they share. Undefined: none can be made. */
export function matchersFor(alerts: readonly AlertFields[]): string[] | undefined {
  const [first] = alerts;
  const name = first?.labels["alertname"];
  if (name === undefined) return undefined;
  const same = alerts.filter(({ labels }) => labels["alertname"] === name);
  const shared = Object.entries(first?.labels ?? {}).filter(([label, value]) =>
    same.every(({ labels }) => labels[label] === value),
  );
  const isWritable = shared.every(
    ([label, value]) => /^[a-zA-Z_]\w*$/.test(label) && value.length < MAX_VALUE && value !== "",
  );
  if (!isWritable || shared.length > MAX_MATCHERS) return undefined;
  return shared.map(([label, value]) => `${label}="${escaped(value)}"`);
}

/** A longer value was cut, and Alertmanager's tool takes no more matchers. */
const MAX_VALUE = 300;
const MAX_MATCHERS = 20;

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
