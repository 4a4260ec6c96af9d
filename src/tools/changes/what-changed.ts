import * as z from "zod";
import { BotError, messageOf } from "../../core/errors.ts";
import type { Finding, Gap } from "../../core/finding.ts";
import { formatElapsed, formatUtc, type Here } from "../../core/instant.ts";
import { nearest } from "../../core/nearest.ts";
import { readPast } from "../../core/past.ts";
import { counted, inQuotes } from "../../core/text.ts";
import {
  aroundMoment,
  type Change,
  changeLine,
  type Changes,
  type ChangeSource,
  type Window,
} from "../change.ts";
import { hostArgument } from "../host/host-argument.ts";
import { clip } from "../labels.ts";
import { hereOf, sinceArgument } from "../since.ts";
import { defineTool, type ToolContext } from "../tool.ts";

const MAX_ROWS = 30;
const MAX_SUSPECTS = 5;
/** One system that hangs must not keep what the others know. */
const SOURCE_MS = 25_000;
const HOUR_MS = 3_600_000;
/** Clocks differ, and what breaks a thing may be written down a moment after it. */
const CLOCK_MS = 60_000;
/** A change counts half as much each time that this has gone by until it broke. */
const HALF_MS = 30 * 60_000;

export function createWhatChanged(sources: readonly ChangeSource[], limitMs = SOURCE_MS) {
  const endpoints = Object.fromEntries(
    sources.flatMap(({ name, endpoints: own }) =>
      Object.entries(own).map(([key, endpoint]) => [`${name} ${key}`, endpoint]),
    ),
  );
  const known = sources.map(({ name }) => name).join(", ");
  return defineTool({
    name: "what_changed",
    summary: "shows what changed before something broke: rollouts, deploys, packages, restarts",
    description: `What changed, over everything that is configured (${known}): the most suspect first, then all by time, before and after it broke. The first call when something that worked stopped working.`,
    input: z.strictObject({
      since: sinceArgument.default("6h").describe("How long before it broke: 2h, 1d, or a time"),
      service: z.string().min(1).max(100).optional().describe("Whose changes count most"),
      broke_at: sinceArgument
        .optional()
        .describe("When it broke; left out: when the thread's newest incident began, else now"),
      host: hostArgument,
    }),
    effect: "read",
    hostBound: true,
    endpoints,
    timeoutMs: 60_000,
    doing: ({ service }) =>
      `Looking for what changed${service === undefined ? "" : ` around ${service}`}`,
    async run({ since, service, broke_at: written }, ctx) {
      const here = await hereOf(ctx);
      const { now } = here;
      const broke = await breakOf(written, sources, ctx, here);
      const from = await readPast(since, { ...here, now: broke.at });
      if (from >= broke.at)
        throw new BotError("INPUT_INVALID", "since: expected a time before it broke.");
      const window = { from, to: broke.isKnown ? Math.min(now, broke.at + HOUR_MS) : now };
      const seen = await Promise.all(
        sources.map((source) => askSource(source, window, ctx, limitMs)),
      );
      const changes = seen.flatMap((each) => each.changes);
      const gaps = seen.flatMap((each) => each.gaps);
      const told = suspectsOf(changes, broke.at, service)
        .filter(({ isLive }) => isLive)
        .map((change) => findingOf(change, broke.at));
      return { text: reportOf(changes, { broke, window, service }, ctx), told, gaps };
    },
  });
}

interface Broke {
  /** ms since 1970. */
  at: number;
  isKnown: boolean;
  /** Where that is from. */
  source: string;
}

async function breakOf(
  written: string | undefined,
  sources: readonly ChangeSource[],
  ctx: ToolContext,
  here: Here,
): Promise<Broke> {
  if (written !== undefined)
    return { at: await readPast(written, here), isKnown: true, source: "" };
  const known = await Promise.all(sources.map(async (each) => each.brokeAt?.(ctx)));
  const first = known.find((each) => each !== undefined);
  if (first !== undefined) return { at: first.at, isKnown: true, source: ` (${first.source})` };
  return { at: here.now, isKnown: false, source: "" };
}

/** What it cannot say is a gap. */
async function askSource(
  { name, changes }: ChangeSource,
  window: Window,
  ctx: ToolContext,
  limitMs: number,
): Promise<Changes> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const why = `it took longer than ${limitMs / 1_000} s`;
    timer = setTimeout(() => {
      reject(new BotError("TIMEOUT", why));
    }, limitMs);
  });
  const own: ToolContext = {
    ...ctx,
    http: (call) => ctx.http({ ...call, endpoint: `${name} ${call.endpoint ?? ""}` }),
  };
  try {
    return await Promise.race([changes(window, own), tooLong]);
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    const why = messageOf(error).replace(/\.$/, "");
    const gap: Gap = { what: `changes of ${name}`, why, help: "Ask again, or for a shorter time." };
    return { changes: [], gaps: [gap] };
  } finally {
    clearTimeout(timer);
  }
}

function reportOf(
  changes: readonly Change[],
  { broke, window, service }: { broke: Broke; window: Window; service: string | undefined },
  { encoder }: ToolContext,
): string {
  const span = `from ${formatUtc(window.from)} to ${formatUtc(window.to)}`;
  const when = broke.isKnown ? `; it broke ${formatUtc(broke.at, "second")}${broke.source}` : "";
  const line = (change: Change) => clip(changeLine(change, broke.at), 400, encoder);
  const head = `${counted(changes.length, "change")} ${span}${when}.`;
  if (changes.length === 0) return head;
  const suspects = suspectsOf(changes, broke.at, service);
  const ordered = aroundMoment(changes, broke.at).filter((change) => !suspects.includes(change));
  const shown = ordered.slice(0, MAX_ROWS);
  const unnamed =
    service !== undefined && !changes.some((change) => isOf(change, service))
      ? [unnamedText(service, changes)]
      : [];
  return [
    head,
    ...unnamed,
    ...(suspects.length === 0 ? [] : ["Most suspect first:"]),
    ...suspects.map((change, index) => `${index + 1}. ${line(change)}`),
    ...(shown.length === 0 ? [] : ["The others, by time:"]),
    ...shown.map((change) => `- ${line(change)}`),
    ...(ordered.length > shown.length ? [`and ${ordered.length - shown.length} more`] : []),
  ].join("\n");
}

/** What came before it broke: the later, the more it changed what runs, and of the same service. */
function suspectsOf(
  changes: readonly Change[],
  moment: number,
  service: string | undefined,
): Change[] {
  const weight = (change: Change) => {
    const near = 2 ** (-Math.max(0, moment - change.at) / HALF_MS);
    return near * (change.isLive ? 2 : 1) * (isOf(change, service) ? 4 : 1);
  };
  return changes
    .filter(({ at }) => at <= moment + CLOCK_MS)
    .toSorted((a, b) => weight(b) - weight(a))
    .slice(0, MAX_SUSPECTS);
}

function isOf(change: Change, service: string | undefined): boolean {
  return service === undefined || concerns(change, service);
}

/** A change is nothing broken; what it is near to may be. */
function findingOf({ at, where, text }: Change, moment: number): Finding {
  const distance = formatElapsed(Math.abs(moment - at));
  return {
    object: { kind: "Change", namespace: "", name: where },
    cause: text,
    severity: "info",
    evidence: `${distance} ${at <= moment ? "before" : "after"} it broke`,
    since: new Date(at).toISOString(),
  };
}

/** By the names that it is about: `shop` is meant by `shop`, `shop-web` and `prod/deployment/shop`. */
function concerns({ about }: Change, service: string): boolean {
  const name = service.toLowerCase();
  return about.some((each) => {
    const words = each.toLowerCase();
    return words === name || words.split("/").includes(name) || words.startsWith(`${name}-`);
  });
}

function unnamedText(service: string, changes: readonly Change[]): string {
  const names = [...new Set(changes.flatMap(({ about }) => about))];
  const near = nearest(service, names);
  const meant = near.length === 0 ? "" : ` Did you mean ${near.join(", ")}?`;
  return `Nothing that changed is of ${inQuotes(service)}.${meant}`;
}
