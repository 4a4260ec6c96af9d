import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import * as z from "zod";
import type { ArtifactRef, Effect, FileRef, JsonObject, Outcome, Preview } from "../core/entry.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import { capText } from "../core/text.ts";
import { orUnchecked } from "../security/encoder.ts";
import { checkArguments, type InputForm, inputForm } from "./arguments.ts";
import { suggest } from "../core/suggest.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import { checkEndpoints } from "./http.ts";
import { keepImages } from "./images.ts";
import { retryConnection } from "./retry.ts";
import { within } from "../core/time-limit.ts";
import { type ContextParts, createContext } from "./tool-context.ts";
import type { Asker, Asking, Tool, ToolContext, ToolImage, Verdict } from "./tool.ts";

/** What of a result goes into the journal and the answer; the rest is kept whole as an artifact. */
const MAX_RESULT_BYTES = 16_000;
/** For reading back: with a dead worker's lease and the sweep, people are told of an interrupted action within 10 s. */
const VERIFY_MS = 2_500;
/** What stands where a held secret was. */
const HIDDEN = /\[secret:[\w.-]+\]/;
/** For looking before: pins, previews, prechecks. */
const LOOK_MS = 15_000;
/** What a tool that does not say what it changes may change. */
const WHOLE_MACHINE = "this machine";

/** The consequences of a read, where its card has nothing more to say. */
const READS_ONLY = { blastRadius: "It only reads.", undo: "There is nothing to undo." };

/** A call that passed its schema: what is shown, voted on and executed. */
export interface Prepared {
  tool: Tool;
  /** What it does with these arguments. */
  effect: Effect;
  args: JsonObject;
  /** The machine that it is for, as its arguments say; undefined: it does not matter where it is run. */
  host: string | undefined;
  /** SHA-256, hexadecimal, over the canonical form of tool, arguments and schema. */
  digest: string;
}

/** How a call ended, safe to store and show. */
export interface Finished {
  outcome: Outcome;
  text: string;
  /** The full text, where `text` is cut. */
  artifacts: ArtifactRef[];
  /** The images that go with the text. */
  files: FileRef[];
  ms: number;
}

export interface DispatchParts extends ContextParts {
  tools: readonly Tool[];
  /** The machine that this process runs on. */
  host: string;
  /**
   * The clock that broken tools are left alone by, in ms, never running backwards. Default: since the process began.
   */
  now?: () => number;
}

interface RunOptions {
  signal: AbortSignal;
  /** Stores the full output of a call whose result is cut, and images. */
  keep(bytes: Uint8Array): Promise<ArtifactRef>;
  /** An artifact of the thread that the call is in. */
  artifact(id: string): Promise<Uint8Array>;
  startedAt: number;
  asker: Asker;
  /** Why the call may not go on with these arguments instead, or undefined. Left out: it never may. */
  permit?(args: JsonObject): Promise<string | undefined>;
}

/** The only place where tools are run. It does not judge whether they may be: that is policy's, asked before. */
export interface Dispatcher {
  /** The machine that this process runs on, as people and other processes know it. */
  readonly host: string;
  find(name: string): Tool | undefined;
  /**
   * What a call with these arguments does, for policy, cards and the dispatcher alike: its tool's worst, unless they fit its
   * schema and the tool knows that they do less. Without such a tool: destructive. Never throws.
   */
  effectOf(tool: string, args: JsonObject): Effect;
  /**
   * What a call with these checked arguments changes: never two at once on the same (see `Tool.resource`). Never
   * throws.
   */
  resourceOf(tool: string, args: JsonObject): string;
  /** It acts on a machine of ours (`Tool.hostBound`). */
  isHostBound(tool: string): boolean;
  /** This process may take up a call with these arguments, which name a machine if it is for one. */
  isHere(tool: string, args: JsonObject): boolean;
  /** The arguments as this machine reads them (`Tool.meant`). Never throws. */
  meant(tool: string, args: JsonObject): Promise<JsonObject[]>;
  /**
   * Checks the arguments and fixes what they point to, and where the call is for a machine that this is the one. The breaker is asked here and in `drift`, not in `run`: by
   * then the call is written down as started. A call that it refuses is "blocked", whatever its effect.
   * @throws BotError TOOL_UNKNOWN, INPUT_INVALID, PRECHECK_FAILED, NOT_AVAILABLE, CIRCUIT_OPEN or what the tool's pin
   * throws
   */
  prepare(tool: string, args: JsonObject, signal: AbortSignal): Promise<Prepared>;
  /** What the card shows. @throws BotError NOT_AVAILABLE for a tool that acts but cannot say what on */
  preview(prepared: Prepared, signal: AbortSignal): Promise<Preview>;
  /** Does what was approved still hold: the same schema, digest, the precheck, the breaker? Why not, or undefined. */
  revalidate(
    tool: string,
    args: JsonObject,
    digest: string,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * Runs it, within the tool's time limit, and reads back what it did; a read whose connection failed is tried up to
   * three times. Never throws.
   */
  run(tool: string, args: JsonObject, options: RunOptions): Promise<Finished>;
  /** After a crash: what can be seen of a call that was started. `asker` as it was then. Never throws. */
  verify(
    tool: string,
    args: JsonObject,
    startedAt: number,
    signal: AbortSignal,
    asker?: Asker,
  ): Promise<Verdict>;
}

function effectOf(tool: Tool | undefined, args: JsonObject): Effect {
  if (tool === undefined) return "destructive";
  if (tool.effectOf === undefined) return tool.effect;
  try {
    const read = tool.input.safeParse(args);
    return read.success ? tool.effectOf(read.data) : tool.effect;
  } catch {
    return tool.effect;
  }
}

/** The digest that approvals are bound to. */
function digestOf(tool: Tool, args: JsonObject, { schemaHash }: InputForm): string {
  const canonical = canonicalize({ tool: tool.name, args, schema: schemaHash });
  return hash("sha256", canonical ?? "", "hex");
}

/** @throws BotError CONFIG_INVALID when an endpoint of a tool cannot be used */
export function createDispatcher(parts: DispatchParts): Dispatcher {
  const { tools } = parts;
  const { encode } = parts.encoder;
  checkEndpoints(tools, parts.encoder);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const breaker = createBreaker(parts.now);
  const forms = new Map<Tool["input"], InputForm>();
  const formOf = (tool: Tool): InputForm => {
    const form = forms.get(tool.input) ?? inputForm(tool);
    forms.set(tool.input, form);
    return form;
  };

  return {
    host: parts.host,

    find: (name) => byName.get(name),

    effectOf: (name, args) => effectOf(byName.get(name), args),

    resourceOf(name, args) {
      try {
        return byName.get(name)?.resource?.(args) ?? WHOLE_MACHINE;
      } catch {
        return WHOLE_MACHINE;
      }
    },

    isHostBound: (name) => byName.get(name)?.hostBound === true,

    isHere(name, args) {
      const tool = byName.get(name);
      return tool === undefined || whyElsewhere(parts, tool, args) === undefined;
    },

    async meant(name, args) {
      const tool = byName.get(name);
      return tool?.meant === undefined ? [] : meantBy(tool, args, formOf(tool));
    },

    async prepare(name, asked, signal) {
      const tool = byName.get(name);
      if (tool === undefined) throw unknownTool(name, tools);
      const prepared = await prepareFor(parts, tool, asked, formOf(tool), signal);
      breaker.admit(tool.name, prepared.digest);
      return prepared;
    },

    preview: (prepared, signal) => previewOf(parts, prepared, signal),

    async revalidate(name, args, digest, signal) {
      try {
        const tool = byName.get(name);
        if (tool === undefined) throw unknownTool(name, tools);
        const elsewhere = whyElsewhere(parts, tool, args);
        if (elsewhere !== undefined) return elsewhere;
        if (digestOf(tool, args, formOf(tool)) !== digest) {
          return "the tool or its arguments changed since it was shown";
        }
        await check(tool, args, "bot", formOf(tool));
        await look(parts, [tool, args], signal, async (ctx) => tool.precheck?.(args, ctx));
        breaker.admit(tool.name, digest);
        return undefined;
      } catch (error) {
        return encode(messageOf(error));
      }
    },

    async run(name, args, options) {
      const began = performance.now();
      const tool = byName.get(name);
      const ended = await end(parts, breaker, tool ?? name, args, options);
      const ms = Math.round(performance.now() - began);
      const { files, left } = await keepImages(ended.images ?? [], options.keep, encode);
      const encoded = [await orUnchecked(parts.encoder.aside.encode(ended.text)), ...left].join(
        "\n",
      );
      const text = capText(encoded, MAX_RESULT_BYTES);
      const artifacts = text === encoded ? [] : await keepWhole(encoded, options);
      return { outcome: ended.outcome, text, artifacts, files, ms };
    },

    async verify(name, args, startedAt, signal, asker) {
      const tool = byName.get(name);
      const evidence =
        tool === undefined ? `there is no tool ${name} any more` : whyElsewhere(parts, tool, args);
      if (tool === undefined || evidence !== undefined)
        return { verdict: "unknown", evidence: evidence ?? "" };
      return verify(parts, tool, args, { startedAt, signal, asker });
    },
  };
}

async function prepareFor(
  parts: DispatchParts,
  tool: Tool,
  asked: JsonObject,
  form: InputForm,
  signal: AbortSignal,
): Promise<Prepared> {
  const given = await check(tool, asked, "person", form);
  const host = tool.hostBound === true ? parts.host : undefined;
  const args = host === undefined ? given : { ...given, host: given["host"] ?? host };
  const elsewhere = whyElsewhere(parts, tool, args);
  if (elsewhere !== undefined) throw new BotError("NOT_AVAILABLE", elsewhere);
  const isSimple = tool.pin === undefined && tool.precheck === undefined;
  const pinned = isSimple
    ? args
    : await look(parts, [tool, args], signal, async (ctx) => {
        const fixed = tool.pin === undefined ? args : jsonObject(await tool.pin(args, ctx));
        await tool.precheck?.(fixed, ctx);
        return fixed;
      });
  const digest = digestOf(tool, pinned, form);
  return { tool, effect: effectOf(tool, pinned), args: pinned, host, digest };
}

async function previewOf(
  parts: DispatchParts,
  { tool, args }: Prepared,
  signal: AbortSignal,
): Promise<Preview> {
  const preview = await look(parts, [tool, args], signal, async (ctx) => tool.preview?.(args, ctx));
  if (preview !== undefined) return encodePreview(preview, parts.encoder.encode);
  if (tool.effect === "read") return { lines: [], ...READS_ONLY };
  const text = `${tool.name} cannot show what it would do, so it cannot be approved.`;
  throw new BotError("NOT_AVAILABLE", text);
}

async function meantBy(tool: Tool, args: JsonObject, form: InputForm): Promise<JsonObject[]> {
  const checked = checkArguments(tool, args, "bot", form);
  return checked.ok ? ((await tool.meant?.(checked.args)) ?? []).map(jsonObject) : [];
}

function unknownTool(name: string, tools: readonly Tool[]): BotError {
  const near = suggest(
    name,
    tools.map((tool) => tool.name),
  );
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  return new BotError("TOOL_UNKNOWN", `There is no tool ${name}.${hint} \`tools\` lists them.`);
}

/** Looks at the world for a call of a tool, within LOOK_MS. */
function look<T>(
  parts: DispatchParts,
  [tool, args]: readonly [Tool, JsonObject],
  signal: AbortSignal,
  work: (ctx: ToolContext) => Promise<T>,
): Promise<T> {
  return within(LOOK_MS, signal, (inner) =>
    work(createContext(parts, tool, { signal: inner, args })),
  );
}

function startedBy(asker: Asker | undefined, startedAt: number): Asking | undefined {
  return asker && { ...asker, startedAt };
}

async function check(
  tool: Tool,
  args: JsonObject,
  by: "person" | "bot",
  form: InputForm,
): Promise<JsonObject> {
  const missing = await tool.unavailable?.();
  if (missing !== undefined) throw new BotError("NOT_AVAILABLE", missing);
  const hidden = HIDDEN.exec(JSON.stringify(args))?.[0];
  if (hidden !== undefined) {
    const text = `The arguments held a secret, which was taken out: ${hidden}. A tool gets such values from its own settings, never from a message.`;
    throw new BotError("INPUT_INVALID", text);
  }
  const checked = checkArguments(tool, args, by, form);
  if (!checked.ok) throw new BotError("INPUT_INVALID", checked.problem);
  return checked.args;
}

/** What a pin returns is arguments again; anything else would not be what is shown and stored. */
function jsonObject(value: unknown): JsonObject {
  return z.record(z.string(), z.json()).parse(value);
}

async function verify(
  parts: DispatchParts,
  tool: Tool,
  args: JsonObject,
  {
    startedAt,
    signal,
    asker,
  }: Pick<RunOptions, "startedAt" | "signal"> & { asker?: Asker | undefined },
): Promise<Verdict> {
  const { encode } = parts.encoder;
  try {
    const read = async (inner: AbortSignal) =>
      tool.verify?.(
        args,
        createContext(parts, tool, { signal: inner, args, asker: startedBy(asker, startedAt) }),
        startedAt,
      );
    const verdict = await within(VERIFY_MS, signal, read, 0);
    if (verdict === undefined)
      return { verdict: "unknown", evidence: "not possible with this tool" };
    return { ...verdict, evidence: encode(verdict.evidence) };
  } catch (error) {
    return { verdict: "unknown", evidence: `the check failed: ${encode(messageOf(error))}` };
  }
}

/** Why a call with these arguments is not this process's to take up, or undefined. */
function whyElsewhere(
  { host }: DispatchParts,
  { name, hostBound }: Tool,
  args: JsonObject,
): string | undefined {
  if (hostBound !== true || args["host"] === host) return undefined;
  if (args["host"] === undefined)
    return `which machine ${name} was for was not written down, as by versions before 0.4`;
  return `${name} is for ${JSON.stringify(args["host"])}, and this is ${host}`;
}

async function end(
  parts: DispatchParts,
  breaker: Breaker,
  tool: Tool | string,
  args: JsonObject,
  options: RunOptions,
): Promise<Ended> {
  if (typeof tool === "string")
    return { outcome: "blocked", text: unknownTool(tool, parts.tools).message };
  const elsewhere = whyElsewhere(parts, tool, args);
  if (elsewhere !== undefined) return { outcome: "blocked", text: elsewhere };
  const ended = await attempt(parts, breaker, tool, args, options);
  return tool.hostBound === true ? { ...ended, text: `${parts.host} · ${ended.text}` } : ended;
}

async function attempt(
  parts: DispatchParts,
  breaker: Breaker,
  tool: Tool,
  args: JsonObject,
  options: RunOptions,
): Promise<Ended> {
  const { signal, startedAt } = options;
  const asker = startedBy(options.asker, startedAt);
  try {
    const output = await within(tool.timeoutMs, signal, (inner) => {
      const { artifact, permit } = options;
      const work = async () =>
        tool.run(
          args,
          createContext(parts, tool, { signal: inner, args, asker, artifact, permit }),
        );
      return effectOf(tool, args) === "read" ? retryConnection(inner, work) : work();
    });
    breaker.succeeded(tool.name);
    const { text, images = [] } = output;
    if (output.failed === true) return { outcome: "error", text, images };
    if (tool.verify === undefined) return { outcome: "ok", text, images };
    const { verdict, evidence } = await verify(parts, tool, args, options);
    const seen = verdict === "done" ? "Verified" : "NOT verified";
    return { outcome: "ok", text: `${text}\n${seen}: ${evidence}`, images };
  } catch (error) {
    breaker.failed(tool.name, error);
    return failure(effectOf(tool, args), error, signal);
  }
}

interface Ended {
  outcome: Outcome;
  text: string;
  images?: readonly ToolImage[];
}

/** A read that was cut failed; a write that was cut may have happened. */
function failure(effect: Effect, error: unknown, signal: AbortSignal): Ended {
  const text = messageOf(error);
  if (!isBotError(error, "TIMEOUT", "ABORTED")) return { outcome: "error", text };
  if (effect !== "read")
    return { outcome: "unknown", text: `${text} Whether it happened is not known.` };
  return { outcome: signal.aborted ? "cancelled" : "error", text };
}

async function keepWhole(text: string, { keep }: RunOptions): Promise<ArtifactRef[]> {
  try {
    return [await keep(Buffer.from(text))];
  } catch {
    return []; // the cut result says that it is cut; losing the rest must not lose the outcome
  }
}

function encodePreview(preview: Preview, encode: (text: string) => string): Preview {
  return {
    lines: preview.lines.map(({ label, value }) => ({ label, value: encode(value) })),
    blastRadius: encode(preview.blastRadius),
    undo: encode(preview.undo),
  };
}
