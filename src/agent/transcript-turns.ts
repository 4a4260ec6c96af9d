import { hash } from "node:crypto";
import type { AssistantBlock } from "../core/block.ts";
import type { Entry, FileRef, JsonObject } from "../core/entry.ts";
import type { PlanTask } from "../core/plan.ts";
import { Room } from "../thread/addressed.ts";
import type { ModelWindow } from "../thread/filling.ts";
import { type Kept, note, type Part, shownParts } from "./said.ts";

/** A thread as its model is told it: turns, and what is still to be told. */

export interface Result {
  id: string;
  text: string;
  isError: boolean;
  files: readonly FileRef[];
}

/** A turn as the journal gives it; the same as a request's but for files. */
export type TranscriptTurn =
  | { role: "user"; content: readonly Part[] }
  | { role: "assistant"; content: readonly AssistantBlock[]; model: string }
  | { role: "tool"; results: readonly Result[] };

export type KeptTurn =
  | Exclude<TranscriptTurn, { role: "user" }>
  | { role: "user"; content: readonly Kept[] };

/** What a call came to; its text only where no turn of a model's has it. */
export type Came = Pick<Entry<"tool_finished">, "outcome" | "text" | "handsOver">;

export interface TranscriptRun {
  talks: boolean;
  /** Accounts whose lines its last request told as instructions, at first who asked; undefined: everybody's. */
  instructs: readonly string[] | undefined;
  /** The one that it began with. */
  model: string;
  answers: readonly string[];
  /** Messages that its requests held because they answer or were told them. */
  told: readonly string[];
  undoes: string | undefined;
  isAgents: boolean;
  /** A bot's message began it. */
  isFromApp: boolean;
  /** Checks that it makes without a model's asking. */
  checks:
    | {
        why: "no_model" | "model_failed" | "alert" | "first_look" | "again";
        calls: readonly string[];
      }
    | undefined;
  calls: Map<string, { tool: string; args: JsonObject; result?: Came }>;
  /** Of its model. */
  window: ModelWindow | undefined;
  /** As the model wrote it last. */
  plan?: readonly PlanTask[];
  /** The task of a goal that it does. */
  goal?: NonNullable<Entry<"run_started">["goal"]>;
}

/** Turns as a request has them, and what is known of them all without looking through them. */
export class ShownTurns {
  turns: TranscriptTurn[] = [];
  /** What they show besides text. */
  files: FileRef[] = [];
  /** How long they are as JSON. */
  chars = 0;
  /** SHA-256 over them, each chained to the one before. */
  digest = "";
}

/**
 * A thread as its model is told it: a fold over all entries. Within a run it only ever grows at its end, so that each
 * request begins with the one before it; a run that others instruct begins with other lines quoted.
 */
export class Transcript {
  last = 0;
  turns: KeptTurn[] = [];
  /** Of each of them the entry that it came with. */
  marks: number[] = [];
  /** The same as requests show them. */
  shown = new ShownTurns();
  /** What no request has held yet, in order; it stands after the results of the turn that is open. */
  queue: Item[] = [];
  /** Posts of messages that were taken away: the next run is not told them. */
  readonly removed = new Set<string>();
  /** The newest turn's calls, by our id, while any has no result. */
  open: { call: string; id: string; result: Result | undefined }[] = [];
  readonly runs = new Map<string, TranscriptRun>();
  readonly room = new Room();
  /** Messages that were said to somebody else, or to nobody. */
  readonly asides = new Set<string>();
  /** By run, the side runs and the helpers that go on. */
  readonly sides = new Map<string, Side>();
  /** By call, its action, and its arguments where people changed them. */
  readonly cards = new Map<string, { action: string; edited: JsonObject | undefined }>();
  uses = 0;
  /** The calls among them, by our id. */
  readonly numbered = new Set<string>();
  /** Providers' ids of calls so far. */
  readonly ids = new Set<string>();
  /** Long results that the turns hold, by SHA-256 of the call and its text: the call that brought each first. */
  told = new Map<string, string>();
  /** Ids of what was posted, to know again what stands in the chat. */
  readonly posted = new Set<string>();
  /** By their names, what the goals that are at work are for. */
  readonly goals = new Map<string, string>();
  /** Names of what it was told from memory: once is enough. */
  readonly remembered = new Set<string>();
  /** The message up to which what stands in the chat was read. */
  readTo: string | undefined;
  /** The newest run failed by something that may stand in the thread: the next one is shown no earlier files. */
  isRefused = false;
}

/** What a request has yet to hold: what somebody said, a word of the program's, or what a side run was told and said. */
export interface Item {
  seq: number;
  id: string;
  turns: readonly KeptTurn[];
  isSaid?: true;
  /** A side run is told it too. */
  isBeside?: true;
  /** Messages that a side run could not deal with: whoever is told this answers them. */
  hands?: readonly string[];
}

/** A side run is told the thread as it stood at its beginning; its own is what it answers, and its turns from `from` on. */
export interface Side {
  /** Nobody else is told any of it: its run has a task, a helper's or a goal's. */
  hasTask?: true;
  transcript: Transcript;
  opening: readonly KeptTurn[];
  from: number;
}

/** The turns of a request made now: everything so far. */
export function turnsOf({ shown, queue }: Transcript): ShownTurns {
  const turns = copyShown(shown);
  for (const turn of turnsIn(queue)) show(turns, turn);
  return turns;
}

/** SHA-256, hexadecimal, over a request's turns and what else it says; files count by their ids. */
export function requestHash({ digest }: ShownTurns, rest: string): string {
  return chain(digest, JSON.stringify(rest));
}

export function copyShown(shown: ShownTurns): ShownTurns {
  return Object.assign({}, shown, { turns: [...shown.turns], files: [...shown.files] });
}

/** Turns that were shown before as requests have them; `chars` and `digest` are what they came to then. */
export function shownAgain(
  turns: readonly KeptTurn[],
  { chars, digest }: Pick<ShownTurns, "chars" | "digest">,
): ShownTurns {
  const told = turns.map(asShown);
  return { turns: told, files: told.flatMap(filesOf), chars, digest };
}

function show(shown: ShownTurns, turn: KeptTurn): void {
  const told = asShown(turn);
  const json = JSON.stringify(told);
  shown.turns.push(told);
  shown.files.push(...filesOf(told));
  shown.chars += json.length;
  shown.digest = chain(shown.digest, json);
}

function filesOf(turn: TranscriptTurn): readonly FileRef[] {
  if (turn.role === "assistant") return [];
  if (turn.role === "tool") return turn.results.flatMap(({ files }) => files);
  return turn.content.flatMap((part) => (part.kind === "file" ? [part.file] : []));
}

function asShown(turn: KeptTurn): TranscriptTurn {
  return turn.role === "user" ? { role: "user", content: shownParts(turn.content) } : turn;
}

/** What one says after the other without a turn of the model's between is one turn. */
export function turnsIn(items: readonly Item[]): KeptTurn[] {
  const turns: KeptTurn[] = [];
  for (const turn of items.flatMap((item) => item.turns)) {
    const last = turns.at(-1);
    if (turn.role === "user" && last?.role === "user")
      turns.splice(-1, 1, { role: "user", content: [...last.content, ...turn.content] });
    else turns.push(turn);
  }
  return turns;
}

function chain(digest: string, json: string): string {
  return hash("sha256", digest + json, "hex");
}

/** `mark`: the entry that it comes with. */
export function push(transcript: Transcript, turn: KeptTurn, mark: number): void {
  transcript.turns.push(turn);
  transcript.marks.push(mark);
  show(transcript.shown, turn);
}

/** Other turns in their place, each with its mark; without marks each has that of the turn it stands for. */
export function replace(
  transcript: Transcript,
  turns: readonly KeptTurn[],
  marks: readonly number[] = transcript.marks,
): void {
  transcript.turns = [];
  transcript.marks = [];
  transcript.shown = new ShownTurns();
  for (const [i, turn] of turns.entries()) push(transcript, turn, marks[i] ?? 0);
}

/** What a run is told. */
export function transcriptOf(whole: Transcript, run: string): Transcript {
  return whole.sides.get(run)?.transcript ?? whole;
}

/** Leaves what people said and what they were answered. */
export function shorten(transcript: Transcript, answers: readonly string[]): void {
  transcript.told = new Map();
  const left = transcript.turns.map((turn, i) => ({ turns: shortened([turn]), i }));
  const marks = left.flatMap(({ turns, i }) => turns.map(() => transcript.marks[i] ?? 0));
  replace(
    transcript,
    left.flatMap(({ turns }) => turns),
    marks,
  );
  transcript.queue = transcript.queue.map((item) =>
    answers.includes(item.id) ? item : { ...item, turns: shortened(item.turns) },
  );
}

function shortened(turns: readonly KeptTurn[]): KeptTurn[] {
  return turns.flatMap((turn): KeptTurn[] => {
    if (turn.role === "user") {
      const content = withoutFiles(turn.content).filter(
        (part) => part.kind !== "context" || part.of === "word",
      );
      return content.length === 0 ? [] : [{ ...turn, content }];
    }
    const hasCalls =
      turn.role === "tool" || turn.content.some((block) => block.kind === "tool_use");
    return hasCalls ? [] : [turn];
  });
}

/** Shows none of the files that came before what the run answers: one of them may be what a model refuses. */
export function dropFiles(transcript: Transcript, answers: readonly string[]): void {
  const drop = (turn: KeptTurn): KeptTurn => {
    if (turn.role === "assistant") return turn;
    if (turn.role === "user")
      return hasFile(turn.content) ? { ...turn, content: withoutFiles(turn.content) } : turn;
    const isPlain = turn.results.every(({ files }) => files.length === 0);
    if (isPlain) return turn;
    return { ...turn, results: turn.results.map((result) => ({ ...result, files: [] })) };
  };
  const turns = transcript.turns.map(drop);
  if (turns.some((turn, i) => turn !== transcript.turns[i])) replace(transcript, turns);
  transcript.queue = transcript.queue.map((item) =>
    answers.includes(item.id) ? item : { ...item, turns: item.turns.map(drop) },
  );
}

function hasFile(content: readonly Kept[]): boolean {
  return content.some(({ kind }) => kind === "file");
}

function withoutFiles(content: readonly Kept[]): readonly Kept[] {
  if (!hasFile(content)) return content;
  return content.map((part) =>
    part.kind === "file"
      ? note(`File ${JSON.stringify(part.file.name)} is no longer shown.`)
      : part,
  );
}
