import type { Outgoing, Progress } from "../shown.ts";
import { estimateWords, meterWords } from "../render/budget-words.ts";
import { briefArgs, modelWords } from "../render/phrases.ts";
import { planLines, planLineText } from "../render/plan-lines.ts";
import { type CallProgress, createRunProgress, type RunProgress } from "../render/progress.ts";
import type { Look } from "./style.ts";
import type { Screen } from "./screen.ts";
import { formatAge } from "./time.ts";
import { clip, tailLines } from "./wrap.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** Often enough to look alive, seldom enough to cost nothing. A draft is drawn with it, however fast it streams. */
const TICK_MS = 120;
/** What is answered sooner never shows that it was worked on. */
const PATIENCE_MS = 400;
/** The end of a draft that is shown while it streams. */
const MAX_DRAFT_LINES = 8;
/** Of a plan; what is worked on stands below it. */
const MAX_PLAN_LINES = 8;
const DRAFT_INDENT = "  ";

/** What is worked on: the running calls, else the model, else whatever was asked for. */
function workLines(
  { progress, askedAt }: { progress: RunProgress; askedAt: number | undefined },
  frame: number,
  { paint, columns, now }: Look,
): string[] {
  const spinner = paint("cyan", FRAMES[frame % FRAMES.length] ?? "");
  const line = (text: string, at: number): string => {
    const age = ` ${formatAge(now - at)}`;
    return `${spinner} ${clip(text, columns - age.length - 3)}${paint("dim", age)}`;
  };
  const planned = planLines(progress.plan, MAX_PLAN_LINES).map((each) =>
    paint("dim", clip(planLineText(each), columns - 1)),
  );
  const running = runningIn(progress).map(({ tool, args, doing, at }) =>
    line(doing ?? `${tool} ${briefArgs(args)}`.trimEnd(), at),
  );
  const used = meterLines(progress).map((each) => paint("dim", clip(each, columns - 1)));
  if (running.length > 0) return [...planned, ...running, ...used];
  if (progress.modelSince !== undefined)
    return [...planned, line(modelWords(progress), progress.modelSince), ...used];
  if (askedAt === undefined || now - askedAt < PATIENCE_MS) return [];
  return [line("working", askedAt)];
}

function meterLines({ meter }: RunProgress): string[] {
  if (meter === undefined) return [];
  const { extension } = meter;
  const how = extension && `Type \`extend\` to let it use more: ${estimateWords(extension.more)}`;
  return [meterWords(meter), ...(how === undefined ? [] : [how])].map((text) => `  ${text}`);
}

function runningIn({ calls }: RunProgress): CallProgress[] {
  return [...calls.values()].filter(({ outcome }) => outcome === undefined);
}

/** The end of a draft, in at most `room` lines. */
function draftLines(draft: string, room: number, { paint, columns }: Look): string[] {
  if (draft === "" || room < 1) return [];
  // A tab is as wide as where it stands, and a line that is too wide cannot be redrawn.
  const text = draft.replaceAll("\t", "  ");
  const width = Math.max(1, columns - 2 * DRAFT_INDENT.length);
  const lines = tailLines(text, width, Math.min(MAX_DRAFT_LINES, room));
  return lines.map((line) => DRAFT_INDENT + paint("dim", line));
}

/** What is being worked on, as live lines with elapsed seconds, and below them the end of what a model is writing. */
export function createActivity(screen: Screen, look: () => Look) {
  const progress = createRunProgress(() => look().now);
  let askedAt: number | undefined;
  let lastAt = look().now;
  let frame = 0;
  let shown = 0;
  let ticker: NodeJS.Timeout | undefined;
  let over = false;

  function draw(): void {
    const now = look();
    const work = workLines({ progress, askedAt }, frame, now);
    const { modelSince, draft: written } = progress;
    const shownDraft = modelSince === undefined ? "" : written;
    const draft = draftLines(shownDraft, screen.liveRoom - work.length, now);
    const next = [...work, ...draft];
    frame += 1;
    if (next.length > 0 || shown > 0) screen.live(next);
    shown = next.length;
  }

  const isBusy = (): boolean =>
    runningIn(progress).length > 0 || progress.modelSince !== undefined || askedAt !== undefined;

  /** Keeps ticking only while there is something to show, and draws unless the next tick is soon enough. */
  function update(drawn: "now" | "soon" = "now"): void {
    if (over) return; // the screen shows another thread by now
    lastAt = look().now;
    const needed = isBusy();
    if (needed && ticker === undefined) ticker = setInterval(draw, TICK_MS);
    if (!needed) {
      clearInterval(ticker);
      ticker = undefined;
    }
    if (drawn === "now") draw();
  }

  return {
    note(news: Progress): void {
      progress.note(news);
      update(news.kind === "draft" ? "soon" : "now");
    },
    /** Something was asked for; until the thread says anything, it is worked on. */
    asked(): void {
      askedAt = look().now;
      update();
    },
    /** The thread said something, or showed how an action stands. */
    heard(what: Outgoing | "action"): void {
      askedAt = undefined;
      if (what !== "action" && what.kind === "answer") {
        // A finish may have been dropped; an answer tells of it as well.
        progress.end(
          what.run,
          what.results.map(({ call }) => call),
        );
      } else if (what === "action" || what.asks !== undefined) {
        // The model waits for a person then. Any other notice is beside its work.
        progress.wait();
      }
      update();
    },
    settled(): void {
      askedAt = undefined;
      update();
    },
    get running(): number {
      return runningIn(progress).length;
    },
    get busy(): boolean {
      return isBusy();
    },
    get unheard(): boolean {
      return askedAt !== undefined;
    },
    idleMs: () => look().now - lastAt,
    stop(): void {
      over = true;
      clearInterval(ticker);
      screen.live([]);
    },
  };
}

export type Activity = ReturnType<typeof createActivity>;
