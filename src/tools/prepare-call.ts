import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import * as z from "zod";
import type { Effect, JsonObject, Preview } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import { textsIn } from "../core/json.ts";
import type { Publisher } from "../events/bus.ts";
import { oneLine, shortened } from "../core/text.ts";
import { suggest } from "../core/suggest.ts";
import { within } from "../core/time-limit.ts";
import type { PreparedCall } from "../core/tool-call.ts";
import { confusables, exactText } from "../security/sanitize.ts";
import { checkArguments } from "./arguments.ts";
import { inputForm } from "./input-schema.ts";
import { saidCall } from "./say.ts";
import { type ContextParts, createContext } from "./tool-context.ts";
import type { Tool, ToolContext, ToolPreview } from "./tool.ts";

/** What of a call is settled before it runs: its arguments, machine, digest and preview. */

const HIDDEN = /\[secret:[\w.-]+\]/;
/** For looking before: pins, previews, prechecks. */
const LOOK_MS = 15_000;

/** The consequences of a read, where its card has nothing more to say. */
const READS_ONLY = { blastRadius: "It only reads.", undo: "There is nothing to undo." };

export interface CallParts extends ContextParts {
  /** The machine that this process runs on. */
  host: string;
  /** Hears of tools that crash or are left alone. Default: nobody. */
  events?: Publisher;
}

/** A call that passed its schema: what is shown, voted on and executed. */
export interface Prepared extends Omit<PreparedCall, "tool"> {
  tool: Tool;
}

export function effectOf(tool: Tool | undefined, args: JsonObject): Effect {
  if (tool === undefined) return "destructive";
  if (tool.effectOf === undefined) return tool.effect;
  try {
    const read = tool.input.safeParse(args);
    return read.success ? tool.effectOf(read.data) : tool.effect;
  } catch {
    return tool.effect;
  }
}

function digestOf(tool: Tool, args: JsonObject): string {
  const { schemaHash } = inputForm(tool);
  const { name, version } = tool;
  const canonical = canonicalize({
    tool: name,
    args,
    schema: schemaHash,
    ...(version !== undefined && { version }),
  });
  return hash("sha256", canonical ?? "", "hex");
}

/**
 * SHA-256, hexadecimal: calls that have it alike are the same call, but for what the program looks up itself, such as the state
 * that it found before.
 */
export function sameness({ tool, args, host }: Prepared): string {
  const { fields } = inputForm(tool);
  const asked = Object.entries(args).filter(([name]) => fields.get(name)?.internal !== true);
  const given = digestOf(tool, Object.fromEntries(asked));
  return hash("sha256", canonicalize({ given, ...(host !== undefined && { host }) }) ?? "", "hex");
}

/** What has to be typed to approve such a call: what its tool says, or where a rule wants it, what it changes. Never throws. */
export function confirmationOf(
  { name, confirm, resource }: Tool,
  args: JsonObject,
  isRuled: boolean,
): string | undefined {
  try {
    const own = confirm?.(args);
    if (own === undefined && !isRuled) return undefined;
    return typable(own ?? resource?.(args) ?? name, name);
  } catch {
    return name;
  }
}

/** On a phone nobody types more, and what cannot be typed is not asked for. */
function typable(text: string, name: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return /^[\x21-\x7e](?:[\x20-\x7e]{0,58}[\x21-\x7e])?$/.test(line) ? line : name;
}

/** Why a call of it with these arguments is not the one that has this digest, or undefined. */
export function whyOther(tool: Tool, args: JsonObject, digest: string): string | undefined {
  if (digestOf(tool, args) === digest) return undefined;
  return "the tool or its arguments changed since it was shown";
}

/** Why a call with these arguments is not this process's to take up, or undefined. */
export function whyElsewhere(
  { host }: CallParts,
  { name, hostBound }: Tool,
  args: JsonObject,
): string | undefined {
  if (hostBound !== true || args["host"] === host) return undefined;
  if (args["host"] === undefined)
    return `which machine ${name} was for was not written down, as by versions before 0.4`;
  return `${name} is for ${JSON.stringify(args["host"])}, and this is ${host}`;
}

/** What a pin may look up besides. */
export type Looking = Pick<ToolContext, "here" | "said" | "viewer" | "typedBy">;

/** @throws BotError as `Dispatcher.prepare`, but for what depends on earlier calls */
export async function prepareCall(
  parts: CallParts,
  tool: Tool,
  { asked, by, ...looking }: { asked: JsonObject; by: "person" | "bot" } & Looking,
  signal: AbortSignal,
): Promise<Prepared> {
  const given = await check(tool, asked, by);
  const host = tool.hostBound === true ? parts.host : undefined;
  const args = host === undefined ? given : { ...given, host: given["host"] ?? host };
  const elsewhere = whyElsewhere(parts, tool, args);
  if (elsewhere !== undefined) throw new BotError("NOT_AVAILABLE", elsewhere);
  const isSimple = tool.pin === undefined && tool.precheck === undefined;
  const pinned = isSimple
    ? args
    : await look(parts, [tool, args], signal, async (plain) => {
        const ctx = { ...plain, ...looking };
        const fixed = tool.pin === undefined ? args : jsonObject(await tool.pin(args, ctx));
        await tool.precheck?.(fixed, ctx);
        return fixed;
      });
  const digest = digestOf(tool, pinned);
  return { tool, effect: effectOf(tool, pinned), args: pinned, host, digest };
}

/** Why a call that was shown may not run as it is, or undefined. @throws what its checks find */
export async function whyStale(
  parts: CallParts,
  tool: Tool,
  args: JsonObject,
  { digest, signal }: { digest: string; signal: AbortSignal },
): Promise<string | undefined> {
  const elsewhere = whyElsewhere(parts, tool, args);
  if (elsewhere !== undefined) return elsewhere;
  const other = whyOther(tool, args, digest);
  if (other !== undefined) return other;
  await check(tool, args, "bot");
  await look(parts, [tool, args], signal, async (ctx) => tool.precheck?.(args, ctx));
  return undefined;
}

export async function previewOf(
  parts: CallParts,
  { tool, args }: Prepared,
  signal: AbortSignal,
  { viewer }: Pick<Looking, "viewer"> = {},
): Promise<Preview> {
  const shown = await look(parts, [tool, args], signal, async (ctx) =>
    tool.preview?.(args, { ...ctx, viewer }),
  );
  const preview = shown ?? (tool.effect === "read" ? { lines: [], ...READS_ONLY } : undefined);
  if (preview === undefined) {
    const text = `${tool.name} cannot show what it would do, so it cannot be approved.`;
    throw new BotError("NOT_AVAILABLE", text);
  }
  const warning = confusables(textsIn(args).join("\n"));
  const lines = warning === undefined ? [] : [{ label: "Look closely", value: warning }];
  const { encode } = parts.encoder;
  return {
    ...headOf(tool, args, encode),
    ...encodePreview({ ...preview, lines: [...lines, ...preview.lines] }, encode),
  };
}

/** Of a card's first line. The arguments stand below, whole. */
const MAX_TITLE = 120;
/** Of a line of progress, before the `…` of one that is cut. */
const MAX_DOING = 99;

type Encode = (text: string) => string;

/** The call in the words of its tool, as people see it while it runs; undefined: it has none. */
export function doingOf({ tool, args }: Prepared, encode: Encode): string | undefined {
  return headline(tool.doing?.(args) ?? titleOf(tool, args), args, MAX_DOING, encode);
}

function titleOf(tool: Tool, args: JsonObject): string | undefined {
  return tool.title?.(args) ?? saidCall(tool, args);
}

function headline(
  said: string | undefined,
  { instance }: JsonObject,
  max: number,
  encode: Encode,
): string | undefined {
  if (said === undefined) return undefined;
  // Of several servers it is said which: notifications hold this line alone.
  const shown = (text: string) => encode(exactText(oneLine(text)));
  const where = typeof instance === "string" ? ` ${shown(`(${instance})`)}` : "";
  return shortened(shown(said), max - where.length) + where;
}

function headOf(tool: Tool, args: JsonObject, encode: Encode): Pick<Preview, "title" | "filled"> {
  const title = headline(titleOf(tool, args), args, MAX_TITLE, encode);
  const { fields } = inputForm(tool);
  const filled = Object.keys(args).filter((name) => fields.get(name)?.internal === true);
  return {
    ...(title !== undefined && { title }),
    ...(filled.length > 0 && { filled }),
  };
}

function encodePreview({ diff, ...preview }: ToolPreview, encode: Encode): Preview {
  const command = diff === undefined ? preview.command : undefined;
  const lines = diff?.split("\n").map(exactText);
  return {
    ...(command !== undefined && { command: encode(exactText(command)) }),
    ...(lines !== undefined && { command: encode(lines.join("\n")) }),
    lines: preview.lines.map((line) => ({ ...line, value: encode(line.value) })),
    blastRadius: encode(preview.blastRadius),
    undo: encode(preview.undo),
  };
}

export async function meantBy(tool: Tool, args: JsonObject): Promise<JsonObject[]> {
  if (tool.meant === undefined) return [];
  const checked = checkArguments(tool, args, "bot");
  return checked.ok ? (await tool.meant(checked.args)).map(jsonObject) : [];
}

async function check(tool: Tool, args: JsonObject, by: "person" | "bot"): Promise<JsonObject> {
  const missing = await tool.unavailable?.();
  if (missing !== undefined) throw new BotError("NOT_AVAILABLE", missing);
  const hidden = HIDDEN.exec(JSON.stringify(args))?.[0];
  if (hidden !== undefined) {
    const text = `The arguments held a secret, which was taken out: ${hidden}. A tool gets such values from its own settings, never from a message.`;
    throw new BotError("INPUT_INVALID", text);
  }
  const checked = checkArguments(tool, args, by);
  if (!checked.ok) throw new BotError("INPUT_INVALID", checked.problem);
  return checked.args;
}

/** What a pin returns is arguments again; anything else would not be what is shown and stored. */
function jsonObject(value: unknown): JsonObject {
  return z.record(z.string(), z.json()).parse(value);
}

/** Looks at the world for a call of a tool, within LOOK_MS. */
function look<T>(
  parts: CallParts,
  [tool, args]: readonly [Tool, JsonObject],
  signal: AbortSignal,
  work: (ctx: ToolContext) => Promise<T>,
): Promise<T> {
  return within(LOOK_MS, signal, (inner) =>
    work(createContext(parts, tool, { signal: inner, args })),
  );
}

export function unknownTool(name: string, tools: readonly Tool[]): BotError {
  const near = suggest(
    name,
    tools.map((tool) => tool.name),
  );
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  return new BotError("TOOL_UNKNOWN", `There is no tool ${name}.${hint} \`tools\` lists them.`);
}
