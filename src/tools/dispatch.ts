import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { ArtifactRef, JsonObject, Outcome, Preview } from "../core/entry.ts";
import { BotError, isBotError, messageOf } from "../core/errors.ts";
import { capText } from "../core/display.ts";
import { checkArguments, schemaHash, suggest } from "./arguments.ts";
import type { ExecOptions, ExecResult, Dialed, Tool, ToolContext, Verdict } from "./tool.ts";

/** What of a result goes into the journal and the answer; the rest is kept whole as an artifact. */
const MAX_RESULT_BYTES = 16_000;
/** How long a tool may take to end after its signal was aborted, before it is given up on. */
const GRACE_MS = 3_000;
/** What stands where a held secret was. */
const HIDDEN = /\[secret:[\w.-]+\]/;
/** For looking before and after: pins, previews, prechecks, read-backs. */
const LOOK_MS = 15_000;

/** A call that passed its schema: what is shown, voted on and executed. */
export interface Prepared {
  tool: Tool;
  args: JsonObject;
  /** SHA-256, hexadecimal, over the canonical form of tool, arguments and schema. */
  digest: string;
}

/** How a call ended, safe to store and show. */
export interface Finished {
  outcome: Outcome;
  text: string;
  artifacts: ArtifactRef[];
  ms: number;
}

export interface DispatchParts {
  tools: readonly Tool[];
  exec(argv: readonly string[], options: ExecOptions & { signal: AbortSignal }): Promise<ExecResult>;
  dial(host: string, port: number, options: { signal: AbortSignal }): Promise<Dialed>;
  /** The encoder that every stored and shown text passes. */
  encode(text: string): string;
}

export interface RunOptions {
  signal: AbortSignal;
  /** Stores the full output of a call whose result is cut. */
  keep(bytes: Uint8Array): Promise<ArtifactRef>;
  startedAt: number;
}

/** The only place where tools are run. It does not judge whether they may be: that is policy's, asked before. */
export interface Dispatcher {
  readonly tools: readonly Tool[];
  find(name: string): Tool | undefined;
  /**
   * Checks the arguments and fixes what they point to.
   * @throws BotError TOOL_UNKNOWN, INPUT_INVALID, PRECHECK_FAILED, NOT_AVAILABLE or what the tool's pin throws
   */
  prepare(tool: string, args: JsonObject, signal: AbortSignal): Promise<Prepared>;
  /** What the card shows. @throws BotError NOT_AVAILABLE for a tool that acts but cannot say what on */
  preview(prepared: Prepared, signal: AbortSignal): Promise<Preview>;
  /** Does what was approved still hold: the same schema, the same digest, the precheck? Why not, or undefined. */
  drift(tool: string, args: JsonObject, digest: string, signal: AbortSignal): Promise<string | undefined>;
  /** Runs it and reads back what it did. Never throws. */
  run(tool: string, args: JsonObject, options: RunOptions): Promise<Finished>;
  /** After a crash: what can be seen of a call that was started. Never throws. */
  verify(tool: string, args: JsonObject, startedAt: number, signal: AbortSignal): Promise<Verdict>;
}

/** The digest that approvals are bound to. */
export function digestOf(tool: Tool, args: JsonObject): string {
  const canonical = canonicalize({ tool: tool.name, args, schema: schemaHash(tool) });
  return createHash("sha256").update(canonical ?? "").digest("hex");
}

export function createDispatcher(parts: DispatchParts): Dispatcher {
  const byName = new Map(parts.tools.map((tool) => [tool.name, tool]));

  function require(name: string): Tool {
    const tool = byName.get(name);
    if (tool !== undefined) return tool;
    const near = suggest(name, [...byName.keys()]);
    throw new BotError(
      "TOOL_UNKNOWN",
      `There is no tool ${name}.${near === undefined ? "" : ` Did you mean ${near}?`} \`tools\` lists them.`,
    );
  }

  const context = (signal: AbortSignal): ToolContext => ({
    signal,
    exec: (argv, options = {}) => parts.exec(argv, { ...options, signal }),
    dial: (host, port) => parts.dial(host, port, { signal }),
  });

  /** Looks, within LOOK_MS. */
  function look<T>(signal: AbortSignal, work: (ctx: ToolContext) => Promise<T>): Promise<T> {
    return within(LOOK_MS, signal, (inner) => work(context(inner)));
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

  async function verify(tool: Tool, args: JsonObject, startedAt: number, signal: AbortSignal): Promise<Verdict> {
    try {
      const verdict = await look(signal, async (ctx) => tool.verify?.(args, ctx, startedAt));
      if (verdict === undefined) return { verdict: "unknown", evidence: "this tool cannot read back" };
      return { ...verdict, evidence: parts.encode(verdict.evidence) };
    } catch (error) {
      return { verdict: "unknown", evidence: `reading back failed: ${parts.encode(messageOf(error))}` };
    }
  }

  return {
    tools: parts.tools,
    find: (name) => byName.get(name),

    async prepare(name, asked, signal) {
      const tool = require(name);
      const args = await check(tool, asked, "person");
      const pinned = await look(signal, async (ctx) => {
        const fixed = tool.pin === undefined ? args : ((await tool.pin(args, ctx)) as JsonObject);
        await tool.precheck?.(fixed, ctx);
        return fixed;
      });
      return { tool, args: pinned, digest: digestOf(tool, pinned) };
    },

    async preview({ tool, args }, signal) {
      const preview = await look(signal, async (ctx) => tool.preview?.(args, ctx));
      if (preview !== undefined) return encodePreview(preview, parts.encode);
      throw new BotError("NOT_AVAILABLE", `${tool.name} cannot show what it would do, so it cannot be approved.`);
    },

    async drift(name, args, digest, signal) {
      try {
        const tool = require(name);
        if (digestOf(tool, args) !== digest) return "the tool or its arguments changed since it was shown";
        await check(tool, args, "bot");
        await look(signal, async (ctx) => tool.precheck?.(args, ctx));
        return undefined;
      } catch (error) {
        return parts.encode(messageOf(error));
      }
    },

    async run(name, args, options) {
      const began = performance.now();
      const tool = byName.get(name);
      const ended = tool === undefined ? unknownTool(name) : await attempt(tool, args, options);
      const ms = Math.round(performance.now() - began);
      const encoded = parts.encode(ended.text);
      const text = capText(encoded, MAX_RESULT_BYTES);
      const artifacts = text === encoded ? [] : await keepWhole(encoded, options);
      return { outcome: ended.outcome, text, artifacts, ms };
    },

    async verify(name, args, startedAt, signal) {
      const tool = byName.get(name);
      if (tool === undefined) return { verdict: "unknown", evidence: `there is no tool ${name} any more` };
      return verify(tool, args, startedAt, signal);
    },
  };

  async function attempt(tool: Tool, args: JsonObject, { signal, startedAt }: RunOptions): Promise<Ended> {
    try {
      const output = await within(tool.timeoutMs, signal, (inner) => tool.run(args, context(inner)));
      if (output.failed === true || tool.verify === undefined) {
        return { outcome: output.failed === true ? "error" : "ok", text: output.text };
      }
      const { verdict, evidence } = await verify(tool, args, startedAt, signal);
      const seen = verdict === "done" ? "Verified" : "NOT verified";
      return { outcome: "ok", text: `${output.text}\n${seen}: ${evidence}` };
    } catch (error) {
      return failure(tool, error, signal);
    }
  }
}

interface Ended {
  outcome: Outcome;
  text: string;
}

function unknownTool(name: string): Ended {
  return { outcome: "blocked", text: `There is no tool ${name} any more.` };
}

/** A read that was cut failed; a write that was cut may have happened. */
function failure(tool: Tool, error: unknown, signal: AbortSignal): Ended {
  const text = messageOf(error);
  if (!isBotError(error, "TIMEOUT", "ABORTED")) return { outcome: "error", text };
  if (tool.effect !== "read") return { outcome: "unknown", text: `${text} Whether it happened is not known.` };
  return { outcome: signal.aborted ? "cancelled" : "error", text };
}

/** Gives `work` a signal that is aborted after `ms` or with `outer`, and does not wait for it much longer than that. */
async function within<T>(
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { promise: given, reject: giveUp } = Promise.withResolvers<never>();
  let grace: NodeJS.Timeout | undefined;
  const abort = (reason: BotError) => {
    controller.abort(reason);
    grace ??= setTimeout(() => giveUp(reason), GRACE_MS);
  };
  const stop = () => abort(new BotError("ABORTED", "It was stopped."));
  const timer = setTimeout(() => abort(new BotError("TIMEOUT", `It took longer than ${ms / 1000} s.`)), ms);
  if (outer.aborted) stop();
  else outer.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work(controller.signal), given]);
  } catch (error) {
    // Whatever a tool throws once it was told to end, it was cut.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    outer.removeEventListener("abort", stop);
  }
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
