import { createHash } from "node:crypto";
import { isBotError, messageOf } from "../../core/errors.ts";
import { oneLine, shortened } from "../../core/text.ts";
import { nextWaitMs } from "../../core/retry-wait.ts";
import type { Action } from "../../thread/action.ts";
import type { StepOf } from "../../thread/steps.ts";
import type { PageFacts } from "../../thread/drafts-pages.ts";
import { pageDetails, pageTitle, whyOver } from "../../thread/page-phrases.ts";
import type { PageTarget } from "../../tools/tool.ts";
import { conclude } from "./conclude.ts";
import { barrier } from "../store.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { audienceOf } from "./places.ts";
import { placeNameOf } from "./propose.ts";

/** A pager that is away for less is not worth a word. */
const NOTABLE_MS = 30_000;
const RETRY_MS = { min: 5_000, max: 60_000 };
/** So long after its card would have expired, what stands open there is left to people. */
const GIVE_UP_MS = 60 * 60_000;
const MAX_TITLE = 200;

/**
 * Pages people for an action that was escalated, or says that they are not needed any more. Both are safe to repeat: after a crash
 * or a lost answer the next worker finds by the page's key what was done.
 */
export const page: Learn<"page"> = async (ctx, step, signal) => {
  const { key } = step;
  const { action } = step.page;
  const { proposal } = action;
  const { dispatcher, encoder } = ctx.parts;
  const target = proposal.escalation?.page;
  if (target === undefined) return async () => {};
  const to = dispatcher.pages.nameOf(target);
  try {
    if (!(await barrier(ctx))) return async () => {};
    const facts = await (step.isOver ? close : open)(ctx, step, target, signal);
    return async () => {
      if (!signal.aborted) await conclude(ctx, { ...step, facts });
    };
  } catch (error) {
    const why = encoder.encode(messageOf(error));
    const givesUp = step.isOver && ctx.now() > proposal.expiresAt + GIVE_UP_MS;
    const kind = isForGood(error) || givesUp ? "refused" : "later";
    const since = ctx.now() - (proposal.escalation?.at ?? ctx.now());
    return async () => {
      if (signal.aborted) return;
      if (kind === "later") ctx.deferred.set(key, ctx.now() + nextWaitMs(error, since, RETRY_MS));
      if (kind === "refused" || since >= NOTABLE_MS)
        await conclude(ctx, { ...step, facts: { kind, to, why } });
    };
  }
};

type Ask = (
  ctx: ThreadContext,
  step: StepOf<"page">,
  target: PageTarget,
  signal: AbortSignal,
) => Promise<PageFacts>;

const open: Ask = async (ctx, { page: { action } }, to, signal) => {
  const { adapter, parts } = ctx;
  const audience = await audienceOf(ctx).catch(() => "not known");
  const { title } = action.proposal.preview;
  // What is done in a private place is not told to a pager's people.
  const what = audience === undefined && title !== undefined ? inert(title) : undefined;
  const place = audience === undefined ? await placeNameOf(ctx, signal) : undefined;
  const { pages } = parts.dispatcher;
  const details = pageDetails(action, { what, place, link: adapter.link(ctx.key) });
  const incident = await pages.open(
    {
      to,
      key: keyOf(ctx, action),
      title: parts.encoder.encode(pageTitle(action, what)),
      details: parts.encoder.encode(details),
    },
    signal,
  );
  return { kind: "paged", to: pages.nameOf(to), incident };
};

const close: Ask = async (ctx, { page: { action } }, to, signal) => {
  const { dispatcher, encoder } = ctx.parts;
  const why = encoder.encode(inert(whyOver(action)));
  await dispatcher.pages.close({ to, key: keyOf(ctx, action), why }, signal);
  return { kind: "over" };
};

/** The same for the same action, and for no other: a store that was set back gives its number again. */
function keyOf({ key }: ThreadContext, { action, openedAt }: Action): string {
  const named = `${key} ${action} ${openedAt}`;
  return `watchkeeper-${createHash("sha256").update(named).digest("hex").slice(0, 32)}`;
}

/** Words of others for phones and other programs: on one line, with nothing in it to follow or to be called by. */
function inert(text: string): string {
  const plain = oneLine(text.replaceAll(/[<>]/g, " ").replaceAll("://", ":// "));
  return shortened(plain, MAX_TITLE);
}

/** The pager answered, and would answer so again. */
function isForGood(error: unknown): boolean {
  const isAnswer = isBotError(
    error,
    "PRECHECK_FAILED",
    "INPUT_INVALID",
    "NOT_AVAILABLE",
    "CONFIG_INVALID",
  );
  return isAnswer && error.retryAfterMs === undefined;
}
