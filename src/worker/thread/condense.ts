import { type RequestContext, requestOf } from "../../agent/request.ts";
import { condensedBy, summaryRequest } from "../../agent/summary.ts";
import { NO_USAGE, type Usage } from "../../core/block.ts";
import { BotError, type ErrorCode, isBotError, messageOf } from "../../core/errors.ts";
import { cleanText } from "../../security/sanitize.ts";
import type { CondenseFacts } from "../../thread/drafts-runs.ts";
import { isOfThread } from "../../thread/filling.ts";
import { sharesOf } from "../../thread/routing.ts";
import type { StepOf } from "../../thread/steps.ts";
import { termsIn } from "../../thread/surroundings.ts";
import { putOff } from "../background.ts";
import { withinBudget, spendOf } from "./budget.ts";
import { conclude } from "./conclude.ts";
import { withFiles, withinMinutes } from "./model-call.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { allPlaces } from "./places.ts";
import { isLookUpFailure } from "./permission/look-up.ts";
import { showThinking } from "./progress.ts";
import { tellingFor } from "./permission/requesters.ts";

/** What the model answered, or why it gave no summary. */
type Summary =
  | { said: string; usage: Usage; model?: string; cost: { microdollars?: number } }
  | { why: string; code?: ErrorCode };

/**
 * Asks the run's model once for a summary of what it was told, which stands in its place from then on. Without one the run goes on
 * as it was where it still can; else the program lists what was done.
 */
export const condense: Learn<"condense"> = async (ctx, step, signal) => {
  const { key } = step;
  const facts = await learn(ctx, step, signal).catch((error: unknown) => {
    if (signal.aborted) return { kind: "cut" as const, written: "" };
    if (isLookUpFailure(error)) return error;
    ctx.log.error({ err: error, key: ctx.key }, "the work could not be condensed");
    return { kind: "failed" as const, why: whyOf(ctx, error), code: undefined };
  });
  return async () => {
    if ("kind" in facts) await conclude(ctx, { ...step, facts });
    else putOff(ctx, key, facts);
  };
};

async function learn(
  ctx: ThreadContext,
  { run, modelRun }: StepOf<"condense">,
  signal: AbortSignal,
): Promise<CondenseFacts> {
  const { parts } = ctx;
  const name = run.started.run;
  const terms = termsIn(parts.run, run);
  if (terms === undefined) throw new BotError("NOT_AVAILABLE", "No model is configured any more.");
  if (terms.prefix !== modelRun.terms.prefix) return { kind: "changed" };
  showThinking(ctx, run);
  const { transcript } = ctx.state;
  const { filling } = modelRun;
  const telling = await tellingFor(ctx, run, modelRun, signal);
  const shares = sharesOf(ctx.thread, { started: run.started, modelRun });
  const asked = requestOf(transcript, { run: name, modelRun }, terms, { ...telling, ...shares });
  const began = performance.now();
  const summary = await ask(ctx, { run, modelRun }, { asked, terms }, telling.instructs, signal);
  const ms = Math.round(performance.now() - began);
  const { usage = NO_USAGE, model, cost = {} } = "said" in summary ? summary : {};
  const paid = { usage, ms, ...(model !== undefined && { model }), ...cost };
  const side = transcript.sides.get(name);
  // A side run's own is told to the first run when it ends.
  const own = side?.hasTask === true ? undefined : side?.from;
  const said = "said" in summary ? summary.said : "";
  const why = "why" in summary ? summary.why : said === "" ? "It wrote nothing." : undefined;
  const isNeeded = why === undefined || mustFit(modelRun, summary);
  const found = isNeeded
    ? condensedBy(
        transcript,
        { run: name, said, ...(own !== undefined && { own }), ...(why !== undefined && { why }) },
        { asked, filling },
      )
    : undefined;
  const size = filling.size;
  const left = { from: 0, to: 0, room: 0, before: size, after: size };
  const nothing = why ?? "Nothing of it can be left out.";
  return { kind: "condensed", condensed: { ...(found ?? { ...left, why: nothing }), ...paid } };
}

/** Without a summary it has to be condensed all the same: the next request would be refused. */
function mustFit({ filling }: StepOf<"condense">["modelRun"], summary: Summary): boolean {
  const { window, isRefused, isForced, size } = filling;
  const isOver = window !== undefined && size + window.output > window.tokens;
  return isRefused || isForced || isOver || ("code" in summary && isOfThread(summary.code));
}

async function ask(
  ctx: ThreadContext,
  { run, modelRun }: Pick<StepOf<"condense">, "run" | "modelRun">,
  { asked, terms }: { asked: RequestContext; terms: NonNullable<ReturnType<typeof termsIn>> },
  instructs: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Summary> {
  const { filling, last } = modelRun;
  const { model: own } = modelRun.terms;
  const { turns, files, maxOutputTokens } = summaryRequest({ asked, filling });
  const requestTokens = filling.size;
  const wanted = { own, newest: last?.model ?? own, requestTokens, places: allPlaces(ctx) };
  const spend = spendOf({ run, modelRun }, { instructs, requestTokens, signal });
  try {
    let model = own;
    const { response, cost } = await withinBudget(ctx, terms, spend, async () => {
      const content = await withFiles(ctx, { ...asked, turns, files });
      const toolChoice = "none" as const;
      const request = { ...asked.request, turns: content, toolChoice, maxOutputTokens };
      let cuts = 0;
      const onDelta = (delta: string | undefined) => void (cuts += delta === undefined ? 1 : 0);
      const answered = await withinMinutes(modelRun, signal, (limited) =>
        ctx.parts.models.generate(request, wanted, { signal: limited, onDelta }),
      );
      ({ model } = answered);
      return { ...answered, cuts };
    });
    const isRefusal = response.stop === "refusal" || response.stop === "content_filter";
    const text = response.content.flatMap((block) => (block.kind === "text" ? [block.text] : []));
    const said = isRefusal ? "" : await ctx.parts.encoder.aside.hide(cleanText(text.join("\n\n")));
    const used = { usage: response.usage, ...(model !== own && { model }), cost };
    return { said: said.trim(), ...used };
  } catch (error) {
    if (signal.aborted || isLookUpFailure(error)) throw error;
    ctx.log.warn({ err: error, key: ctx.key }, "the model gave no summary");
    return { why: whyOf(ctx, error), ...(isBotError(error) && { code: error.code }) };
  }
}

function whyOf({ parts }: ThreadContext, error: unknown): string {
  return parts.encoder.encode(messageOf(error));
}
