import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { AssistantBlock } from "../../src/core/block.ts";
import { NO_USAGE } from "../../src/core/block.ts";
import { BotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import {
  type Model,
  ModelError,
  type ModelRequest,
  type ModelResponse,
  type Turn,
} from "../../src/models/model.ts";
import { type Errand, tryErrand } from "./errand.ts";
import type { Cross } from "./faults.ts";
import type { ToolName } from "./plan.ts";
import type { Witness } from "./witness.ts";

/** Never reached: what a worker had set aside when it was killed stays so. */
export const TOKENS_PER_DAY = 1_000_000_000;

export interface ModelParts {
  witness: Witness;
  cross: Cross;
  leaseMs: number;
}

/**
 * A model that does what messages ask for, round by round, and decides from a request's turns alone: whoever asks again
 * gets the same response. Some requests take long, hang or fail, some answers do not pass. Its id names its process, so
 * that each `assistant` entry says who had it made. The witness sees every request.
 */
export function createErrandModel({ witness, cross, leaseMs }: ModelParts): Model {
  return {
    id: `chaos/${process.pid}`,
    contextWindow: Number.MAX_SAFE_INTEGER,
    async generate(request, { signal }) {
      const state = readTurns(request.turns);
      const { key } = state;
      if (key !== undefined)
        witness.see({
          what: "asked",
          key,
          run: state.ended,
          isSide: state.isSide,
          ...sightOf(request),
        });
      cross("model:begin");
      const fate = fateOf(state, leaseMs);
      try {
        await pause(fate.ms, undefined, { signal });
      } catch (error) {
        throw new BotError("ABORTED", "It was stopped.", { cause: error });
      }
      cross("model:end");
      // A side run that fails leaves no word of what it was asked to tell it by.
      if (fate.fails && !state.isSide)
        throw new ModelError("MODEL_OVERLOADED", "The model is busy.");
      return respond(state, request, fate);
    },
  };
}

/** What the turns say: which errands wait for an answer, and how far they are. */
interface State {
  key: JournalKey | undefined;
  open: Errand[];
  /** Rounds of each errand that were asked for, by its name. */
  rounds: Map<string, number>;
  /** Calls since the last answer that were carried out, such as `T1`. */
  carriedOut: string[];
  /** The last answer did not pass. */
  isSentBack: boolean;
  /** Runs that have answered, failed or were stopped. */
  ended: number;
  /** It is a side run that asks. */
  isSide: boolean;
}

const SENT_BACK = "[watchkeeper] Your answer was not shown yet";
const SIDE = "[watchkeeper] This is a side run";
const WAS_SIDE = "[watchkeeper] What was asked and answered just above was a side run's";
const CUT_SHORT = /^\[watchkeeper\] (?:Failed: |.* stopped everything said so far\.)/;

function readTurns(turns: readonly Turn[]): State {
  const state: State = {
    key: undefined,
    open: [],
    rounds: new Map(),
    carriedOut: [],
    isSentBack: false,
    ended: 0,
    isSide: false,
  };
  let answered: Errand[] = [];
  let named = new Set<string>();
  for (const turn of turns) {
    if (turn.role === "tool") {
      for (const { text } of turn.results) {
        const name = /^\[(T\d+) \w+: ok\./.exec(text)?.[1];
        if (name !== undefined) state.carriedOut.push(name);
      }
    } else if (turn.role === "assistant") {
      const calls = turn.content.flatMap((block) => (block.kind === "tool_use" ? [block] : []));
      const names = new Set(calls.map(({ input }) => String(JSON.parse(input).note)));
      for (const name of names) state.rounds.set(name, (state.rounds.get(name) ?? 0) + 1);
      if (calls.length > 0) continue;
      answered = state.open;
      const answer = turn.content
        .map((block) => (block.kind === "text" ? block.text : ""))
        .join("");
      named = new Set([...answer.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name));
      state.open = [];
      state.carriedOut = [];
      state.isSentBack = false;
      state.ended += 1;
    } else {
      for (const part of turn.content) {
        const text = part.kind === "text" ? part.text : "";
        const errand = tryErrand(text);
        if (errand !== undefined) {
          state.key = errand.thread;
          state.open.push(errand);
        } else if (text.startsWith(SENT_BACK)) {
          state.open = [...answered, ...state.open];
          state.isSentBack = true;
          state.ended -= 1;
        } else if (text.startsWith(SIDE)) {
          state.isSide = true;
          // What was asked before is another run's.
          state.open = [];
        } else if (text.startsWith(WAS_SIDE)) {
          state.open = [...answered.filter(({ name }) => !named.has(name)), ...state.open];
          answered = [];
        } else if (CUT_SHORT.test(text)) state.ended += 1;
      }
    }
  }
  return state;
}

interface Fate {
  ms: number;
  fails: boolean;
  /** A number in [0, 1). */
  luck: number;
}

/** Of the requests these shares hang, fail, or take long. */
const HANGING = 0.04;
const FAILING = 0.05;
const SLOW = 0.15;
/** Longer than most people wait with a Stop. */
const HANGING_LEASES = 3;

function fateOf({ open, rounds, isSentBack }: State, leaseMs: number): Fate {
  const asked = open.map(({ name }) => `${name} ${rounds.get(name) ?? 0}`);
  const hash = createHash("sha256")
    .update(`${asked.join(",")} ${isSentBack}`)
    .digest();
  const [draw, luck] = [hash.readUInt32LE(0) / 2 ** 32, hash.readUInt32LE(4) / 2 ** 32];
  if (draw < HANGING) return { ms: HANGING_LEASES * leaseMs, fails: false, luck };
  if (draw < HANGING + FAILING) return { ms: luck * 60, fails: true, luck };
  if (draw < HANGING + FAILING + SLOW) return { ms: 150 + luck * 400, fails: false, luck };
  return { ms: 5 + luck * 60, fails: false, luck };
}

/** What each turn costs; less than is set aside for it, so that nothing booked goes beyond that. */
const TURN_TOKENS = 900;
/** Of the answers, this share lacks what an answer must have, once. */
const UNSURE = 0.3;

function respond(state: State, { toolChoice }: ModelRequest, { luck }: Fate): ModelResponse {
  const usage = { ...NO_USAGE, input: TURN_TOKENS };
  const calls = toolChoice === "none" ? [] : nextCalls(state);
  if (calls.length > 0) {
    const text = "To see and to act.";
    return { content: [{ kind: "text", text }, ...calls], stop: "tool_use", usage };
  }
  const { open, carriedOut, isSentBack } = state;
  const [first] = carriedOut;
  const grade = isSentBack || first === undefined ? "INCONCLUSIVE" : `CONFIRMED [${first}]`;
  const isUnsure = luck < UNSURE && !isSentBack && first !== undefined;
  const names = open.map(({ name }) => `"${name}"`).join(", ");
  const text = `${isUnsure ? "[T99]" : grade}: this answers ${names}.`;
  return { content: [{ kind: "text", text }], stop: "end_turn", usage };
}

/** The next round of every errand that has one; ids begin anew in each response, as some servers have them. */
function nextCalls({ open, rounds }: State): AssistantBlock[] {
  const round = (errand: Errand) => errand.rounds[rounds.get(errand.name) ?? 0] ?? [];
  return open
    .flatMap((errand) => round(errand).map((tool) => ({ errand, tool })))
    .map(({ errand, tool }, i) => {
      const { name, thread, ms } = errand;
      const args = { thread, name: callName(name, tool), ms, note: name };
      return { kind: "tool_use", id: `call_${i}`, name: tool, input: JSON.stringify(args) };
    });
}

function callName(errand: string, tool: ToolName): string {
  return tool === "look" || tool === "ask" ? `${errand}:${tool}` : errand;
}

/**
 * What can be told of a request without knowing what its turns mean: a digest of each turn that nothing may change any
 * more, which is all but what people and the program said last, and whether each call has its one result.
 */
function sightOf({ turns }: ModelRequest) {
  const settled = turns.at(-1)?.role === "user" ? turns.slice(0, -1) : turns;
  const unpaired = turns.flatMap((turn, i): string[] => {
    const next = turns[i + 1];
    const results = next?.role === "tool" ? next.results.map(({ id }) => id) : [];
    if (turn.role !== "assistant") return [];
    const calls = turn.content.flatMap((block) => (block.kind === "tool_use" ? [block.id] : []));
    return calls.join() === results.join()
      ? []
      : [`turn ${i + 1}: ${calls.join(" ")} and ${results.join(" ")}`];
  });
  return {
    turns: settled.map(digestOf),
    unlabelled: settled.map((turn) => digestOf(unlabelled(turn))),
    unpaired,
  };
}

function digestOf(turn: Turn): string {
  return createHash("sha256").update(JSON.stringify(turn)).digest("hex").slice(0, 8);
}

/** Without who is quoted: a run that others instruct tells it otherwise. */
function unlabelled(turn: Turn): Turn {
  if (turn.role !== "user") return turn;
  const content = turn.content.map((part) =>
    part.kind === "text"
      ? { ...part, text: part.text.replace(/^(\[[^\]]*), quoted\]/, "$1]") }
      : part,
  );
  return { ...turn, content };
}
