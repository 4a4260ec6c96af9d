import type { Entry } from "../core/entry.ts";
import { oneLine, shortened } from "../core/text.ts";
import { laterWord, note, nameLabel } from "./said.ts";
import { outputNote } from "./transcript-results.ts";
import type { Item, Transcript, TranscriptRun } from "./transcript-turns.ts";

/** What a thread's conversation is told of a goal that works beside it: how it stands, in few words. */

/** What of a task's answer, and of the goal's, is told. */
const MAX_ANSWER = 600;
const MAX_END = 4_000;
/** However long nobody speaks, no more of its lines wait to be told. */
const MAX_WAITING = 8;
const MARK = "goal-line";

type GoalEntry = Entry<"goal_started"> | Entry<"goal_judged"> | Entry<"goal_state">;

export function foldGoal(transcript: Transcript, entry: GoalEntry): void {
  const { goal } = entry;
  if (entry.kind === "goal_started") {
    transcript.goals.set(goal, entry.text);
    const who = entry.by === undefined ? "A schedule" : nameLabel(entry.by);
    const head = `${who} began goal ${goal}. It is worked on beside this conversation, and what its tasks find is told here: do none of it unless people ask you. Only they pause, resume, extend or stop it, by typing \`goal pause\` and the like: where somebody wants that, say so. It says:`;
    tell(transcript, entry, [outputNote(head, entry.text)]);
    return;
  }
  if (entry.kind === "goal_judged") {
    const { task, verdict, reason } = entry;
    if (verdict === undefined) return;
    const said = `Task ${task} was judged: ${verdict}. ${shortened(oneLine(reason), MAX_ANSWER)}`;
    tell(transcript, entry, [outputNote(`Goal ${goal}:`, said)]);
    return;
  }
  const { state, status, text = "", by } = entry;
  if (state === "ended") transcript.goals.delete(goal);
  const who = by === undefined ? "" : ` by ${nameLabel(by)}`;
  const how = status === undefined ? "" : ` (${status})`;
  const head = `Goal ${goal} is ${state}${how}${who}.`;
  const said = text === "" ? note(head) : outputNote(head, shortened(text, MAX_END));
  tell(transcript, entry, [laterWord(entry, said)]);
}

/** What a task's run came to. */
export function tellTask(
  transcript: Transcript,
  { goal }: TranscriptRun,
  entry: Entry<"run_ended">,
): void {
  if (goal === undefined) return;
  const answer = shortened(oneLine(entry.text ?? ""), MAX_ANSWER);
  const head = `Goal ${goal.goal}, what task ${goal.task} came to (${entry.status}):`;
  tell(transcript, entry, [outputNote(head, answer)]);
}

/** The oldest lines that wait go first: what the goal came to in the end says what is in them. */
function tell(
  transcript: Transcript,
  { seq, id }: { seq: number; id: string },
  content: Extract<Item["turns"][number], { role: "user" }>["content"],
): void {
  transcript.queue.push({ seq, id: `${MARK} ${id}`, turns: [{ role: "user", content }] });
  const waiting = transcript.queue.filter((item) => item.id.startsWith(MARK));
  const dropped = new Set(waiting.slice(0, Math.max(0, waiting.length - MAX_WAITING)));
  if (dropped.size > 0) transcript.queue = transcript.queue.filter((item) => !dropped.has(item));
}
