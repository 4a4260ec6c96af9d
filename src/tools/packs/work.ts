import type { JsonObject } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json.ts";
import { checkedFiles, pinnedField, runPinned } from "../host/command.ts";
import type { Endpoint } from "../http.ts";
import { Refusal } from "../refusal.ts";
import type { ToolContext } from "../tool.ts";
import { type PackAnswer, answerOf } from "./answer.ts";
import { endpointFor, requestFor, resolveBase, variablesOf } from "./request.ts";
import type { PackTool, Request, Work } from "./schema.ts";
import { fillArgv, type Values } from "../../core/templates.ts";

/** What a pack's tool and its looks ask servers and programs. */

type Part = "main" | "precheck" | "capture" | "preview" | "verify";

const MAX_BYTES = 256 * 1024;

/** From here on the server, or a proxy before it, failed: what it was asked for may have been done all the same. */
const SERVER_FAILED = 500;

export function partsOf(pack: PackTool): Readonly<Partial<Record<Part, Work>>> {
  const { http, run, precheck, capture, preview, verify } = pack;
  return {
    main: { http, run },
    ...(precheck && { precheck }),
    ...(capture && { capture }),
    ...(preview && { preview }),
    ...(verify && { verify }),
  };
}

export function requestsIn(pack: PackTool): Request[] {
  return Object.values(partsOf(pack)).flatMap(({ http }) => http ?? []);
}

/** The variables that hold what it is given and no text may show. */
export function variablesIn(pack: PackTool): string[] {
  return [
    ...requestsIn(pack).flatMap(variablesOf),
    ...Object.values(partsOf(pack)).flatMap(({ run }) => run?.env ?? []),
  ];
}

/** Its requests with the addresses that are theirs now: another address is another tool. */
export function withBases(pack: PackTool, variable: (name: string) => string): PackTool {
  const resolve = <T extends Work>(part: T): T =>
    part.http === undefined ? part : { ...part, http: resolveBase(part.http, variable) };
  const { precheck, capture, preview, verify } = pack;
  return {
    ...resolve(pack),
    ...(precheck && { precheck: resolve(precheck) }),
    ...(capture && { capture: resolve(capture) }),
    ...(preview && { preview: resolve(preview) }),
    ...(verify && { verify: resolve(verify) }),
  };
}

export function endpointsOf(
  pack: PackTool,
  variable: (name: string) => string,
): Record<string, Endpoint> {
  return Object.fromEntries(
    Object.entries(partsOf(pack)).flatMap(([part, { http }]): [string, Endpoint][] =>
      http === undefined ? [] : [[part, endpointFor(http, variable)]],
    ),
  );
}

/** The names whose values may begin an argument with `-`. */
export function dashedIn({ args }: PackTool): ReadonlySet<string> {
  const dashed = Object.entries(args).filter(([, argument]) => argument.mayBeginWithDash);
  return new Set(dashed.map(([name]) => name));
}

/** What stands for each name in a call's texts: its arguments, and what was captured for it. */
export function valuesOf(input: JsonObject): Values {
  const { captured } = input;
  if (!isJsonObject(captured)) return input;
  const each = Object.entries(captured).map(([name, value]) => [`captured.${name}`, value]);
  return { ...input, ...Object.fromEntries(each) };
}

export function pinnedIn(input: JsonObject) {
  return pinnedField.parse(input["pinned"]);
}

/** Asks what a part of the tool asks, with a call's values. */
export function createAsk(pack: PackTool, variable: (name: string) => string) {
  const parts = partsOf(pack);
  const dashed = dashedIn(pack);
  return async (part: Part, input: JsonObject, ctx: ToolContext): Promise<PackAnswer> => {
    const { http, run } = parts[part] ?? {};
    const values = valuesOf(input);
    const isMain = part === "main";
    if (http !== undefined)
      return askServer(part, requestFor(http, values), ctx, isMain && pack.effect !== "read");
    if (run === undefined) throw new TypeError(`There is no ${part}.`);
    const env = Object.fromEntries(run.env.map((each) => [each, variable(each)]));
    const pinned = isMain ? pinnedIn(input) : undefined;
    return askProgram(fillArgv(run.argv, values, dashed), { env, pinned }, ctx);
  };
}

/** The answer. @throws Refusal where there is none */
export function orRefuse(part: Part, answer: PackAnswer): PackAnswer {
  if (answer.failure === undefined) return answer;
  throw new Refusal(`The pack's ${part} got ${answer.failure}.`);
}

async function askServer(
  endpoint: Part,
  request: ReturnType<typeof requestFor>,
  ctx: ToolContext,
  acts: boolean,
): Promise<PackAnswer> {
  const call = { endpoint, maxBytes: MAX_BYTES, ...request };
  const { status, text, stuck, isWhole } = await ctx.http(call);
  if (acts && status >= SERVER_FAILED) {
    const lost = `${request.method} was answered with HTTP ${status}.`;
    throw new BotError("ABORTED", lost);
  }
  const isFine = status >= 200 && status < 300;
  const where = stuck === undefined ? "" : ` (${stuck})`;
  // What was changed stays changed, however much is said about it.
  const cut = isWhole || acts ? undefined : `an answer of more than ${MAX_BYTES / 1024} KiB`;
  return answerOf(text, isFine ? cut : `HTTP ${status}${where}`, ctx.encoder);
}

async function askProgram(
  argv: readonly string[],
  { env, pinned }: { env: Readonly<Record<string, string>>; pinned: ReturnType<typeof pinnedIn> },
  ctx: ToolContext,
): Promise<PackAnswer> {
  const files = await checkedFiles(argv, pinned);
  const limits = { maxBytes: MAX_BYTES, env };
  const { exitCode, signal, stdout, stderr } = await runPinned(argv, files, ctx, limits);
  if (exitCode === 0) return answerOf(stdout, undefined, ctx.encoder);
  const ended = signal === undefined ? `exit code ${exitCode}` : `an end by ${signal}`;
  return answerOf([stderr, stdout].filter((text) => text !== "").join("\n"), ended, ctx.encoder);
}
