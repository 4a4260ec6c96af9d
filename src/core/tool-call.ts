import type { ArtifactRef, Effect, FileRef, JsonObject, Outcome } from "./entry.ts";
import type { JournalKey } from "./journal-key.ts";
import type { Finding, Gap } from "./finding.ts";

/** A call as it would be run: checked, with its arguments pinned. */
export interface PreparedCall {
  tool: string;
  /** What it does with these arguments. */
  effect: Effect;
  args: JsonObject;
  /** The machine that it is for, as its arguments say; undefined: it does not matter where it is run. */
  host: string | undefined;
  /** SHA-256, hexadecimal, over the canonical form of tool, arguments and schema: what approvals are bound to. */
  digest: string;
  /** What it does, as people say it, encoded; undefined: its name and arguments say it, or its card. */
  doing?: string | undefined;
}

/** The call that takes another one back exactly, with the values from before. */
export interface ReverseCall {
  tool: string;
  /** Internal ones included, such as the state that has to stand there for it to be run. */
  args: JsonObject;
}

/** A place that shows the thread from here on, or no more: named by the key that its own journal would have. */
export type ViewChange =
  | { kind: "view_added"; view: JournalKey; channel: string }
  | { kind: "view_removed"; view: string };

/** How a call that was run here ended, safe to store and show. */
export interface ToolResult {
  outcome: Outcome;
  text: string;
  /** The full text, where `text` is cut. */
  artifacts: ArtifactRef[];
  /** The images that go with the text. */
  files: FileRef[];
  findings: Finding[];
  gaps: Gap[];
  /** Only of what is done. */
  undo?: ReverseCall | undefined;
  /** When it is looked at again, from its end. Only of what is done. */
  verifyAfterMs?: number | undefined;
  /** What its tool saw when it read back, right after it. */
  readBack?: "done" | "not done" | "unknown" | undefined;
  /** That it was done is to be marked (`Tool.mark`). */
  marks?: true | undefined;
  /** Only of what is done. */
  view?: ViewChange | undefined;
  ms: number;
}
