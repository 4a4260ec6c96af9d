import { citationOf } from "../thread/entry-ids.ts";
import type { Entry } from "../core/entry.ts";
import { note } from "./said.ts";
import {
  copyShown,
  type Item,
  push,
  type Result,
  type Side,
  Transcript,
  type TranscriptRun,
} from "./transcript-turns.ts";

/** What a side run is told, and what others are told of it. */

const BESIDE =
  "This is a side run: the calls above without a result wait for people or are still running, and are another run's. You only read. What would change something is refused and waits; say so in one sentence and answer what reads can show.";
const WAITS = "No result yet: it is still looked at, waits for people, or runs.";

/** A side run is told the thread as it stands: calls without a result say so, and what was said to it comes last. */
export function beginSide(whole: Transcript, { run, answers, seq }: Entry<"run_started">): void {
  const { turns, marks, shown, open, queue, cards, told } = whole;
  const own = queue.filter(({ id }) => answers.includes(id));
  whole.queue = queue.filter(({ id }) => !answers.includes(id));
  const results = open.map(({ call, id, result }): Result => {
    const action = cards.get(call)?.action;
    const text = action === undefined ? WAITS : `${action} waits for people's decision.`;
    return result ?? { id, text: `[${citationOf(call)}] ${text}`, isError: false, files: [] };
  });
  // What is said to the first run is its own.
  const words = whole.queue.filter(({ isSaid }) => isSaid !== true);
  const beside: Item = { seq: 0, id: "", turns: [{ role: "user", content: [note(BESIDE)] }] };
  const transcript = Object.assign(new Transcript(), whole, {
    turns: [...turns],
    marks: [...marks],
    shown: copyShown(shown),
    queue: [...[...words, beside].map((item) => ({ ...item, isBeside: true as const })), ...own],
    open: [],
    told: new Map(told),
    sides: new Map(),
  });
  if (results.length > 0) push(transcript, { role: "tool", results }, seq);
  whole.sides.set(run, { transcript, opening: [], from: Infinity });
}

/** The calls that were more than the run might do. */
export function wantedBy({ calls }: TranscriptRun): string {
  const refused = [...calls.values()].filter(({ result }) => result?.handsOver === true);
  return refused.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`).join(", ");
}

/** What a side run was told and said comes whole to whoever is asked next; what it was not told is still to be told. */
export function endSide(
  whole: Transcript,
  { transcript, opening, from }: Side,
  run: TranscriptRun,
  { run: name, seq, id }: Entry<"run_ended">,
): void {
  whole.sides.delete(name);
  const wanted = wantedBy(run);
  const rest =
    wanted === ""
      ? "It needs no other answer."
      : `It could not call ${wanted}: that part is for the run that may act, if it is still wanted. The rest needs no other answer.`;
  const turns = [...opening, ...transcript.turns.slice(from)];
  const after = note(
    `What was asked and answered just above was a side run's, which only read. ${rest}`,
  );
  const hands = wanted === "" ? [] : run.told;
  if (turns.length > 0)
    whole.queue.push({ seq, id, hands, turns: [...turns, { role: "user", content: [after] }] });
  const left = transcript.queue.filter(({ isBeside }) => isBeside !== true);
  whole.queue.push(...left.map((item) => ({ ...item, seq })));
}
