import { isAgent } from "../core/people.ts";
import { type Entry, isPost, type Kind } from "../core/entry.ts";
import { planText } from "../core/plan.ts";
import {
  type Kept,
  laterWord,
  note,
  nameLabel,
  quotedBut,
  remembered,
  said,
  stoodAbove,
  unsaid,
} from "./said.ts";
import { beginTask, tellWord } from "./transcript-task.ts";
import { foldGoal, tellTask } from "./transcript-goal.ts";
import { beginSide, endSide, wantedBy } from "./transcript-side.ts";
import {
  type Item,
  type KeptTurn,
  dropFiles,
  push,
  replace,
  shorten,
  Transcript,
  transcriptOf,
  turnsIn,
} from "./transcript-turns.ts";
import { STAY_SILENT } from "../core/tool-spec.ts";
import { hear, heardAnew, isSmallTalk, noteInRoom } from "../thread/addressed.ts";
import { alertsText } from "../thread/alert-phrases.ts";
import { SILENCE } from "../thread/silences.ts";
import { instructsOf, usesOf } from "../thread/model-run.ts";
import { isGateId } from "../thread/entry-ids.ts";
import { isOfThread } from "../thread/filling.ts";
import { foldCondensed } from "./condensed.ts";
import { checkNotes, closeOpen, refOf, tellFinished, outputNote } from "./transcript-results.ts";

export interface Telling {
  /** Accounts whose lines instruct; others' are quoted. Undefined: everybody's do, as versions before this told it. */
  instructs: readonly string[] | undefined;
  /** It is its run's first: what was said earlier gets new labels. Within a run what was told stays the same bytes. */
  first: boolean;
  /** Only what people and the bot said to each other, without the calls between. */
  brief: boolean;
  /** Messages that it leaves to a side run. */
  elsewhere?: readonly string[];
  /** A side run's: messages that joined it. */
  joined?: readonly string[];
}

/** Below the lines of a run that may not be for the bot. */
const UNSURE = `Nobody mentioned you. Answer if the newest lines need you; if people are talking to each other, call ${STAY_SILENT}.`;
/** Below the message of a bot that began a run. */
const APPS = `An app posted this, and no person asked you. If it reports something wrong, look into it and answer; you only read. If it reports nothing wrong, such as a recovery, call ${STAY_SILENT}.`;
/** Below such a run, before the calls that were more than it might do. */
const APPS_END =
  "The run above only read, since no person had asked for it. You may act only on what people ask. It could not call";
/** Where a person pressed Continue below an answer that a limit had cut short. */
const CONTINUED =
  "People pressed Continue: go on from where your last answer stopped. You have a fresh budget and all tools.";
/** Why checks looked, to whoever is told of it later. */
const CHECKED = {
  no_model: "no model is configured",
  model_failed: "no model could answer",
  alert: "an alert came",
  first_look: "before a model was asked",
  again: "again, after an action",
} as const;
/** Above a plan that was made before the run's first turn. */
const PLANNED = `A plan for this, made before you began. Follow it as long as it fits what you find, and keep it with update_plan:`;

/** Folds the next entry into a transcript, in place; one that is in it already changes nothing. */
export function foldTranscript<K extends Kind>(transcript: Transcript, entry: Entry<K>): void {
  if (entry.seq <= transcript.last) return;
  transcript.last = entry.seq;
  if (isPost(entry)) transcript.posted.add(entry.id);
  noteInRoom(transcript.room, entry);
  TOLD[entry.kind]?.(transcript, entry);
}

/** The transcript as a request of this run tells it; the given one stays as it is. */
export function toldAs(whole: Transcript, run: string, telling: Telling): Transcript {
  const { elsewhere = [], joined = [] } = telling;
  const transcript = transcriptOf(whole, run);
  const left = transcript.queue.filter(({ id }) => !elsewhere.includes(id));
  const queue = [...left, ...whole.queue.filter(({ id }) => joined.includes(id))];
  // Turns are replaced, never changed in place, so the copy may have the same.
  const copy: Transcript = Object.assign({}, transcript, { queue });
  tell(copy, run, telling);
  return copy;
}

/** Labels what people said as this request tells it. */
function tell(transcript: Transcript, run: string, { instructs, first, brief }: Telling): void {
  if (first) forgetRemoved(transcript);
  if (first && brief) shorten(transcript, transcript.runs.get(run)?.answers ?? []);
  if (instructs === undefined) return;
  const names = new Set(instructs);
  const quoted = (turn: KeptTurn): KeptTurn => {
    if (turn.role !== "user") return turn;
    const content = quotedBut(turn.content, names);
    return content === turn.content ? turn : { role: "user", content };
  };
  transcript.queue = transcript.queue.map((item) => ({ ...item, turns: item.turns.map(quoted) }));
  if (!first) return;
  // Mostly nothing changes, and there may be thousands.
  if (transcript.turns.some((turn) => quoted(turn) !== turn))
    replace(transcript, transcript.turns.map(quoted));
}

function forgetRemoved(transcript: Transcript): void {
  const { turns, removed } = transcript;
  if (removed.size === 0) return;
  const kept = turns.map((turn): KeptTurn => {
    if (turn.role !== "user") return turn;
    const content = unsaid(turn.content, removed);
    return content === turn.content ? turn : { role: "user", content };
  });
  if (kept.some((turn, i) => turn !== turns[i])) replace(transcript, kept);
}

function tellMessage(transcript: Transcript, entry: Entry<"message">): void {
  const { seq, id } = entry;
  const hearing = hear(transcript.room, entry);
  const aside = hearing === "silent";
  if (aside) transcript.asides.add(id);
  else transcript.asides.delete(id);
  if (isSmallTalk(hearing, entry)) return;
  const turns: KeptTurn[] = [{ role: "user", content: said(entry, { aside }) }];
  transcript.queue.push({ seq, id, turns, isSaid: true });
}

type Told = {
  readonly [K in Kind]: ((transcript: Transcript, entry: Entry<K>) => void) | undefined;
};

const TOLD: Told = {
  message: tellMessage,
  edited(transcript, entry) {
    const { of, actor, text, command } = entry;
    const isIt = (part: Kept) =>
      part.kind === "line" && part.of === of && part.by === actor.account;
    // Of a side run's exchange it is one line of many, and stands as its answer's model read it.
    const item = queued(transcript).find(
      (each) => each.turns.length === 1 && contentOf(each).some(isIt),
    );
    const anew = heardAnew(transcript.room, entry);
    if (anew !== undefined) {
      tellMessage(transcript, anew);
      return;
    }
    if (command !== undefined) {
      dropQueued(transcript, item);
      return;
    }
    // What was told before stays as it was told, and this comes after it.
    const line = said(
      { ...entry, kind: "message", actor, text },
      { of, isEdit: item === undefined, aside: transcript.asides.has(of) },
    );
    if (item === undefined) enqueue(transcript, entry, line);
    else {
      const files = contentOf(item).filter(({ kind }) => kind === "file");
      item.turns = [{ role: "user", content: [...line, ...files] }];
    }
  },
  removed(transcript, { of }) {
    const { removed } = transcript;
    removed.add(of);
    for (const item of queued(transcript))
      item.turns = item.turns.map((turn) =>
        turn.role === "user" ? { ...turn, content: unsaid(turn.content, removed) } : turn,
      );
  },
  run_started(transcript, entry) {
    const { run, talk, answers, calls, undoes, principals, app, reads, checks, task, continues } =
      entry;
    transcript.runs.set(run, {
      talks: talk !== undefined,
      instructs: principals,
      model: talk?.model ?? "",
      answers,
      told: answers,
      undoes,
      isAgents: principals.some(isAgent),
      isFromApp: app !== undefined,
      checks: checks && { why: checks.why, calls: calls.map(({ call }) => call) },
      calls: new Map(calls.map(({ call, tool, args }) => [call, { tool, args }])),
      window: talk?.window,
      ...(entry.goal !== undefined && { goal: entry.goal }),
    });
    if (checks !== undefined) {
      transcript.uses += calls.length;
      for (const { call } of calls) transcript.numbered.add(call);
    }
    if (task !== undefined) beginTask(transcript, entry);
    else if (reads === true) beginSide(transcript, entry);
    else if (talk !== undefined && transcript.isRefused) dropFiles(transcript, answers);
    if (continues !== undefined) enqueue(transcript, entry, [note(CONTINUED)]);
    if (talk?.unsure === true)
      enqueue(transcriptOf(transcript, run), entry, [note(app === undefined ? UNSURE : APPS)]);
  },
  extended(transcript, entry) {
    if (transcript.runs.has(entry.of))
      enqueue(transcriptOf(transcript, entry.of), entry, [note(extendedNote(entry))]);
  },
  above(transcript, entry) {
    transcript.readTo = entry.upTo ?? transcript.readTo;
    const { remembered: names } = transcriptOf(transcript, entry.run);
    for (const { memory } of entry.remembered?.items ?? []) names.add(memory);
    const content = [...stoodAbove(entry), ...remembered(entry)];
    if (content.length === 0) return;
    const { seq, id } = entry;
    const { answers = [] } = transcript.runs.get(entry.run) ?? {};
    const { queue } = transcriptOf(transcript, entry.run);
    const at = queue.findIndex((item) => answers.includes(item.id));
    const turns: KeptTurn[] = [{ role: "user", content }];
    queue.splice(at < 0 ? queue.length : at, 0, { seq, id, turns });
  },
  assistant: applyAssistant,
  condensed: foldCondensed,
  overflow: undefined,
  // It is about the answer just above, so nothing that was said or done meanwhile comes between.
  gate(transcript, { run, seq, id, text, gate }) {
    const { queue } = transcriptOf(transcript, run);
    if (gate === "checks") {
      const content = [note(text), ...checkNotes(transcript.runs.get(run))];
      queue.push({ seq, id, turns: [{ role: "user", content }] });
      return;
    }
    const after = queue.findIndex((item) => !isGateId(item.id));
    const turns: KeptTurn[] = [{ role: "user", content: [note(text)] }];
    queue.splice(after < 0 ? queue.length : after, 0, { seq, id, turns });
  },
  // What its model wrote itself stands in its call.
  plan(transcript, entry) {
    const run = transcript.runs.get(entry.run);
    if (run !== undefined) run.plan = entry.tasks;
    if (entry.thought === undefined || entry.tasks.length === 0) return;
    const content = [note(`${PLANNED}\n${planText(entry.tasks)}`)];
    enqueue(transcriptOf(transcript, entry.run), entry, content);
  },
  // A void action's call is asked about again, with the model's own arguments.
  action_proposed: ({ cards }, { action, revision, call, args }) =>
    void cards.set(call, { action, edited: revision > 1 ? args : undefined }),
  tool_finished: tellFinished,
  settled(transcript, entry) {
    const word = entry.happened ? "it happened" : "it did not happen";
    const what = refOf(transcript, entry.call);
    const told = note(`${entry.name} settled ${what}: ${word}.`);
    tellWord(transcript, entry, entry.call, [laterWord(entry, told)]);
  },
  signal(transcript, entry) {
    const head = `Late word on ${refOf(transcript, entry.call)}: ${entry.outcome}.`;
    tellWord(transcript, entry, entry.call, [laterWord(entry, outputNote(head, entry.text))]);
  },
  run_ended: end,
  notice(transcript, entry) {
    const { instead, verifies } = entry;
    if (verifies !== undefined) {
      const head = `Looked at again, ${refOf(transcript, verifies.call)}: ${verifies.verdict}.`;
      tellWord(transcript, entry, verifies.call, [laterWord(entry, outputNote(head, entry.text))]);
    }
    // Its author was answered by the program; to the model it says nothing.
    if (instead !== undefined)
      transcript.queue = transcript.queue.filter(({ id }) => id !== instead);
  },
  stop(transcript, entry) {
    const what =
      entry.run === undefined
        ? "everything said so far"
        : transcript.sides.has(entry.run)
          ? "the side run"
          : "the run that went on";
    enqueue(transcript, entry, [note(`${nameLabel(entry.actor)} stopped ${what}.`)]);
  },
  alert_state(transcript, entry) {
    // Only how a group stands now: what it was before nobody was told yet.
    const group = alertStateOf(entry.id);
    transcript.queue = transcript.queue.filter(({ id }) => alertStateOf(id) !== group);
    enqueue(transcript, entry, [outputNote(ALERTS, alertsText(entry))]);
  },
  goal_started: foldGoal,
  goal_planned: undefined,
  goal_judged: foldGoal,
  goal_state: foldGoal,
  command: undefined,
  click: undefined,
  timer: undefined,
  vote: undefined,
  grant_revoked: undefined,
  action_closed: undefined,
  tool_started: undefined,
  view_added: undefined,
  view_removed: undefined,
  delivered: undefined,
  incident: undefined,
  incident_state: undefined,
  alert: undefined,
  alert_thread: undefined,
  alert_told: undefined,
  tenant: undefined,
  tool_form: undefined,
  freeze: undefined,
  feedback: undefined,
  memory: undefined,
  secret: undefined,
  mirror: undefined,
  moved: undefined,
  alarm: undefined,
};

function extendedNote({ more: { steps = 0 } }: Entry<"extended">): string {
  const some = steps === 0 ? "" : `, by ${steps} steps`;
  return `People extended what you may use${some}: go on with your tools as long as it helps, then answer.`;
}

const ALERTS = "How alerts of this thread stand, as their monitoring system tells it:";

/** What is the same of all states of one group; any other entry's is its own. */
function alertStateOf(id: string): string {
  return id.startsWith("alert:") ? id.slice(0, id.lastIndexOf("@")) : id;
}

/** What is still to be told, to a side run too. */
function queued({ queue, sides }: Transcript): Item[] {
  return [...queue, ...[...sides.values()].flatMap(({ transcript }) => transcript.queue)];
}

function contentOf({ turns }: Item): readonly Kept[] {
  return turns.flatMap((turn) => (turn.role === "user" ? turn.content : []));
}

function dropQueued(transcript: Transcript, item: Item | undefined): void {
  for (const each of [transcript, ...[...transcript.sides.values()].map((side) => side.transcript)])
    each.queue = each.queue.filter((other) => other !== item);
}

function enqueue({ queue }: Transcript, { seq, id }: Entry, content: Kept[]): void {
  queue.push({ seq, id, turns: [{ role: "user", content }] });
}

function applyAssistant(whole: Transcript, entry: Entry<"assistant">): void {
  const run = whole.runs.get(entry.run);
  if (run === undefined) return; // it came after its run's end: nobody will carry out what it asks for
  const side = whole.sides.get(entry.run);
  const transcript = side?.transcript ?? whole;
  const telling = tellingOf(whole, entry);
  run.instructs = telling.instructs;
  const isHeld = ({ seq, id }: Item) =>
    seq <= entry.seen && telling.elsewhere?.includes(id) !== true;
  if (side !== undefined && side.hasTask !== true) {
    const joins = ({ id }: Item) => telling.joined?.includes(id) === true;
    transcript.queue.push(...whole.queue.filter(joins));
    whole.queue = whole.queue.filter((item) => !joins(item));
  }
  tell(transcript, entry.run, telling);
  const held = transcript.queue.filter(isHeld);
  const joined = held.flatMap(({ isSaid, id, hands = [] }) => (isSaid === true ? [id] : hands));
  run.told = [...new Set([...run.told, ...joined])];
  closeOpen(transcript, entry.seq);
  for (const turn of turnsIn(held)) push(transcript, turn, entry.seq);
  if (side !== undefined && side.hasTask !== true && telling.first) {
    side.opening = turnsIn(held.filter(({ isBeside }) => isBeside !== true));
    side.from = transcript.turns.length;
  }
  transcript.queue = transcript.queue.filter((item) => !isHeld(item));
  const model = entry.model ?? run.model;
  push(transcript, { role: "assistant", content: entry.content, model }, entry.seq);
  const uses = usesOf(entry, whole.uses);
  whole.uses += uses.length;
  for (const { call, tool, args, id } of uses) {
    run.calls.set(call, { tool, args });
    transcript.ids.add(id);
    transcript.numbered.add(call);
  }
  transcript.open = uses.map(({ call, id }) => ({ call, id, result: undefined }));
}

/** How the request of this turn told what people said; the transcript is as it was before the turn. */
export function tellingOf({ runs }: Transcript, entry: Entry<"assistant">): Telling {
  const { run, step, brief = false, elsewhere = [], joined = [] } = entry;
  const instructs = instructsOf(entry, { instructs: runs.get(run)?.instructs });
  return { instructs, first: step === 1, brief, elsewhere, joined };
}

/** What a run left that the model has not seen: a direct command's results, a Stop. */
function end(transcript: Transcript, entry: Entry<"run_ended">): void {
  const run = transcript.runs.get(entry.run);
  transcript.runs.delete(entry.run);
  if (run === undefined) return;
  // A helper's report is a result of its parent's.
  if (transcript.sides.get(entry.run)?.hasTask === true) {
    transcript.sides.delete(entry.run);
    tellTask(transcript, run, entry);
    return;
  }
  if (run.talks) {
    closeOpen(transcriptOf(transcript, entry.run), entry.seq);
    if (entry.status !== "silent") transcript.isRefused = isOfThread(entry.error);
  }
  if (entry.status === "silent") setAside(transcriptOf(transcript, entry.run), run.answers);
  const side = transcript.sides.get(entry.run);
  if (side !== undefined) endSide(transcript, side, run, entry);
  if (run.isFromApp) {
    const wanted = wantedBy(run);
    if (wanted !== "") enqueue(transcript, entry, [note(`${APPS_END} ${wanted}.`)]);
  }
  if (run.talks) {
    if (entry.status === "failed")
      enqueue(transcript, entry, [note(`Failed: ${entry.text ?? ""}`)]);
    return;
  }
  if (run.checks !== undefined) {
    const head = `Checks of skills looked (${CHECKED[run.checks.why]}) and told people:`;
    const content = [outputNote(head, entry.text ?? ""), ...checkNotes(run)];
    enqueue(transcript, entry, content);
    return;
  }
  for (const { tool, args, result } of run.calls.values()) {
    if (result === undefined) continue;
    // What takes an action back has values that a system held: they are no words of a person's or of the program's.
    const given = JSON.stringify(args);
    const did =
      run.undoes === undefined
        ? `ran ${tool}${run.isAgents || tool === SILENCE ? "" : ` ${given}`} directly`
        : `asked to undo ${run.undoes}, by ${tool}`;
    const head = `${run.isAgents ? "An agent" : "A person"} ${did}: ${result.outcome}.`;
    // An agent's values are its own words, and those of a silence may be an alert's: they stand with the output.
    const isTheirs = !run.isAgents && tool !== SILENCE;
    const text = isTheirs ? result.text : `${tool} ${given}\n${result.text}`;
    enqueue(transcript, entry, [outputNote(head, text)]);
  }
}

/** What people said to each other is quoted in later runs, whoever begins them. */
function setAside(transcript: Transcript, ids: readonly string[]): void {
  for (const id of ids) transcript.asides.add(id);
  const set = (turn: KeptTurn): KeptTurn =>
    turn.role === "user"
      ? {
          ...turn,
          content: turn.content.map((part) =>
            part.kind === "line" && ids.includes(part.of) ? { ...part, aside: true } : part,
          ),
        }
      : turn;
  transcript.turns = transcript.turns.map(set);
  transcript.queue = transcript.queue.map((item) => ({ ...item, turns: item.turns.map(set) }));
}
