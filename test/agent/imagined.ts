import { interrupt } from "./imagined-people.ts";
import { expectThat, type Imagined, type Tape, write } from "./imagined-world.ts";
import { assertPaired } from "../../src/agent/paired.ts";
import { requestOf } from "../../src/agent/request.ts";
import { condensedBy, summaryRequest } from "../../src/agent/summary.ts";
import type { RunTerms } from "../../src/core/run-terms.ts";
import { type Action, carrierOf, isApproved, isLeft, isOpen } from "../../src/thread/action.ts";
import { GOAL_VERDICTS } from "../../src/core/goal.ts";
import { DELEGATE } from "../../src/core/tool-spec.ts";
import type { Wanted } from "../../src/thread/drafts-helpers.ts";
import { NO_USAGE } from "../../src/core/block.ts";
import { grantsIn, isInner, isReader, type Run, talkingRuns } from "../../src/thread/state.ts";
import type { Call } from "../../src/thread/call.ts";
import { sharesOf } from "../../src/thread/routing.ts";
import type { ModelRun } from "../../src/thread/model-run.ts";
import { workKey } from "../../src/thread/work-keys.ts";
import { cardState, entryId, WHERE_IT_IS } from "../../src/thread/entry-ids.ts";
import { ROOT } from "../../src/thread/fold-root.ts";
import { draftsOf, type Learned, shownId } from "../../src/thread/drafts.ts";
import type { Proposal, Recovery } from "../../src/thread/drafts-calls.ts";
import type { Author } from "../../src/thread/click-rights.ts";
import { decide } from "../../src/thread/decide.ts";
import type { Step, StepOf } from "../../src/thread/steps.ts";

const TERMS: RunTerms = {
  model: "test/imagined",
  system: "system",
  tools: [],
  prefix: "prefix",
  budget: { steps: 6, tokens: 4_000, minutes: 15 },
  maxOutputTokens: 100,
  tokensPerDay: 1e9,
  contextWindow: 2_000,
  fixedTokens: 10,
};

/** With room for helpers, and theirs, and with goals. */
const HELPED: RunTerms = {
  ...TERMS,
  budget: { ...TERMS.budget, steps: 18, tokens: 200_000 },
  modes: {
    helper: { system: "helper", depth: 2, perRun: 6 },
    goal: { system: "goal", tools: [] },
  },
};

/** Takes the step that a worker would, with a tool, a model or a person that does what the tape says. */
export function take(world: Imagined, step: Exclude<Step, { do: "wait" }>, tape: Tape): void {
  if (step.do === "expire") {
    const { action } = step.action;
    write(world, { id: entryId.expiry(action), kind: "timer", action });
  } else if (step.do === "lapseGrant") {
    const { action: grant } = step.grant.of;
    write(world, { id: entryId.grantExpiry(grant), kind: "timer", grant });
  } else if (step.do === "think") think(world, step, tape);
  else if (step.do === "condense") condense(world, step, tape);
  // Other machines, progress messages, later looks and marks are imagined nowhere.
  else if (!isUnimagined(step)) conclude(world, learn(world, step, tape));
  if (step.do === "dispatch" && heldBy(world) !== undefined) world.frozen.add(step.action.proposal);
  if (step.do === "dispatch" || step.do === "prepare") runIfStarted(world, step.call, tape);
}

/** The freeze that writes wait for now. */
function heldBy({ freeze, clock }: Imagined) {
  return freeze !== undefined && clock < freeze.until ? freeze : undefined;
}

type Unimagined = Extract<
  Step,
  {
    do:
      | "forget"
      | "hosts"
      | "where"
      | "show"
      | "ring"
      | "ringLook"
      | "lapseSilence"
      | "verify"
      | "mark"
      | "page"
      | "look"
      | "sum"
      | "remember"
      | "writeReport";
  }
>;

function isUnimagined(step: Step): step is Unimagined {
  return [
    "forget",
    "hosts",
    "where",
    "show",
    "ring",
    "ringLook",
    "lapseSilence",
    "verify",
    "mark",
    "page",
    "look",
    "sum",
    "remember",
    "writeReport",
  ].includes(step.do);
}

/** Writes what follows from what was learned. */
export function conclude(world: Imagined, learned: Learned): void {
  const drafts = draftsOf(learned, {
    thread: world.thread,
    now: world.clock,
    run: {
      ...parts,
      terms: { ...(world.hasHelpers ? HELPED : TERMS), contextWindow: world.window },
    },
    here: "here",
    isBound: () => false,
    answeredBy: () => undefined,
    channels: [],
    heard: undefined,
    personOf: (account) => account,
    encode: (text) => text,
  });
  for (const draft of drafts ?? []) write(world, draft);
}

const parts = {
  direct: ({ name }: { name: string }) =>
    name === "run"
      ? ({ kind: "call", tool: "look", args: {} } as const)
      : ({ kind: "text", text: "help", failed: false } as const),
  plain: () => "no model",
  terms: TERMS,
};

/** What a worker learns: whatever the tape says. */
function learn(
  world: Imagined,
  step: Exclude<Step, Unimagined | { do: "wait" | "expire" | "lapseGrant" | "think" | "condense" }>,
  tape: Tape,
): Learned {
  if (!("key" in step)) return step;
  const { thread } = world;
  switch (step.do) {
    case "judge":
      return { ...step, facts: { author: { eligible: true, basis: "member" } } };
    case "reply": {
      const isGuest = step.reply.actor.account === "test:guest";
      const author: Author = isGuest
        ? { eligible: false, why: "no" }
        : { eligible: true, basis: "member" };
      return { ...step, facts: author };
    }
    case "hint": {
      const open = [...thread.live].filter(isOpen);
      const facts = open.map((action) => {
        return { action, proposal: action.proposal, what: action.action, refusal: undefined };
      });
      return { ...step, facts };
    }
    case "plan": {
      const thought = { strategy: step.strategy, requests: 1, usage: NO_USAGE, ms: 1 };
      return { ...step, facts: { tasks: [], thought } };
    }
    case "planGoal": {
      const tasks = ["a", "b"].map((word) => ({
        text: `look ${word} ${tape() % 4}`,
        requires: [],
      }));
      const done = tape() % 4 === 0;
      const plan = { seen: thread.last, tasks, done, answer: "", deliverables: [] };
      return { ...step, facts: tape() % 8 === 0 ? { why: "no plan" } : plan };
    }
    case "judgeTask": {
      const verdict = GOAL_VERDICTS[tape() % 4] ?? "done";
      const part = { text: `look part ${tape() % 4}`, requires: [] };
      return { ...step, facts: { said: { verdict, reason: "so", parts: [part] } } };
    }
    case "prepare":
      return { ...step, facts: proposalFor(world, step.call, tape) };
    case "dispatch": {
      const drift = tape() % 5 === 4 ? "it changed" : undefined;
      const carrier = carrierOf(step.action);
      const grant = carrier?.kind === "grant" ? carrier.grant : undefined;
      const held = carrier?.kind === "glass" ? undefined : heldBy(world);
      const frozen = held && { id: held.id, text: "prod is frozen" };
      return { ...step, facts: { proposal: step.action.proposal, drift, grant, frozen } };
    }
    case "recover": {
      const verified = { kind: "verified", evidence: "seen" } as const;
      const recoveries: Recovery[] = [
        { ...verified, verdict: "done" },
        { ...verified, verdict: "unknown" },
        { kind: "blocked", text: "denied by now" },
        { kind: "cancelled", text: "stopped" },
      ];
      return { ...step, facts: recoveries[tape() % 4] ?? { kind: "blocked", text: "" } };
    }
    case "survey":
      return { ...step, facts: [] };
    case "admit":
      return { ...step, facts: { eligible: true, basis: "member" } };
    case "record":
      return { ...step, facts: "told" };
    case "alarm":
      return { ...step, facts: "told" };
    case "deliver":
      return { ...step, facts: { entry: shownId(step.undelivered), ref: "m" } };
    case "root":
      return { ...step, facts: { entry: cardState(ROOT, thread.root.touched), ref: "" } };
    case "point":
      return { ...step, facts: { entry: WHERE_IT_IS[step.isOver ? "over" : "open"], ref: "" } };
  }
}

function proposalFor(
  { thread, clock }: Imagined,
  { problem, tool, args, call }: Call,
  tape: Tape,
): Proposal | Wanted {
  if (problem !== undefined || tape() % 6 === 5) return { kind: "blocked", text: "no" };
  const expiresAt = clock + 3_600_000;
  if (tool === DELEGATE)
    return { kind: "delegate", task: { text: `part ${call}` }, steps: undefined };
  if (tool === "ask_user") return { kind: "question", text: "which?", choices: [], expiresAt };
  const effect = tool === "act" ? "write" : "read";
  const prepared = { tool, effect, args, host: undefined, digest: "d" } as const;
  if (effect === "read") return { kind: "allow", prepared };
  const preview = { lines: [], blastRadius: "", undo: "" };
  const rule = { approvers: { kind: "anyone" as const }, quorum: 1, barred: [] };
  const offer = { same: "s", uses: 2, minutes: 30, digest: "o" };
  const granted = grantsIn(thread).find(isLeft)?.of.action;
  const more = { offer, breakable: true as const, ...(granted !== undefined && { granted }) };
  const card = { ...prepared, ...rule, ...more, preview, expiresAt };
  return { kind: "ask", card, reason: undefined, place: undefined };
}

/** A tool runs, unless a helper does what was asked for; people may speak meanwhile. */
function runIfStarted(world: Imagined, call: Call, tape: Tape): void {
  const { started, helper } = call;
  if (started === undefined || helper !== undefined) return;
  if (started.effect === "read" && tape() % 3 > 0) interrupt(world, tape);
  const bad = started.effect === "read" ? "error" : "unknown";
  const outcome = tape() % 4 === 3 ? bad : "ok";
  const text = `result ${tape() % 3}`;
  const facts = { outcome, text, ms: 1, artifacts: [], files: [], findings: [], gaps: [] } as const;
  conclude(world, {
    do: "run",
    call,
    facts: { ...facts, artifacts: [], files: [], findings: [], gaps: [] },
  });
}

function think(world: Imagined, step: StepOf<"think">, tape: Tape): void {
  const { run, modelRun } = step;
  const name = run.started.run;
  const shares = sharesOf(world.thread, { ...run, modelRun });
  const asked = requestAt(world, run, modelRun);
  assertPaired(asked.turns);
  const told = asked.turns.map((turn) => JSON.stringify(turn));
  checkTold(world, run, told);
  const untold = new Set(modelRun.told.map(({ id }) => id));
  const before = toldBefore(world, run);
  before.forEach((turn, i) => {
    if (told[i] !== turn)
      throw new Error(`turn ${i} was told otherwise before: ${turn} / ${told[i]}`);
  });
  const number = modelRun.steps + 1;
  world.asked.add(workKey.model(name));
  for (let i = tape() % 3; i > 0; i -= 1) interrupt(world, tape);
  // Meanwhile everything else goes on, another model too.
  for (let i = tape() % 6; i > 0; i -= 1) {
    const other = nextStep(world);
    if (other.do === "wait") break;
    take(world, other, tape);
  }
  world.asked.delete(workKey.model(name));
  if (world.thread.runs.get(name)?.ended !== undefined) return;
  const kinds = ["answer", "calls", "calls", "calls", "empty", "pause", "refusal"] as const;
  const kind = kinds[tape() % kinds.length] ?? "answer";
  if (tape() % 12 === 11) {
    const code = world.window < 1_000 ? ("MODEL_CONTEXT_TOO_LONG" as const) : undefined;
    conclude(world, { ...step, facts: { kind: "failed", why: "It is away.", code } });
    if (tape() % 2 === 0 || code !== undefined) return;
  }
  const calls = Array.from({ length: 1 + (tape() % 3) }, (_, i) => ({
    kind: "tool_use" as const,
    id: `${name}.${number}.${i}`,
    name: pick(world.hasHelpers ? HELPED_CALLS : CALLS, tape),
    input: ["{}", '{"n":1}', "{", ""][tape() % 4] ?? "{}",
  }));
  const text = { kind: "text" as const, text: `INCONCLUSIVE so far ${number}` };
  const content = kind === "calls" ? calls : kind === "empty" ? [] : [text];
  const stops =
    kind === "calls"
      ? (["tool_use", "max_tokens", "content_filter"] as const)
      : (["end_turn"] as const);
  const stop =
    kind === "pause" || kind === "refusal" ? kind : (stops[tape() % stops.length] ?? "end_turn");
  const input = Math.ceil(JSON.stringify(asked.turns).length / 4);
  const usage = { ...NO_USAGE, input, output: 10 };
  const made = { step: number, seen: asked.seen, ...shares, content, stop, usage, ms: 5 };
  const turn = { ...made, model: "test/imagined", request: asked.hash };
  conclude(world, { ...step, facts: { kind: "turn", turn } });
  const whole = told.join();
  for (const message of modelRun.told.filter(isPlain)) {
    const isHeld = untold.has(message.id) || whole.includes(`said ${message.id};`);
    expectThat(isHeld, `D3 ${message.id} counts as told and was not`);
  }
  if (world.thread.runs.get(name)?.ended !== undefined) return;
  noteTold(world, run, told);
}

const CALLS = ["look", "act", "ask_user", "nothing", "stay_silent"];
const HELPED_CALLS = [DELEGATE, "act", DELEGATE, "look", "act"];

function pick(names: readonly string[], tape: Tape): string {
  return names[tape() % names.length] ?? "look";
}

function toldBefore(world: Imagined, run: Run): readonly string[] {
  if (isInner(run)) return world.toldHelpers.get(run.started.run) ?? [];
  return isReader(run) ? world.toldBeside : world.told;
}

/** What the run's newest request told. */
function noteTold(world: Imagined, run: Run, told: string[]): void {
  if (isInner(run)) world.toldHelpers.set(run.started.run, told);
  else if (isReader(run)) world.toldBeside = told;
  else world.told = told;
}

/** A model is asked for a summary, which says something or nothing, or is not given. */
function condense(world: Imagined, step: StepOf<"condense">, tape: Tape): void {
  const { run, modelRun } = step;
  const name = run.started.run;
  expectThat(run.open.size === 0, `${name} is condensed with open calls`);
  const asked = requestAt(world, run, modelRun);
  const { filling } = modelRun;
  const { turns } = summaryRequest({ asked, filling });
  assertPaired(turns);
  const own = world.transcript.sides.get(name)?.from;
  const told = { run: name, ...(own !== undefined && { own }) };
  const kinds = [
    { said: `Goal\n${"so far ".repeat(tape() * 10)}` },
    { said: "", why: "It wrote nothing." },
    undefined,
  ];
  const said = kinds[tape() % kinds.length];
  world.asked.add(workKey.model(name));
  for (let i = tape() % 3; i > 0; i -= 1) interrupt(world, tape);
  world.asked.delete(workKey.model(name));
  const found = said && condensedBy(world.transcript, { ...told, ...said }, { asked, filling });
  const { size } = filling;
  const left = { from: 0, to: 0, room: 0, before: size, after: size, why: "It is away." };
  const condensed = { ...(found ?? left), usage: NO_USAGE, ms: 5 };
  conclude(world, { ...step, facts: { kind: "condensed", condensed } });
  if (found === undefined) return;
  world.condensed += 1;
  noteTold(world, run, []);
}

const isPlain = ({ text }: { text: string }) => text.startsWith("said ");

export function requestAt({ thread, transcript }: Imagined, { started }: Run, modelRun: ModelRun) {
  const { run } = started;
  const shares = sharesOf(thread, { started, modelRun });
  const telling = { instructs: undefined, first: false, brief: false, ...shares };
  return requestOf(transcript, { run, modelRun }, TERMS, telling);
}

/** A request holds each message of its run once, none that another run answers, and none twice. */
function checkTold({ entries, thread, transcript }: Imagined, run: Run, turns: readonly string[]) {
  const text = turns.join("\n");
  const times = (id: string) => text.split(`said ${id};`).length - 1;
  for (const { id } of [...(run.modelRun?.told ?? []), ...(run.modelRun?.unseen ?? [])].filter(
    isPlain,
  ))
    expectThat(times(id) === 1, `D3 ${id} is in its run's request ${times(id)} times`);
  for (const entry of entries) {
    if (entry.kind !== "message" || !isPlain(entry)) continue;
    expectThat(times(entry.id) <= 1, `D4 ${entry.id} is told twice`);
  }
  if (isInner(run)) {
    const said = entries.filter((entry) => entry.kind === "message" && isPlain(entry));
    const isTold = said.some(({ id }) => times(id) > 0);
    expectThat(!isTold, `H3 the helper ${run.started.run} is told what people said`);
    return;
  }
  const { first, side } = talkingRuns(thread);
  const other = isReader(run) ? first : side;
  const { unseen = [], told = [], handedOver = [] } = other?.modelRun ?? {};
  // What a side run that has ended could not do stands in its exchange, for all to see.
  const isWhole = ({ id }: { id: string }) => other?.modelRun?.taken.has(id) === true;
  for (const message of isReader(run) ? unseen : [...unseen, ...told, ...handedOver])
    // What was passed over before its author turned it to the bot stands as a quotation in every request.
    expectThat(
      !isPlain(message) || isWhole(message) || times(message.id) === 0,
      `D4 ${message.id} is another run's`,
    );
  const sides = [...transcript.sides.values()].filter(({ hasTask }) => hasTask !== true);
  expectThat(sides.length <= 1, "there are two side runs");
}

export function nextStep(world: Imagined): Step {
  const { thread, clock, asked, away, frozen } = world;
  const isHeld = (action: Action) => isApproved(action) && frozen.has(action.proposal);
  const held = heldBy(world) === undefined ? [] : [...thread.live].filter(isHeld);
  const busy = new Set([...asked, ...away, ...held.map(({ call }) => workKey.call(call))]);
  return decide(thread, { now: clock, busy, draining: false, showAfterMs: undefined });
}

/** Works until there is nothing to do, and returns what it waits for then. @throws when that never comes */
export function work(world: Imagined, tape: Tape, maxSteps = 400): Extract<Step, { do: "wait" }> {
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const step = nextStep(world);
    if (step.do === "wait" && world.away.size > 0) {
      world.away.clear();
      continue;
    }
    if (step.do === "wait") return step;
    const { last } = world.thread;
    take(world, step, tape);
    if (world.thread.last === last) throw new Error(`${step.do} changed nothing`);
  }
  throw new Error(`it is still busy after ${maxSteps} steps`);
}
