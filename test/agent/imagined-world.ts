import { hear, heardAnew, noteInRoom, Room } from "../../src/thread/addressed.ts";
import { foldTranscript } from "../../src/agent/transcript.ts";
import { Transcript } from "../../src/agent/transcript-turns.ts";
import { isOpen } from "../../src/thread/action.ts";
import type { Draft, Entry } from "../../src/core/entry.ts";
import { Thread } from "../../src/thread/state.ts";
import { fold } from "../../src/thread/fold.ts";

/** A thread's history as it grows, with what a worker would hold of it in memory. */
export interface Imagined {
  entries: Entry[];
  /** Of the entries. */
  ids: Set<string>;
  thread: Thread;
  transcript: Transcript;
  /** The turns of the newest request that was answered, each as JSON, unless the thread was condensed since. */
  told: string[];
  /** The same of the side run's. */
  toldBeside: string[];
  /** The same of each helper's, by its run. */
  toldHelpers: Map<string, string[]>;
  /** Its models may have helpers. */
  hasHelpers: boolean;
  /** Which run answered each message. */
  answered: Map<string, string>;
  /** Lines that rules pass over, unless their author turned them to the bot later. */
  passed: Set<string>;
  room: Room;
  /** Models that are asked at this moment. */
  asked: Set<string>;
  /** The work of platforms that are away. */
  away: Set<string>;
  /** Writes wait for it until then. */
  freeze: { id: string; until: number } | undefined;
  /** What waits for its end. */
  frozen: Set<Entry<"action_proposed">>;
  clock: number;
  /** How often a run was condensed. */
  condensed: number;
  /** Tokens that its model takes. */
  window: number;
}

/** Numbers that decide what happens; when they are used up everybody does the dullest thing. */
export type Tape = () => number;

export function imagine(window = 2_000, hasHelpers = false): Imagined {
  return {
    entries: [],
    ids: new Set(),
    thread: new Thread(),
    transcript: new Transcript(),
    told: [],
    toldBeside: [],
    toldHelpers: new Map(),
    hasHelpers,
    answered: new Map(),
    passed: new Set(),
    room: new Room(),
    asked: new Set(),
    away: new Set(),
    freeze: undefined,
    frozen: new Set(),
    clock: 1_000_000,
    condensed: 0,
    window,
  };
}

export function write(world: Imagined, draft: Draft): void {
  const entry: Entry = { seq: world.entries.length + 1, at: world.clock, ...draft };
  expectThat(!world.ids.has(entry.id), `${entry.id} was decided again though it is written`);
  world.ids.add(entry.id);
  const open = [...world.thread.live].filter(isOpen);
  const ending = entry.kind === "run_ended" ? world.thread.runs.get(entry.run) : undefined;
  // What a bot asked is not taken up again: what its run could not do stands in its answer.
  if (entry.kind === "tool_finished" && entry.handsOver === true)
    for (const { id, app } of world.thread.runs.get(entry.run)?.modelRun?.told ?? [])
      if (app === true) world.answered.set(id, entry.id);
  world.entries.push(entry);
  overhear(world, entry);
  fold(world.thread, [entry]);
  foldTranscript(world.transcript, entry);
  checkSideRuns(world, entry);
  checkOnce(world, entry);
  checkHelpers(world, entry);
  if (entry.kind === "stop" && entry.run !== undefined)
    expectThat(
      open.every((action) => isOpen(action) || worksFor(world, action.run, entry.run)),
      `D5 a Stop of ${entry.run} took another run's card with it`,
    );
  for (const { id } of ending?.modelRun?.told ?? []) {
    expectThat(!world.answered.has(id), `D3 ${id} was answered by two runs`);
    world.answered.set(id, entry.id);
  }
  if (entry.kind !== "run_started" || entry.talk === undefined || entry.parent !== undefined)
    return;
  if (entry.reads === true) world.toldBeside = world.told;
}

function overhear({ room, passed, answered }: Imagined, entry: Entry): void {
  const anew = entry.kind === "edited" ? heardAnew(room, entry) : undefined;
  const message = entry.kind === "message" ? entry : anew;
  if (message === undefined) {
    noteInRoom(room, entry);
    return;
  }
  if (hear(room, message) === "silent") passed.add(message.id);
  else passed.delete(message.id);
  if (anew !== undefined) answered.delete(anew.id);
}

export function expectThat(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise);
}

/** What must hold of two runs of one thread, by the letters of the protocol's model (test/protocol/side-run.mjs). */
function checkSideRuns({ entries, thread }: Imagined, entry: Entry): void {
  const isOfReader = (run: string) =>
    entries.some((each) => each.kind === "run_started" && each.run === run && each.reads === true);
  if (entry.kind === "action_proposed")
    expectThat(!isOfReader(entry.run), "D1 a run that only reads asks for an action");
  if (entry.kind === "tool_started") {
    const isWrite = entry.effect !== "read" || entry.action !== undefined;
    expectThat(!isWrite || !isOfReader(entry.run), "D1 a run that only reads wrote");
  }
  if (entry.kind === "tool_started" && entry.action !== undefined) {
    const at = entries.findLastIndex(
      (each) => each.kind === "action_proposed" && each.action === entry.action,
    );
    const isEnded = entries.slice(at).some((each) => {
      if (each.kind === "stop")
        return each.run === undefined || worksFor({ entries }, entry.run, each.run);
      return each.kind === "vote" && each.action === entry.action && !each.approve;
    });
    expectThat(!isEnded, `D2 ${entry.action} was started after a deny or Stop`);
  }
  if (entry.kind === "run_ended" && entry.status !== "cancelled") {
    const at = entries.findIndex((each) => each.kind === "run_started" && each.run === entry.run);
    const isStopped = entries
      .slice(at)
      .some(
        (each) => each.kind === "stop" && worksFor({ entries }, entry.run, each.run ?? entry.run),
      );
    const isModels = thread.runs.get(entry.run)?.modelRun !== undefined;
    expectThat(!isModels || !isStopped, `D5 ${entry.run} was stopped and answered`);
  }
}

/** The run is the named one, or helps it, or helps one that does. */
function worksFor({ entries }: Pick<Imagined, "entries">, run: string, named = run): boolean {
  if (run === named) return true;
  const began = entries.find((each) => each.kind === "run_started" && each.run === run);
  const parent = began?.kind === "run_started" ? began.parent?.run : undefined;
  return parent !== undefined && worksFor({ entries }, parent, named);
}

/** A call that asked for a helper ends once, after the helper; and no run ends before its helpers. */
function checkHelpers({ entries }: Imagined, entry: Entry): void {
  if (entry.kind !== "tool_finished" && entry.kind !== "run_ended") return;
  const asked = entries.flatMap((each) =>
    each.kind === "run_started" && each.parent !== undefined
      ? [{ run: each.run, parent: each.parent }]
      : [],
  );
  const hasEnded = (run: string) =>
    entries.some((each) => each.kind === "run_ended" && each.run === run);
  for (const { run, parent } of asked) {
    const isItsEnd =
      entry.kind === "run_ended" ? entry.run === parent.run : entry.call === parent.call;
    expectThat(
      !isItsEnd || hasEnded(run),
      `H1 ${entry.id} came before the end of the helper ${run}`,
    );
  }
  if (entry.kind !== "tool_finished") return;
  const ends = entries.filter((each) => each.kind === "tool_finished" && each.call === entry.call);
  expectThat(ends.length === 1, `H2 ${entry.call} ended ${ends.length} times`);
}

/** At rest a run that was stopped has ended, and all that work for it. */
export function checkStopped({ entries }: Imagined): void {
  for (const stop of entries) {
    if (stop.kind !== "stop") continue;
    for (const began of entries.slice(0, stop.seq)) {
      if (began.kind !== "run_started" || began.talk === undefined) continue;
      const { run } = began;
      if (!worksFor({ entries }, run, stop.run)) continue;
      const hasEnded = entries.some((each) => each.kind === "run_ended" && each.run === run);
      expectThat(hasEnded, `H4 ${run} goes on after the Stop ${stop.id}`);
    }
  }
}

/** Each action is begun once at most, and a grant carries no more of them than it says. */
function checkOnce({ entries, thread }: Imagined, entry: Entry): void {
  if (entry.kind !== "tool_started" || entry.action === undefined) return;
  const { action, grant } = entry;
  const begun = entries.filter((each) => each.kind === "tool_started");
  const times = begun.filter((each) => each.action === action).length;
  expectThat(times === 1, `A1 ${action} was begun ${times} times`);
  if (grant === undefined) return;
  const uses = begun.filter((each) => each.grant === grant).length;
  const { offer } = thread.actions.get(grant)?.proposal ?? {};
  expectThat(offer === undefined || uses <= offer.uses, `A2 ${grant} carried ${uses} actions`);
}

/** At rest every message has its answer, or was stopped, or is a word that no model answers. */
export function checkAnswered({ entries, answered, passed }: Imagined): void {
  const words = new Set(
    entries.flatMap((entry) => {
      if (entry.kind === "tool_finished") return entry.answers ?? [];
      return entry.kind === "notice" ? (entry.instead ?? entry.answers ?? []) : [];
    }),
  );
  const stopped = entries.findLast(({ kind }) => kind === "stop")?.seq ?? 0;
  for (const { kind, id, seq } of entries) {
    if (kind !== "message") continue;
    expectThat(!passed.has(id) || !answered.has(id), `D3 ${id} is for nobody and was answered`);
    const isDone = answered.has(id) || words.has(id) || passed.has(id) || seq < stopped;
    expectThat(isDone, `D3 no run answered ${id}`);
  }
}
