import type { ArtifactRef, Effect, JsonObject, Outcome } from "../core/entry.ts";
import { isBotError, messageOf } from "../core/errors.ts";
import { type Finding, type Gap, keptFindings, keptGaps, withFindings } from "../core/finding.ts";
import { capText } from "../core/text.ts";
import { within } from "../core/time-limit.ts";
import type { ReverseCall, ToolResult, ViewChange } from "../core/tool-call.ts";
import { orUnchecked } from "../security/encoder.ts";
import type { Breaker } from "./breaker.ts";
import { keepImages } from "./images.ts";
import { formatMoment } from "./moment.ts";
import { type CallParts, effectOf, whyElsewhere, whyOther } from "./prepare-call.ts";
import { retryConnection } from "./retry.ts";
import { keptReverse } from "./reverse.ts";
import { createContext } from "./tool-context.ts";
import type { Asker, Asking, Tool, ToolImage, Verdict } from "./tool.ts";

/** A call that runs, and what it leaves. */

/** What of a result goes into the journal and the answer; the rest is kept whole as an artifact. */
const MAX_RESULT_BYTES = 16_000;
/** For reading back: with a dead worker's lease and the sweep, people are told of an interrupted action within 10 s. */
const VERIFY_MS = 2_500;

export interface RunOptions {
  signal: AbortSignal;
  /** The result may have no more bytes than this, where that is less than usual. */
  maxBytes?: number;
  /** Stores the full output of a call whose result is cut, and images. */
  keep(bytes: Uint8Array): Promise<ArtifactRef>;
  /** An artifact of the thread that the call is in. */
  artifact(id: string): Promise<Uint8Array>;
  startedAt: number;
  asker: Asker;
  /** The call's run may do nothing but read. Default: it may. */
  readsOnly?: boolean;
  /** Why the call may not go on with these arguments instead, or undefined. Left out: it never may. */
  permit?(args: JsonObject): Promise<string | undefined>;
}

/** How it ended, as the tool says it. */
interface Ended {
  outcome: Outcome;
  readBack?: ToolResult["readBack"];
  text: string;
  images?: readonly ToolImage[];
  findings?: readonly Finding[] | undefined;
  told?: readonly Finding[] | undefined;
  gaps?: readonly Gap[] | undefined;
  undo?: ReverseCall | undefined;
  view?: ViewChange | undefined;
}

/** Runs it, with its result made safe to store. Never throws. */
export async function runCall(
  parts: CallParts,
  breaker: Breaker,
  tool: Tool,
  args: JsonObject,
  options: RunOptions,
): Promise<ToolResult> {
  const began = performance.now();
  const ended = await attempt(parts, breaker, tool, args, options);
  const ms = Math.round(performance.now() - began);
  const { aside, encode } = parts.encoder;
  const findings = keptFindings(ended.findings ?? [], encode);
  const told = keptFindings(ended.told ?? [], encode);
  const gaps = keptGaps(ended.gaps ?? [], encode);
  const reverse = keptReverse(ended.outcome === "ok" ? ended.undo : undefined, parts.encoder);
  const noted = reverse.why === undefined ? ended.text : `${ended.text}\n${reverse.why}`;
  const isWell = tool.diagnoses === true && ended.outcome === "ok" && findings.length === 0;
  const well = `Found nothing wrong${gaps.length > 0 ? " in what could be seen" : ""}: ${noted}`;
  const whole = withFindings(isWell ? well : noted, { findings, gaps }, formatMoment);
  const separator = findings.length > 0 ? ":\n" : " · ";
  const said = tool.hostBound === true ? `${parts.host}${separator}${whole}` : whole;
  const { files, left } = await keepImages(ended.images ?? [], options.keep, encode);
  const encoded = [await orUnchecked(aside.encode(said)), ...left].join("\n");
  const text = capText(encoded, Math.min(MAX_RESULT_BYTES, options.maxBytes ?? Infinity));
  const artifacts = text === encoded ? [] : await keepWhole(encoded, options);
  const { undo } = reverse;
  const verifyAfterMs = ended.outcome === "ok" ? tool.verifyLater?.afterMs : undefined;
  return {
    outcome: ended.outcome,
    text,
    artifacts,
    files,
    findings: [...findings, ...told],
    gaps,
    undo,
    verifyAfterMs,
    ...(ended.readBack !== undefined && { readBack: ended.readBack }),
    ...(ended.outcome === "ok" && ended.view !== undefined && { view: ended.view }),
    ms,
  };
}

/** The end of a call that was never begun. */
export function blockedCall({ encoder }: CallParts, why: string): ToolResult {
  const text = capText(encoder.encode(why), MAX_RESULT_BYTES);
  return { outcome: "blocked", text, artifacts: [], files: [], findings: [], gaps: [], ms: 0 };
}

async function attempt(
  parts: CallParts,
  breaker: Breaker,
  tool: Tool,
  args: JsonObject,
  options: RunOptions,
): Promise<Ended> {
  const { signal, startedAt } = options;
  const asker = startedBy(options.asker, startedAt);
  try {
    const output = await within(tool.timeoutMs, signal, (inner) => {
      const { artifact, permit, maxBytes } = options;
      const work = async () =>
        tool.run(
          args,
          createContext(parts, tool, { signal: inner, args, asker, artifact, permit, maxBytes }),
        );
      return effectOf(tool, args) === "read" ? retryConnection(inner, work) : work();
    });
    breaker.succeeded(tool.name);
    if (output.failed === true) return { ...output, outcome: "error" };
    if (tool.verify === undefined) return { ...output, outcome: "ok" };
    const { verdict, evidence, undo } = await verify(parts, tool, args, options);
    const seen = verdict === "done" ? "Verified" : "NOT verified";
    const result = `${seen}: ${evidence}`;
    const text = output.text === evidence ? result : `${output.text}\n${result}`;
    return { ...output, outcome: "ok", text, undo: output.undo ?? undo, readBack: verdict };
  } catch (error) {
    if (!isBotError(error))
      parts.events?.publish({ kind: "tool_crashed", tool: tool.name, args, error });
    breaker.failed(tool.name, error);
    return { ...failure(effectOf(tool, args), error, signal), told: serverAway(tool, args, error) };
  }
}

/** That a server which was only to be read does not answer may be what is wrong. */
function serverAway(tool: Tool, args: JsonObject, error: unknown): Finding[] {
  const isAway = isBotError(error, "CONNECTION_FAILED", "ADDRESS_UNKNOWN");
  if (!isAway || tool.endpoints === undefined || effectOf(tool, args) !== "read") return [];
  const [name = ""] = tool.name.split("_");
  return [
    {
      object: { kind: "Server", namespace: "", name },
      cause: error.message,
      severity: "error",
      evidence: `${tool.name} could not ask it.`,
      since: null,
    },
  ];
}

/** What can be seen of a call that was started. Never throws. */
export async function verify(
  parts: CallParts,
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
    const { undo } = keptReverse(verdict.undo, parts.encoder);
    return { ...verdict, evidence: encode(verdict.evidence), undo };
  } catch (error) {
    return { verdict: "unknown", evidence: `the check failed: ${encode(messageOf(error))}` };
  }
}

/** A call that is done, a while later. */
export interface LaterLook extends Pick<RunOptions, "startedAt" | "signal" | "asker"> {
  /** As it was started; undefined: it was a read that nobody approved. */
  digest: string | undefined;
}

/** Why this process can see nothing of a call that was made, or undefined. */
export function whyUnseen(
  parts: CallParts,
  tool: Tool | undefined,
  args: JsonObject,
): string | undefined {
  return tool === undefined ? "there is no such tool any more" : whyElsewhere(parts, tool, args);
}

/** Never throws. */
export async function verifyLater(
  parts: CallParts,
  tool: Tool | undefined,
  args: JsonObject,
  { digest, startedAt, signal, asker }: LaterLook,
): Promise<Pick<Verdict, "verdict" | "evidence">> {
  const changed = tool && digest !== undefined ? whyOther(tool, args, digest) : undefined;
  const why = whyUnseen(parts, tool, args) ?? changed;
  if (tool === undefined || why !== undefined) return { verdict: "unknown", evidence: why ?? "" };
  const { encode } = parts.encoder;
  try {
    const { verdict, evidence } = (await within(LATER_MS, signal, async (inner) => {
      const about = { signal: inner, args, asker: startedBy(asker, startedAt) };
      return tool.verifyLater?.check(args, createContext(parts, tool, about));
    })) ?? { verdict: "unknown", evidence: "not possible with this tool" };
    return { verdict, evidence: encode(evidence) };
  } catch (error) {
    return { verdict: "unknown", evidence: `the check failed: ${encode(messageOf(error))}` };
  }
}

/** For looking again, when nobody waits for it. */
const LATER_MS = 15_000;

function startedBy(asker: Asker | undefined, startedAt: number): Asking | undefined {
  return asker && { ...asker, startedAt };
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
