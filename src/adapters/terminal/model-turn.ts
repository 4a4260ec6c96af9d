import type { Progress } from "../adapter.ts";

/** A model at work: since when, and what it has written. */
export interface Turn {
  run: string;
  /** Undefined when only its draft was heard of. */
  step: number | undefined;
  /** Ms since 1970. */
  at: number;
  draft: string;
}

/** What the model of a thread is at, made of progress that may come late, twice or not at all. */
export interface ModelTurn {
  readonly turn: Turn | undefined;
  note(progress: Extract<Progress, { run: string }>, now: number): void;
  /** The run is answered; whatever comes of it later was overtaken. */
  end(run: string): void;
  /** It waits; more of it may come. */
  pause(): void;
}

export function createModelTurn(): ModelTurn {
  const ended = new Set<string>();
  let turn: Turn | undefined;
  return {
    get turn() {
      return turn;
    },
    note(progress, now) {
      const { run } = progress;
      if (ended.has(run)) return;
      const before = turn?.run === run ? turn : undefined;
      if (progress.kind === "thinking") {
        if (before?.step === progress.step) return; // told twice
        turn = { run, step: progress.step, at: now, draft: "" };
      } else if (progress.kind === "waiting") {
        turn = undefined; // the card or the question says so
      } else if (before !== undefined || progress.text !== "") {
        turn = { run, step: before?.step, at: before?.at ?? now, draft: progress.text };
      }
    },
    end(run) {
      ended.add(run);
      if (turn?.run === run) turn = undefined;
    },
    pause() {
      turn = undefined;
    },
  };
}
