import { checkPaired } from "./paired.ts";
import { requestOf } from "../../src/agent/request.ts";
import { beginRun, endRun, type RunTerms } from "../../src/thread/run.ts";
import { emptyTranscript, foldTranscript, type Transcript } from "../../src/agent/transcript.ts";
import { isOpen } from "../../src/thread/action.ts";
import { NO_USAGE } from "../../src/core/block.ts";
import type { Choice, Draft, Entry, PostKind } from "../../src/core/entry.ts";
import { emptyThread, type Thread } from "../../src/thread/state.ts";
import { fold } from "../../src/thread/fold.ts";
import { pastState } from "../../src/thread/entry-ids.ts";
import type { Call } from "../../src/thread/state.ts";
import { decide, type Step } from "../../src/thread/decide.ts";

const TERMS: RunTerms = {
  model: "test/imagined",
  system: "system",
  tools: [],
  prefix: "prefix",
  budget: { steps: 6, tokens: 4_000, minutes: 15 },
  maxOutputTokens: 100,
  tokensPerDay: 1e9,
  contextWindow: 2_000,
};

/** A thread's history as it grows, with what a worker would hold of it in memory. */
export interface Imagined {
  entries: Entry[];
  thread: Thread;
  transcript: Transcript;
  /** The turns of the newest request that was answered, each as JSON, unless the thread was told in brief since. */
  told: string[];
  clock: number;
}

/** Numbers that decide what happens; when they are used up everybody does the dullest thing. */
export type Tape = () => number;

export function imagine(): Imagined {
  return {
    entries: [],
    thread: emptyThread(),
    transcript: emptyTranscript(),
    told: [],
    clock: 1_000_000,
  };
}

export function write(world: Imagined, draft: Draft): void {
  const entry: Entry = { seq: world.entries.length + 1, at: world.clock, ...draft };
  world.entries.push(entry);
  fold(world.thread, [entry]);
  foldTranscript(world.transcript, entry);
  if (entry.kind === "run_started" && entry.talk?.brief === true) world.told = [];
}

/** Somebody writes, clicks, stops or runs something, or time passes. */
export function interrupt(world: Imagined, tape: Tape): void {
  const id = `post:${world.entries.length}`;
  const account = ["test:ana", "test:bob", "test:guest"][tape() % 3] ?? "";
  const actor = { account, name: account.slice(5) };
  const click = (action: string, choice: Choice): Draft<PostKind> => ({
    id,
    kind: "click",
    actor,
    action,
    revision: 1,
    choice,
    via: "button",
  });
  const open = [...world.thread.live].filter(isOpen).map((each) => each.action);
  const action = open[tape() % Math.max(1, open.length)] ?? "a1";
  const questions = [...world.thread.runs.values()].flatMap((run) =>
    [...run.open.values()].flatMap((call) => (call.asked === undefined ? [] : [call.call])),
  );
  const clicks =
    open.length === 0
      ? []
      : (["approve", "deny", "cancel"] as const).map((kind) => click(action, { kind }));
  const posts: Draft<PostKind>[] = [
    ...clicks,
    { id, kind: "message", actor, text: `said ${id}` },
    { id, kind: "message", actor, text: "LGTM, go ahead" },
    { id, kind: "message", actor, text: `long ${"x".repeat(800)}` },
    click(questions[0] ?? "r1.t1", { kind: "answer", text: "blue" }),
    { id, kind: "stop", actor },
    {
      id,
      kind: "command",
      actor,
      text: "run look",
      command: { name: "run", tool: "look", args: {} },
    },
    { id, kind: "command", actor, text: "help", command: { name: "help" } },
  ];
  const post = posts[tape() % (posts.length + 1)];
  if (post === undefined) world.clock += 3_600_000;
  else write(world, post);
}

/** Takes the step that a worker would, with a tool, a model or a person that does what the tape says. */
export function take(world: Imagined, step: Exclude<Step, { do: "wait" }>, tape: Tape): void {
  const { thread } = world;
  const put = (...drafts: Draft[]) => {
    for (const draft of drafts) write(world, draft);
  };
  const finish = (
    { run, call }: Pick<Call, "run" | "call">,
    outcome: Entry<"tool_finished">["outcome"],
    more: object = {},
  ): Draft => ({
    id: `finished:${call}`,
    kind: "tool_finished",
    run,
    call,
    outcome,
    text: `result ${tape() % 3}`,
    ...more,
  });
  switch (step.do) {
    case "show":
    // Other machines and an older version's actions are imagined nowhere.
    case "hosts":
    case "abandon":
    case "await":
    case "renew":
      return;
    case "begin":
      put(...beginRun(step.pending, thread, parts));
      return;
    case "write":
      put(step.draft);
      return;
    case "end":
      put(endRun(step.run));
      return;
    case "tell":
      put({ ...step.word, id: `told:${step.word.id}`, kind: "notice", answers: step.word.id });
      return;
    case "hint":
      put(hintDraft(step.message));
      return;
    case "warn": {
      const { of } = step.waiting;
      const warns = "proposal" in of ? of.action : of.call;
      put({ id: `expiring:${warns}`, kind: "notice", text: "It expires.", warns });
      return;
    }
    case "lapse":
      put(finish(step.call, "expired"));
      return;
    case "cancel":
      put(finish(step.call, "cancelled"));
      return;
    case "expire":
      put({ id: `expiry:${step.action.action}`, kind: "timer", action: step.action.action });
      return;
    case "close": {
      const { action, closed } = step.action;
      const outcome = closed?.outcome ?? "cancelled";
      put({ id: `closed:${action}`, kind: "action_closed", action, outcome });
      if (outcome !== "void") put(finish(step.action, outcome));
      return;
    }
    case "deliver": {
      const { owed, view } = step;
      const entry =
        owed.kind === "card"
          ? `${owed.action.action}@${owed.action.touched}`
          : owed.kind === "past"
            ? pastState(owed.offer.notice.id)
            : owed.debt.id;
      put({
        id: `delivered:${view}:${entry}:final`,
        kind: "delivered",
        view,
        entry,
        stage: "final",
        ref: "m",
      });
      return;
    }
    case "judge":
      judge(world, step.click, finish);
      return;
    case "prepare":
      prepare(world, step.call, finish, tape);
      return;
    case "dispatch": {
      const { action, proposal } = step.action;
      if (tape() % 5 === 4)
        put({ id: `closed:${action}`, kind: "action_closed", action, outcome: "void" });
      else
        put(
          started(step.call, "write", action),
          finish(step.call, tape() % 4 === 3 ? "unknown" : "ok", { ms: proposal.quorum }),
        );
      return;
    }
    case "recover":
      put(
        finish(step.call, (["ok", "error", "unknown", "cancelled"] as const)[tape() % 4] ?? "ok"),
      );
      return;
    case "reply":
      if (step.reply.actor.account !== "test:guest")
        put(finish(step.call, "ok", { answers: step.reply.id }));
      else
        put({
          id: `word:${step.reply.id}`,
          kind: "notice",
          text: "no",
          to: "test:guest",
          answers: step.reply.id,
        });
      return;
    case "think":
      think(world, step, tape);
  }
}

function hintDraft({ id, actor }: Entry<"message">): Draft {
  const to = actor.account;
  return { id: `word:${id}`, kind: "notice", text: "", to, approves: ["a1"], instead: id };
}

const parts = {
  direct: ({ name }: { name: string }) =>
    name === "run"
      ? ({ kind: "call", tool: "look", args: {} } as const)
      : ({ kind: "text", text: "help", failed: false } as const),
  plain: () => "no model",
  terms: TERMS,
};

type Finish = (
  call: Pick<Call, "run" | "call">,
  outcome: Entry<"tool_finished">["outcome"],
  more?: object,
) => Draft;

function started({ run, call, tool }: Call, effect: "read" | "write", action?: string): Draft {
  return {
    id: `started:${call}`,
    kind: "tool_started",
    run,
    call,
    tool,
    effect,
    digest: "d",
    ...(action !== undefined && { action }),
  };
}

function judge(world: Imagined, click: Entry<"click">, finish: Finish): void {
  const { thread } = world;
  const word: Draft = {
    id: `word:${click.id}`,
    kind: "notice",
    text: "late",
    to: click.actor.account,
    answers: click.id,
  };
  const action = thread.actions.get(click.action);
  const { choice } = click;
  if (choice.kind === "answer") {
    const call = [...thread.runs.values()]
      .map((run) => run.open.get(click.action))
      .find((each) => each?.asked !== undefined);
    write(world, call === undefined ? word : finish(call, "ok", { answers: click.id }));
    return;
  }
  if (action === undefined || action.started || action.closed !== undefined) {
    write(world, word);
    return;
  }
  if (choice.kind === "cancel") {
    write(world, {
      id: `closed:${action.action}`,
      kind: "action_closed",
      action: action.action,
      outcome: "cancelled",
      click: click.id,
    });
    write(world, finish(action, "cancelled"));
    return;
  }
  const { account, name } = click.actor;
  write(world, {
    id: `vote:${click.id}`,
    kind: "vote",
    action: action.action,
    revision: action.proposal.revision,
    click: click.id,
    account,
    person: account,
    name,
    approve: choice.kind === "approve",
    basis: "member",
  });
}

function prepare(world: Imagined, call: Call, finish: Finish, tape: Tape): void {
  const { run, tool, args } = call;
  const gated = tool === "act";
  if (call.problem !== undefined || tape() % 6 === 5) write(world, finish(call, "blocked"));
  else if (tool === "ask_user")
    write(world, {
      id: `asks:${call.call}`,
      kind: "notice",
      text: "which?",
      asks: { call: call.call, choices: [] },
    });
  else if (gated) {
    const action = `a${world.thread.counts.actions + 1}`;
    const preview = { lines: [], blastRadius: "", undo: "" };
    write(world, {
      id: `proposed:${action}.1`,
      kind: "action_proposed",
      run,
      call: call.call,
      action,
      revision: 1,
      tool,
      effect: "write",
      args,
      digest: "d",
      preview,
      approvers: { kind: "anyone" },
      quorum: 1,
      barred: [],
      expiresAt: world.clock + 3_600_000,
    });
  } else {
    write(world, started(call, "read"));
    if (tape() % 3 > 0) interrupt(world, tape);
    const fresh = world.thread.runs.get(run)?.open.get(call.call);
    if (fresh !== undefined) write(world, finish(call, tape() % 4 === 3 ? "error" : "ok"));
  }
}

function think(
  world: Imagined,
  { run, modelRun: talk }: Extract<Step, { do: "think" }>,
  tape: Tape,
): void {
  const asked = requestOf(world.transcript, { run: run.started.run, modelRun: talk }, TERMS);
  checkPaired(asked.turns);
  const told = asked.turns.map((turn) => JSON.stringify(turn));
  world.told.forEach((turn, i) => {
    if (told[i] !== turn)
      throw new Error(`turn ${i} was told otherwise before: ${turn} / ${told[i]}`);
  });
  const name = run.started.run;
  const step = talk.steps + 1;
  for (let i = tape() % 3; i > 0; i -= 1) interrupt(world, tape);
  const kinds = ["answer", "calls", "calls", "calls", "empty", "pause", "refusal"] as const;
  const kind = kinds[tape() % kinds.length] ?? "answer";
  if (tape() % 12 === 11 && !run.stopped) {
    write(world, {
      id: `ended:${name}`,
      kind: "run_ended",
      run: name,
      status: "failed",
      text: "The model could not answer.",
    });
    if (tape() % 2 === 0) return;
  }
  const calls = Array.from({ length: 1 + (tape() % 3) }, (_, i) => ({
    kind: "tool_use" as const,
    id: `${name}.${step}.${i}`,
    name: ["look", "act", "ask_user", "nothing"][tape() % 4] ?? "look",
    input: ["{}", '{"n":1}', "{", ""][tape() % 4] ?? "{}",
  }));
  const text = { kind: "text" as const, text: `INCONCLUSIVE so far ${step}` };
  const content = kind === "calls" ? calls : kind === "empty" ? [] : [text];
  const stops =
    kind === "calls"
      ? (["tool_use", "max_tokens", "content_filter"] as const)
      : (["end_turn"] as const);
  const stop =
    kind === "pause" || kind === "refusal" ? kind : (stops[tape() % stops.length] ?? "end_turn");
  write(world, {
    id: `assistant:${name}.${step}`,
    kind: "assistant",
    run: name,
    step,
    seen: asked.seen,
    content,
    stop,
    usage: { ...NO_USAGE, input: JSON.stringify(asked.turns).length, output: 10 },
    model: "test/imagined",
    request: asked.hash,
    ms: 5,
  });
  if (world.thread.runs.get(name)?.ended === undefined) world.told = told;
}

/** Works until there is nothing to do, and returns what it waits for then. @throws when that never comes */
export function work(world: Imagined, tape: Tape, maxSteps = 400): Extract<Step, { do: "wait" }> {
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const step = decide(world.thread, {
      now: world.clock,
      busy: new Set(),
      draining: false,
      showAfterMs: undefined,
    });
    if (step.do === "wait") return step;
    const { last } = world.thread;
    take(world, step, tape);
    if (world.thread.last === last) throw new Error(`${step.do} changed nothing`);
  }
  throw new Error(`it is still busy after ${maxSteps} steps`);
}
