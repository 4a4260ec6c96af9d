import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import * as z from "zod";
import type { JsonObject, Preview } from "../../core/entry.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import type { ReverseCall } from "../../core/tool-call.ts";
import { formatElapsed } from "../../core/instant.ts";
import { isJsonObject } from "../../core/json.ts";
import { tryDuration } from "../../core/past.ts";
import { blastOf, checkedFiles, commandLines, pinnedField } from "../host/command.ts";
import { hostArgument } from "../host/host-argument.ts";
import { commandText } from "../host/run-command.ts";
import { pinCommand } from "../host/pinned-files.ts";
import { Refusal } from "../refusal.ts";
import { shortened } from "../../core/text.ts";
import type { Tool, ToolContext, ToolOutput, Verdict } from "../tool.ts";
import { type PackAnswer, evaluate, isTrue, shownAnswer } from "./answer.ts";
import { fieldFor, kindsOf } from "./arguments.ts";
import { hasWork } from "./problems.ts";
import { requestFor } from "./request.ts";
import type { PackTool } from "./schema.ts";
import { fillArgv, fillForPeople, fillJson, type Values } from "../../core/templates.ts";
import {
  createAsk,
  dashedIn,
  endpointsOf,
  orRefuse,
  partsOf,
  pinnedIn,
  valuesOf,
  withBases,
} from "./work.ts";

const MAX_EVIDENCE = 400;

/** The tool that a pack describes; like any other, it throws freely. */
export function createPackTool(
  name: string,
  written: PackTool,
  variable: (name: string) => string,
): Tool<JsonObject> {
  const pack = withBases(written, variable);
  const { args, say, summary, resource, verify } = pack;
  const isBound = Object.values(partsOf(pack)).some(({ run }) => run !== undefined);
  const ask = createAsk(pack, variable);
  const afterMs = tryDuration(verify?.after ?? "") ?? 0;
  const check = (input: JsonObject, ctx: ToolContext) => checkLater(pack, ask, input, ctx);
  return {
    name,
    description: pack.description,
    ...(summary !== undefined && { summary }),
    input: inputFor(pack, isBound),
    effect: pack.effect,
    version: hash("sha256", canonicalize(pack) ?? "", "hex"),
    timeoutMs: tryDuration(pack.timeout) ?? 0,
    ...(say.length > 0 && { say }),
    ...(isBound && { hostBound: true }),
    endpoints: endpointsOf(pack, variable),
    kinds: kindsOf(args),
    ...(resource !== undefined && {
      resource: (input: JsonObject) => fillForPeople(resource, valuesOf(input)),
    }),
    pin: (input, ctx) => pin(pack, ask, input, ctx),
    precheck: (input, ctx) => precheck(pack, ask, input, ctx),
    preview: (input, ctx) => preview(pack, ask, input, ctx),
    ...(verify !== undefined && afterMs === 0 && { verify: check }),
    ...(verify !== undefined && afterMs > 0 && { verifyLater: { afterMs, check } }),
    run: async (input, ctx) => outputOf(pack, await ask("main", input, ctx), valuesOf(input)),
  };
}

type Ask = ReturnType<typeof createAsk>;

function inputFor({ args, capture, run }: PackTool, isBound: boolean): z.ZodType<JsonObject> {
  const fields = new Map<string, z.ZodType>(
    Object.entries(args).map(([name, argument]) => [name, fieldFor(argument)]),
  );
  if (isBound) fields.set("host", hostArgument);
  if (run !== undefined) fields.set("pinned", pinnedField);
  if (capture !== undefined) {
    const captured = z.record(z.string(), z.json()).optional().meta({ internal: true });
    fields.set("captured", captured);
  }
  const input: z.ZodType = z.strictObject(Object.fromEntries(fields));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field is one of JSON
  return input as z.ZodType<JsonObject>;
}

function outputOf(pack: PackTool, answer: PackAnswer, values: Values): ToolOutput {
  const { failure, text } = answer;
  if (failure !== undefined) return { text: `${failure}\n${text}`.trimEnd(), failed: true };
  const undo = reverseOf(pack, values);
  return { text: pickedOf(pack, answer, values) || "Done.", ...(undo && { undo }) };
}

/** What is done stays done when its answer has another form than was thought. */
function pickedOf({ pick, effect }: PackTool, answer: PackAnswer, values: Values): string {
  try {
    return shownAnswer(answer, pick, values);
  } catch (error) {
    if (effect === "read") throw error;
    return `Done. Its answer has another form than its pack expects: ${messageOf(error)}`;
  }
}

/** The call that takes it back, as long as there is what this one leaves. */
function reverseOf({ undo }: PackTool, values: Values): ReverseCall | undefined {
  if (undo === undefined) return undefined;
  const [args, captured] = [undo.args, undo.expects].map((each) => fillJson(each, values));
  if (!isJsonObject(args) || !isJsonObject(captured)) return undefined;
  const isExpected = Object.keys(captured).length > 0;
  return { tool: undo.tool, args: { ...args, ...(isExpected && { captured }) } };
}

/** What is there before the call, for the way back. @throws Refusal */
async function captureNow(
  pack: PackTool,
  ask: Ask,
  input: JsonObject,
  ctx: ToolContext,
): Promise<JsonObject> {
  const { data } = orRefuse("capture", await ask("capture", input, ctx));
  return Object.fromEntries(
    Object.entries(pack.capture?.values ?? {}).map(([name, expression]) => {
      const value = evaluate(expression, data, valuesOf(input));
      if (value !== null) return [name, value];
      throw new Refusal(`${name} could not be captured: ${expression} is not in the answer.`);
    }),
  );
}

async function pin(
  pack: PackTool,
  ask: Ask,
  input: JsonObject,
  ctx: ToolContext,
): Promise<JsonObject> {
  const { capture, run, effect } = pack;
  // A call that takes another back says itself what has to be there.
  const captured = capture && (input["captured"] ?? (await captureNow(pack, ask, input, ctx)));
  const whole = { ...input, ...(captured && { captured }) };
  // What only reads is run as it stands.
  if (run === undefined || effect === "read") return whole;
  const { pinned } = await pinCommand(fillArgv(run.argv, valuesOf(whole), dashedIn(pack)));
  return { ...whole, pinned: pinned.map(({ path, sha256 }) => ({ path, sha256 })) };
}

async function precheck(
  pack: PackTool,
  ask: Ask,
  input: JsonObject,
  ctx: ToolContext,
): Promise<void> {
  const values = valuesOf(input);
  if (pack.http !== undefined) requestFor(pack.http, values);
  if (pack.run !== undefined)
    await checkedFiles(fillArgv(pack.run.argv, values, dashedIn(pack)), pinnedIn(input));
  if (pack.capture !== undefined) {
    const now = await captureNow(pack, ask, input, ctx);
    if (canonicalize(now) !== canonicalize(input["captured"])) {
      const [was, is] = [input["captured"], now].map((each) => JSON.stringify(each));
      const text = `It was ${was} when this was asked, and is ${is} now.`;
      throw new BotError("PRECHECK_FAILED", text);
    }
  }
  if (pack.precheck === undefined) return;
  const { condition, otherwise } = pack.precheck;
  const { data } = orRefuse("precheck", await ask("precheck", input, ctx));
  if (isTrue(evaluate(condition, data, values))) return;
  const why = otherwise ?? `${condition} is not true.`;
  throw new BotError("PRECHECK_FAILED", fillForPeople(why, values));
}

async function preview(
  pack: PackTool,
  ask: Ask,
  input: JsonObject,
  ctx: ToolContext,
): Promise<Preview> {
  const values = valuesOf(input);
  const { preview: shown, verify, run, undo } = pack;
  const looked = hasWork(shown) ? orRefuse("preview", await ask("preview", input, ctx)) : undefined;
  const now = looked && shownAnswer(looked, shown?.pick, values);
  const lines = [
    ...labelled("What it does", shown?.text && fillForPeople(shown.text, values)),
    ...labelled("Now", now),
    ...(await effectLines(pack, values)),
    ...labelled("Verified", verify?.after && `${elapsed(verify.after)} after it is done`),
  ];
  const { host } = input;
  const bound = run === undefined ? "" : ` ${blastOf(typeof host === "string" ? host : "it")}`;
  const blast = fillForPeople(shown?.blastRadius ?? pack.description, values);
  const reverse = undo && JSON.stringify(fillJson(undo.args, values));
  const argv = run && fillArgv(run.argv, values, dashedIn(pack));
  return {
    ...(argv !== undefined && { command: commandText(argv) }),
    lines,
    blastRadius: blast + bound,
    undo: undo ? `Can be undone: ${undo.tool} ${reverse}` : "Can't be undone automatically.",
  };
}

function labelled(label: string, value: string | undefined): { label: string; value: string }[] {
  return value === undefined ? [] : [{ label, value }];
}

function elapsed(after: string): string {
  return formatElapsed(tryDuration(after) ?? 0);
}

/** The very request or command line. */
async function effectLines(pack: PackTool, values: Values): Promise<Preview["lines"]> {
  const { http, run } = pack;
  if (run !== undefined) return commandLines(fillArgv(run.argv, values, dashedIn(pack)));
  if (http === undefined) return [];
  const { method, url, headers = {}, json, body } = requestFor(http, values);
  const sent = json === undefined ? body : JSON.stringify(json);
  return [
    { label: "Request", value: `${method} ${url}` },
    ...Object.entries(headers).map(([name, value]) => ({
      label: "Header",
      value: `${name}: ${value}`,
    })),
    ...labelled("Sends", sent),
  ];
}

/** Whether what the call is for has come about. */
async function checkLater(
  pack: PackTool,
  ask: Ask,
  input: JsonObject,
  ctx: ToolContext,
): Promise<Verdict> {
  const { condition = "" } = pack.verify ?? {};
  const values = valuesOf(input);
  const answer = await ask("verify", input, ctx);
  if (answer.failure !== undefined) return { verdict: "unknown", evidence: `${answer.failure}.` };
  const holds = isTrue(evaluate(condition, answer.data, values));
  const shown = shownAnswer(answer, undefined, values).replaceAll("\n", "; ");
  const seen = shortened(shown, MAX_EVIDENCE);
  const said = fillForPeople(condition, values);
  const evidence = `${said} is ${holds ? "true" : "not true"} (${seen})`;
  return { verdict: holds ? "done" : "not done", evidence };
}
