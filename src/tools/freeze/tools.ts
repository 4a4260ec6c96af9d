import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { formatUtc, type Here, isoUtc, readMoment, showDuration } from "../../core/instant.ts";
import { nearest } from "../../core/nearest.ts";
import { counted } from "../../core/text.ts";
import { maySeeFreezes, viewerOf } from "../../core/viewer.ts";
import { EVERYTHING, type Freeze, freezeText } from "../../team/freezes.ts";
import type { Freezing } from "../integration.ts";
import { canonical, placesOf } from "../places.ts";
import { refused } from "../refusal.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";

const TOOL_MS = 10_000;
const MINUTE_MS = 60_000;
/** Who freezes for longer forgets it. */
const MAX_MS = 7 * 86_400_000;

const what = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .describe(
    `What is frozen: an instance, a host, a system or another name that arguments have, or ${EVERYTHING}`,
  )
  .meta({ examples: ["prod"] });
const pinnedNow = z.number().optional().meta({ internal: true });

const freezeInput = z.strictObject({
  what,
  until: z
    .string()
    .max(40)
    .describe(
      "14:00 on the asker's clock, 2026-11-20 14:00, an ISO 8601 time, or how long: 2h, 30m",
    )
    .meta({ examples: ["14:00"] }),
  because: z.string().max(300).optional().describe("Why, for whoever waits"),
  /** When it was asked for. */
  from: pinnedNow,
});

/** Freezes something until a time: writes on it wait. */
export function createFreeze(freezing: () => Freezing): Tool {
  return defineTool({
    name: "freeze",
    summary: "makes every write on an instance, a host or everything wait until a time",
    description:
      "Freezes an instance, a host, a system or everything until a time: until then every write on it waits, whoever asks and approves. Reads go on.",
    input: freezeInput,
    effect: "write",
    freezes: true,
    title: ({ what: name, until }) => `Freeze ${name} until ${shownUntil(until)}`,
    timeoutMs: TOOL_MS,
    resource: ({ what: name }) => `freeze ${canonical(name)}`,
    async pin(given, { here }) {
      const now = given.from ?? (await here?.())?.now ?? Date.now();
      if (given.from !== undefined) return given;
      const zone = (await here?.())?.zone ?? "UTC";
      const until = await untilOf(given.until, { zone, now });
      return {
        ...given,
        what: canonical(given.what),
        until: `${isoUtc(Math.ceil(until / MINUTE_MS) * MINUTE_MS, "minute")}Z`,
        from: now,
      };
    },
    async preview({ what: name, until, because, from = Date.now() }) {
      const lasts = Math.max(0, Date.parse(until) - from);
      const holds = await holdsText(freezing(), name);
      return {
        lines: [
          { label: "Until", value: `${shownUntil(until)}, for ${showDuration(lasts)}` },
          { label: "Holds", value: holds },
          ...(because === undefined ? [] : [{ label: "Because", value: because }]),
        ],
        blastRadius:
          "Writes wait, approved ones too, unless somebody breaks the glass. Reads go on.",
        undo: `unfreeze ${name}`,
      };
    },
    async run({ what: name, until, because }, ctx) {
      const { key, call, account, name: by, startedAt } = asking(ctx);
      const at = Date.parse(until);
      if (!(at > startedAt)) throw new BotError("INPUT_INVALID", "That time is over by now.");
      const { freezes } = freezing();
      const said = { by: { account, name: by }, what: name, until: at };
      const why = because === undefined ? {} : { because };
      await freezes.post(idOf(key, call), { ...said, ...why, thread: key });
      const text = freezeText({ ...said, id: "", because });
      return { text: `${text}.`, undo: { tool: "unfreeze", args: { what: name } } };
    },
    verify: (_, ctx, startedAt) => written(freezing(), ctx, startedAt),
  });
}

/** Lifts a freeze before its time. */
export function createUnfreeze(freezing: () => Freezing): Tool {
  async function find(name: string, at: number, viewer?: ToolContext["viewer"]): Promise<Freeze> {
    const all = await freezing().freezes.at(at);
    const found = all.find((each) => each.what === canonical(name));
    if (found !== undefined) return found;
    const isSeen = viewer !== undefined && maySeeFreezes(await viewer());
    const names = isSeen ? all.map((each) => each.what).join(", ") : "";
    throw refused(`${name} isn't frozen${names === "" ? "" : `; frozen: ${names}`}.`);
  }
  return defineTool({
    name: "unfreeze",
    summary: "lifts a freeze before its time",
    description: "Lifts a freeze before its time: what waited for it goes on.",
    input: z.strictObject({ what, from: pinnedNow }),
    effect: "write",
    freezes: true,
    title: ({ what: name }) => `Unfreeze ${name}`,
    timeoutMs: TOOL_MS,
    resource: ({ what: name }) => `freeze ${canonical(name)}`,
    pin: async (given, { here }) => ({
      what: canonical(given.what),
      from: given.from ?? (await here?.())?.now ?? Date.now(),
    }),
    precheck: async ({ what: name, from = Date.now() }, { viewer }) =>
      void (await find(name, from, viewer)),
    preview: async ({ what: name, from = Date.now() }, { viewer }) => ({
      lines: await nowLines(await find(name, from), viewer),
      blastRadius: "Whatever waits for the end of the freeze and is approved goes on at once.",
      undo: "Freeze it again.",
    }),
    async run({ what: name }, ctx) {
      const { key, call, account, name: by } = asking(ctx);
      const lifted = { by: { account, name: by }, what: name, thread: key };
      await freezing().freezes.post(idOf(key, call), lifted);
      return { text: `${name === EVERYTHING ? "Everything" : name} isn't frozen any more.` };
    },
  });
}

/** What a card says of the freeze that it lifts: nothing where people from elsewhere read it, or nobody can say who does. */
async function nowLines(found: Freeze, viewer: ToolContext["viewer"]) {
  const seenBy = await viewer?.().catch(() => undefined);
  const isSeen = seenBy !== undefined && maySeeFreezes(seenBy);
  return isSeen ? [{ label: "Now", value: freezeText(found) }] : [];
}

/** What is frozen now. */
export function createFreezeList(freezing: () => Freezing): Tool {
  return defineTool({
    name: "freeze_list",
    summary: "shows what is frozen, until when, by whom and why",
    description: "Shows what is frozen now, until when, by whom and why.",
    input: z.strictObject({}),
    effect: "read",
    doing: () => "Looking up what is frozen",
    answeredBy: { kind: "text" },
    ours: true,
    timeoutMs: TOOL_MS,
    async run(_, ctx) {
      const asker = asking(ctx);
      if (!maySeeFreezes(await viewerOf(asker))) return { text: NOT_HERE };
      const found = await freezing().freezes.at(asker.startedAt);
      return { text: found.length === 0 ? "Nothing is frozen." : found.map(freezeText).join("\n") };
    },
  });
}

/** Said whether something is frozen or not. */
const NOT_HERE =
  "People from elsewhere may read this, so I don't name freezes here. Ask in a channel of your own team.";

function asking({ asker }: ToolContext): NonNullable<ToolContext["asker"]> {
  if (asker === undefined)
    throw new BotError("NOT_AVAILABLE", "Freezes can be looked at only while the tool is run.");
  return asker;
}

/** Once for each call. */
function idOf(key: string, call: string): string {
  return `freeze:${key}:${call}`;
}

async function written({ freezes }: Freezing, ctx: ToolContext, startedAt: number) {
  const { key, call } = asking(ctx);
  const found = (await freezes.at(startedAt)).find(({ id }) => id === idOf(key, call));
  return found === undefined
    ? ({ verdict: "unknown", evidence: "it is not frozen by this call" } as const)
    : ({ verdict: "done", evidence: `${freezeText(found)}.` } as const);
}

const LENGTH = /^(?:for\s+)?(\d{1,4})\s*(m|min|minutes?|h|hours?|d|days?)$/i;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @throws BotError INPUT_INVALID for no time, one that is over, or one too far off */
async function untilOf(text: string, { zone, now }: Here): Promise<number> {
  const [, number, unit = ""] = LENGTH.exec(text.trim()) ?? [];
  // A clock's next time: a day later it will have shown it last.
  const isClock = /^\d{1,2}:\d{2}$/.test(text.trim());
  const until =
    number === undefined
      ? await readMoment(text, { zone, now: isClock ? now + 86_400_000 : now })
      : now + Number(number) * (UNIT_MS[unit.slice(0, 1).toLowerCase()] ?? 0);
  if (until <= now) throw new BotError("INPUT_INVALID", `${text} is over already.`);
  if (until > now + MAX_MS)
    throw new BotError("INPUT_INVALID", `${text} is more than 7 days off; freeze for less.`);
  return until;
}

/** Also before it was read. */
function shownUntil(until: string): string {
  const at = Date.parse(until);
  return until.endsWith("Z") && !Number.isNaN(at) ? formatUtc(at) : until;
}

/** Which tools it is known by; a name that nothing has is said so. */
async function holdsText({ tools, hosts }: Freezing, name: string): Promise<string> {
  const writes = tools().filter(
    ({ effect, own, freezes }) => effect !== "read" && own !== true && freezes !== true,
  );
  if (name === EVERYTHING) return `all writes, of ${counted(writes.length, "tool")}`;
  const held = writes.filter((tool) => placesOf(tool).includes(name));
  const machines = (await hosts()).map(({ host }) => host);
  const isHost = machines.some((host) => canonical(host) === name);
  const args = `writes with ${name} as an argument`;
  if (held.length > 0) return `writes of ${counted(held.length, "tool")} there, and ${args}`;
  if (isHost) return `writes on the machine ${name}, and ${args}`;
  const known = [...new Set([...writes.flatMap(placesOf), ...machines.map(canonical)])];
  const near = nearest(name, known);
  const meant = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  return `only ${args}: no instance, host or system here is called so${meant}`;
}
