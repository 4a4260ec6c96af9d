import type { JsonObject } from "../../core/entry.ts";
import type { Outgoing, Progress } from "../adapter.ts";
import { briefArgs } from "./args.ts";
import type { Look } from "./paint.ts";
import type { Screen } from "./screen.ts";
import { formatAge } from "./time.ts";
import { clip } from "./wrap.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** Often enough to look alive, seldom enough to cost nothing. */
const TICK_MS = 120;
/** What is answered sooner never shows that it was worked on. */
const PATIENCE_MS = 400;

/** What is being worked on, as live lines with elapsed seconds. */
export interface Activity {
  note(update: Progress): void;
  /** Something was asked for; until the thread says anything, it is worked on. */
  asked(): void;
  /** The thread said something. */
  heard(message?: Outgoing): void;
  readonly running: number;
  /** Something was asked, and nothing has been heard since. */
  readonly unheard: boolean;
  /** Ms since anything was asked, heard or noted. */
  idleMs(): number;
  stop(): void;
}

export function createActivity(screen: Screen, look: () => Look): Activity {
  const calls = new Map<string, { tool: string; args: JsonObject; at: number }>();
  let askedAt: number | undefined;
  let lastAt = look().now;
  let frame = 0;
  let shown = 0;
  let ticker: NodeJS.Timeout | undefined;
  let over = false;

  function lines(): string[] {
    const { paint, columns, now } = look();
    const spinner = paint("cyan", FRAMES[frame % FRAMES.length] ?? "");
    const line = (text: string, at: number): string => {
      const age = ` ${formatAge(now - at)}`;
      return `${spinner} ${clip(text, columns - age.length - 3)}${paint("dim", age)}`;
    };
    if (calls.size > 0) {
      return [...calls.values()].map((call) =>
        line(`${call.tool} ${briefArgs(call.args)}`.trimEnd(), call.at),
      );
    }
    if (askedAt === undefined || now - askedAt < PATIENCE_MS) return [];
    return [line("working", askedAt)];
  }

  function draw(): void {
    const next = lines();
    frame += 1;
    if (next.length > 0 || shown > 0) screen.live(next);
    shown = next.length;
  }

  function update(): void {
    lastAt = look().now;
    const needed = calls.size > 0 || askedAt !== undefined;
    if (needed && ticker === undefined) ticker = setInterval(draw, TICK_MS);
    if (!needed) {
      clearInterval(ticker);
      ticker = undefined;
    }
    draw();
  }

  return {
    note(progress) {
      if (over) return; // the screen shows another thread by now
      if (progress.kind === "tool_finished") calls.delete(progress.call);
      else calls.set(progress.call, { tool: progress.tool, args: progress.args, at: look().now });
      update();
    },
    asked() {
      askedAt = look().now;
      update();
    },
    heard(message) {
      askedAt = undefined;
      // A finish may have been dropped; an answer tells of it as well.
      if (message?.kind === "answer") for (const { call } of message.results) calls.delete(call);
      update();
    },
    get running() {
      return calls.size;
    },
    get unheard() {
      return askedAt !== undefined;
    },
    idleMs: () => look().now - lastAt,
    stop() {
      calls.clear();
      askedAt = undefined;
      update();
      over = true;
    },
  };
}
