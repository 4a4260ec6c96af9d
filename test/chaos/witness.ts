import { closeSync, openSync, readSync, writeSync } from "node:fs";
import type { ActionPhase } from "../../src/adapters/shown.ts";
import type { JsonObject } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { noticeId } from "../../src/thread/entry-ids.ts";
import type { Trap } from "./plan.ts";

/**
 * What the outside world saw: one file that every worker process appends a line to before it does anything else. A line
 * is one write(2) in append mode, so it is whole or absent, in the order things happened, and survives any SIGKILL. It is not on
 * the machine that dies.
 */
export type Sight =
  | { what: "ready" | "stopped" }
  /** A lease was granted; `since` is the store's time of that, since a worker may be frozen before it can say so. */
  | { what: "held"; key: JournalKey; since: number }
  /** A lease was given back, or found to be another's. */
  | { what: "dropped" | "fenced"; key: JournalKey }
  | AskedSight
  | { what: "trap"; point: string; signal: Trap["signal"] }
  | ToolSight
  | Said
  /** A notice was brought up to date, or taken away since nothing of it held any more. */
  | { what: "amended"; key: JournalKey; ref: string; gone: boolean }
  | { what: "whispered"; key: JournalKey; ref: string; to: string; text: string }
  | CardSight
  | { what: "begun"; key: JournalKey; ref: string }
  | { what: "retracted"; key: JournalKey; ref: string };

/**
 * A tool was entered, changed the world, returned. `last` is the journal's last entry at that moment as seen on a
 * connection of the tool's own: what was durable, whatever the worker believes.
 */
export interface ToolSight {
  what: "begin" | "effect" | "end";
  key: JournalKey;
  tool: string;
  name: string;
  args: JsonObject;
  last: number;
}

/** A model was asked. */
interface AskedSight {
  what: "asked";
  key: JournalKey;
  /** How many models' runs had ended before, as the turns tell it. */
  run: number;
  /** It was a side run that asked. */
  isSide: boolean;
  /** A digest of each turn that is settled. */
  turns: string[];
  /** The same without the labels that say who is quoted: they may change from run to run. */
  unlabelled: string[];
  /** Calls that do not have their one result. */
  unpaired: string[];
}

interface Said {
  what: "said";
  key: JournalKey;
  ref: string;
  /** The entry that is shown. */
  delivery: string;
  kind: "answer" | "notice";
  run: string | undefined;
  settles: string | undefined;
  /** The call whose question it puts, and the actions that hold up what was said. */
  asks: string | undefined;
  holds: string[];
  text: string;
}

/** A card as it was put or brought up to date. */
export interface CardSight {
  what: "carded" | "settled";
  key: JournalKey;
  ref: string;
  action: string;
  revision: number;
  digest: string;
  phase: ActionPhase;
  name: string;
}

export type Line = { at: number; pid: number } & Sight;

/** Whether people are told by this delivery that work on their thread is put aside until they write. */
export function isParking(delivery: string): boolean {
  const [, last] = delivery.split(":");
  return delivery === noticeId.parked(Number(last));
}

export interface Witness {
  see(sight: Sight): void;
}

export function openWitness(path: string): Witness {
  const file = openSync(path, "a");
  return {
    see(sight) {
      writeSync(file, `${JSON.stringify({ at: Date.now(), pid: process.pid, ...sight })}\n`);
    },
  };
}

export interface Reader {
  /** The lines since the last call. */
  more(): Line[];
  close(): void;
}

/** Reads a witness's file while others write to it. The file must exist. */
export function readWitness(path: string): Reader {
  const file = openSync(path, "r");
  const buffer = Buffer.alloc(256 * 1024);
  let rest = "";
  return {
    more() {
      for (;;) {
        const bytes = readSync(file, buffer);
        if (bytes === 0) break;
        rest += buffer.toString("latin1", 0, bytes);
      }
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      return lines.map((line) => JSON.parse(Buffer.from(line, "latin1").toString()) as Line);
    },
    close: () => closeSync(file),
  };
}
