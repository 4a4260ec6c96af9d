import { assertPaired } from "../../src/agent/paired.ts";
import { estimatedTokens, requestOf } from "../../src/agent/request.ts";
import { condensedBy, summaryRequest } from "../../src/agent/summary.ts";
import type { TranscriptTurn } from "../../src/agent/transcript-turns.ts";
import type { AssistantBlock } from "../../src/core/block.ts";
import type { Draft, Entry } from "../../src/core/entry.ts";
import type { RunTerms } from "../../src/core/run-terms.ts";
import { capText } from "../../src/core/text.ts";
import { nextTurn } from "../../src/thread/decide-run.ts";
import { beginDrafts, condensedDrafts, modelDrafts } from "../../src/thread/drafts-runs.ts";
import { oneResultBytes } from "../../src/thread/filling.ts";
import { type TalkingRun, talkingRuns } from "../../src/thread/state.ts";
import type { Surroundings } from "../../src/thread/surroundings.ts";
import { Conversation, foldConversation } from "../../src/worker/thread/conversation.ts";

/** Long histories of one thread: a model whose tokens are other than estimated, results of all sizes, summaries that fail. */

export interface Told {
  requests: number;
  condensed: number;
  overflows: number;
  /** Condensed requests that did not fit after all. */
  tooLong: number;
  /** Of requests within a run that nothing was condensed between: the least part that the next one begins with. */
  prefix: number;
}

/** How hard a history is: of so many of each, one. */
interface Hard {
  /** Results that a message of a person comes after. */
  said: number;
  /** Requests that are refused though they would fit. */
  refused: number;
  /** Summaries that are not given. */
  failed: number;
  window?: number;
  drift?: number;
}

const USUAL: Hard = { said: 30, refused: 60, failed: 8 };

/** 0 ≤ number < 1, the same ones for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * @throws Error where a request has a call without its result, or a result without its call, a summary is longer than its room, or
 * there is no end to it
 */
export function longHistory(seed: number, hard: Hard = USUAL): Told {
  const random = seeded(seed);
  const pick = (most: number) => Math.floor(random() * most);
  const window = hard.window ?? [4_096, 8_192, 8_192, 16_384, 32_768][pick(5)] ?? 8_192;
  /** What the provider counts for one estimated token. */
  const drift = hard.drift ?? 0.7 + random() * 0.6;
  const terms: RunTerms = {
    model: "test/long",
    system: "s".repeat(pick(window)),
    tools: [],
    prefix: "prefix",
    budget: { steps: 200, tokens: 1e9, minutes: 1e6 },
    maxOutputTokens: Math.floor(window / 8),
    tokensPerDay: 1e9,
    contextWindow: window,
    fixedTokens: 0,
  };
  terms.fixedTokens = Math.ceil(JSON.stringify({ system: terms.system, tools: [] }).length / 4);
  const state = new Conversation();
  const told: Told = { requests: 0, condensed: 0, overflows: 0, tooLong: 0, prefix: 1 };
  let seq = 0;
  let before: readonly TranscriptTurn[] = [];
  let isCondensed = false;
  const write = (drafts: readonly Draft[] | undefined) => {
    for (const draft of drafts ?? []) {
      const entry: Entry = { seq: ++seq, at: 1_000_000 + seq, ...draft };
      foldConversation(state, [entry]);
    }
  };
  const around = {
    thread: state,
    now: 0,
    here: "here",
    run: { direct: () => ({ kind: "text", text: "", failed: false }), plain: () => "", terms },
    channels: [],
    personOf: (account: string) => account,
    isBound: () => false,
    answeredBy: () => undefined,
    heard: undefined,
    encode: (text: string) => text,
  } as const satisfies Surroundings;

  /** What the provider says of a request: it fits, or not. */
  const fits = (tokens: number, output: number) => tokens * drift + output <= window;
  const text = (length: number) => "abcde fgh\n".repeat(length / 10 + 1).slice(0, length);

  function ask(run: TalkingRun): void {
    const { modelRun } = run;
    const name = run.started.run;
    const asked = requestOf(state.transcript, { run: name, modelRun }, terms);
    told.requests += 1;
    const size = estimatedTokens(asked);
    const isFitting = fits(size, terms.maxOutputTokens);
    if (isCondensed && !isFitting) told.tooLong += 1;
    if (!isCondensed) told.prefix = Math.min(told.prefix, prefixOf(before, asked.turns));
    before = asked.turns;
    if (!isFitting || pick(hard.refused) === 0) {
      told.overflows += 1;
      const facts = { kind: "failed", why: "too long", code: "MODEL_CONTEXT_TOO_LONG" } as const;
      const { filling } = modelRun;
      return write(
        modelDrafts(run, { ...facts, tokens: filling.size + terms.maxOutputTokens }, around),
      );
    }
    isCondensed = false;
    const step = modelRun.steps + 1;
    const isAnswer = pick(25) === 0;
    const calls = Array.from({ length: isAnswer ? 0 : 1 + pick(pick(4) + 1) }, (_, i) => ({
      kind: "tool_use" as const,
      id: `${name}_${step}_${i}`,
      name: ["look", "activate_skill", "act"][pick(3)] ?? "look",
      input: JSON.stringify({ name: text(pick(300)), n: pick(1e9) }),
    }));
    const content: AssistantBlock[] = [
      ...(pick(3) === 0 ? [{ kind: "thinking" as const, wire: { signature: text(200) } }] : []),
      { kind: "text", text: `INCONCLUSIVE: ${text(pick(400))}` },
      ...calls,
    ];
    const output = Math.ceil(JSON.stringify(content).length / 4);
    const usage = { input: Math.ceil(size * drift), output, cacheRead: 0, cacheWrite: 0 };
    const stop = isAnswer ? ("end_turn" as const) : ("tool_use" as const);
    const turn = { step, seen: asked.seen, content, stop, usage, request: "00", ms: 1 };
    write(modelDrafts(run, { kind: "turn", turn }, around));
    for (const call of run.open.values()) {
      const bytes = Math.min(16_000, oneResultBytes(modelRun.terms.window));
      const whole = `${call.call} ${text(pick(4) === 0 ? pick(40_000) : pick(2_000))}`;
      const cut = capText(whole, bytes);
      const kept = { id: "0f1e2d3c4b5a6978", bytes: whole.length };
      const outcome = (["ok", "ok", "ok", "error"] as const)[pick(4)] ?? "ok";
      write([
        {
          id: `finished:${call.call}`,
          kind: "tool_finished",
          run: name,
          call: call.call,
          outcome,
          text: cut,
          ...(cut !== whole && { artifacts: [kept] }),
        },
      ]);
      if (pick(hard.said) === 0) say(`and what of ${text(pick(500))}`);
    }
  }

  function condense(run: TalkingRun): void {
    const { modelRun } = run;
    const name = run.started.run;
    if (run.open.size > 0) throw new Error("condensed with open calls");
    const asked = requestOf(state.transcript, { run: name, modelRun }, terms);
    const { filling } = modelRun;
    const request = summaryRequest({ asked, filling });
    assertPaired(request.turns);
    const chars = request.turns.reduce((sum, turn) => sum + JSON.stringify(turn).length, 0);
    const size = estimatedTokens({ ...asked, files: [], chars });
    const said = text(pick(20_000));
    const isGiven = fits(size, request.maxOutputTokens) && pick(hard.failed) > 0;
    const found = condensedBy(
      state.transcript,
      { run: name, said: isGiven ? said : "", ...(!isGiven && { why: "none" }) },
      { asked, filling },
    );
    const left = { from: 0, to: 0, room: 0, before: filling.size, after: filling.size };
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const condensed = { ...(found ?? { ...left, why: "none" }), usage, ms: 1 };
    write(condensedDrafts(run, modelRun, { kind: "condensed", condensed }, around));
    if (found === undefined) return;
    const { room, text: summary = "" } = found;
    if (summary.length > Math.max(400, room) + 2)
      throw new Error(`a summary of ${summary.length} characters in a room of ${room} tokens`);
    told.condensed += 1;
    isCondensed = true;
  }

  let messages = 0;
  function say(words: string): void {
    const actor = { account: "test:ana", name: "ana" };
    write([{ id: `m${++messages}`, kind: "message", actor, text: words }]);
  }

  say(`why is web slow? ${text(pick(1_000))}`);
  for (let n = 0, most = 20 + pick(60); n < most; n += 1) {
    const { first: run } = talkingRuns(state);
    if (run === undefined) {
      const [pending] = state.pending.values();
      if (pending === undefined) say(pick(2) === 0 ? "continue" : `and ${text(pick(2_000))}`);
      else {
        write(beginDrafts(pending, around));
        before = [];
        isCondensed = false;
      }
      continue;
    }
    const move = nextTurn(run, run.modelRun);
    if (move?.do === "think") ask(run);
    else if (move?.do === "condense") condense(run);
    else if (move?.do === "write") write([...move.drafts]);
    else throw new Error(`nothing follows at ${seq}`);
  }
  return told;
}

/** The part of a request that the next one begins with, in bytes of JSON. */
function prefixOf(before: readonly TranscriptTurn[], after: readonly TranscriptTurn[]): number {
  let same = 0;
  let all = 0;
  let isSame = true;
  before.forEach((turn, i) => {
    const json = JSON.stringify(turn);
    all += json.length;
    isSame &&= turn === after[i] || json === JSON.stringify(after[i]);
    if (isSame) same += json.length;
  });
  return all === 0 ? 1 : same / all;
}
