import { BotError } from "../core/errors.ts";
import type { Gap } from "../core/finding.ts";
import type { ToolOutput } from "./tool.ts";

/**
 * A system answered, and not with what was asked for: in a call the tool did its work and says so (`orRefused`), before one it
 * must not begin.
 */
export class Refusal extends BotError {
  readonly gap: Gap | undefined;

  constructor(message: string, gap?: Gap, retryAfterMs?: number) {
    super("PRECHECK_FAILED", message, { retryAfterMs });
    this.name = "Refusal";
    this.gap = gap;
  }
}

/** What the work gives, or what the system said instead. */
export async function orRefused(work: () => Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return {
      text: error.message,
      failed: true,
      ...(error.gap !== undefined && { gaps: [error.gap] }),
    };
  }
}

/** Why a call must not begin. */
export function refused(text: string): BotError {
  return new BotError("PRECHECK_FAILED", text);
}

/** For what is looked for after a change: that it is not there is an answer. */
export function absent(error: unknown): undefined {
  if (error instanceof BotError && error.code === "INPUT_INVALID") return undefined;
  throw error;
}
