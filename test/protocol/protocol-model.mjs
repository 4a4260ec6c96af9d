/**
 * Checks the protocol, then plants each known mistake and sees it caught.
 * `node protocol-model.mjs [--traces] [--deep] [--keys]`, see README.md.
 */
import { emptyJournal } from "./journal.mjs";
import { createFold, next } from "./fold.mjs";
import { idle, worldSteps, workerSteps } from "./steps.mjs";
import { brokenState, unsettled, witnessesOf } from "./properties.mjs";
import { explore } from "./explore.mjs";

/** The protocol as it is to be built. A control turns one of these the wrong way. */
export const RULES = {
  sweeper: true,
  postIdempotent: true,
  postIndexesAtOnce: true,
  leaseIsKeyWithTtl: false,
  renewChecksToken: true,
  renewMovesAfter: false,
  appendChecksToken: true,
  liveLeaseFor: "nothing",
  decisionsNeedAfter: true,
  factsNeedAfter: false,
  unknownIsFact: false,
  entryIds: true,
  startHasDeadline: true,
  releaseChecksToken: true,
  releaseNeedsAfter: true,
  releaseSetsDueAt: true,
  releaseHandlesPosts: true,
  readAfterLease: true,
  factReplyShowsUnseen: true,
  lookBeforeDelete: true,
  deliveredMeansFinal: true,
  lateWord: true,
  writeAhead: true,
  recover: "unknown",
  effectNeedsLiveLease: false,
  inertAfterQuorum: false,
  startOverUnjudged: false,
  mute: [], // properties not looked at: what else notices?
  exact: false, // keep states apart that the short key merges
};

export function createModel(scenario, changes = {}) {
  const rules = { ...RULES, ...changes };
  const muted = (what) =>
    what && rules.mute.some((property) => what.startsWith(property)) ? undefined : what;
  const context = { scenario, rules, fold: createFold(scenario, rules), muted };
  const workers = Array.from({ length: scenario.workers ?? 2 }, () => idle);
  return {
    initial: {
      journal: emptyJournal,
      effects: 0,
      stray: 0,
      lost: 0,
      complete: 0,
      forgot: false,
      workers,
      broken: undefined,
      saw: undefined,
    },
    *steps({ broken, saw, ...state }) {
      yield* worldSteps(state, context);
      for (const i of state.workers.keys()) yield* workerSteps(state, i, context);
    },
    key: createKey(context),
    broken: (state) => muted(brokenState(state, context)),
    unsettled: (state) => muted(unsettled(state, context)),
    witness: witnessesOf,
  };
}

/**
 * Which states are one. Workers are interchangeable. A journal matters by its set of posts and its fold; what a worker has
 * read matters by the step it would take next and by whether anything is unseen. The controls that break these assumptions
 * use exact keys, and --keys holds the short key against the exact one.
 */
function createKey({ scenario, rules, fold }) {
  const workerKey = ({ journal: j, workers }, i) => {
    const { pc, seen, answer, blind } = workers[i];
    if (rules.exact) return `${pc}${seen}.${answer}${blind}`;
    if (pc !== "decide") return pc + answer;
    const folded = fold(j.entries.slice(0, seen), j.lateAt);
    const todo = next(folded, j.lateAt >= 0, scenario, rules);
    const expires = next(folded, true, scenario, rules).do === "expire" ? "t" : ""; // now, or when the clock passes
    if (todo.do === "expire") return "expire";
    if (j.holder !== i + 1) return (todo.do === "send" ? `send${todo.answer}` : "stale") + expires;
    if (seen === j.entries.length) return "level";
    return `behind ${todo.do === "send" || todo.do === "start" ? todo.do : ""}${todo.answer ?? ""}${expires}`;
  };
  return (state) => {
    const j = state.journal;
    const role = (i) => (j.holder === i + 1 ? "*" : "") + (j.winner === i + 1 ? "+" : "");
    const keys = state.workers.map((_, i) => workerKey(state, i) + role(i)).sort();
    const who = j.holder > 0 && j.holder < 9 ? "*" : j.holder;
    const journal = rules.exact
      ? `${j.entries}${j.lateAt}`
      : `${fold(j.entries, j.lateAt).summary}${j.lateAt < 0}`;
    const store = `${who}${+j.expired}${j.dueAt}${+j.unindexed}${+j.wake}`;
    const outside = `${state.effects}${state.stray}${state.lost}${state.complete}${+state.forgot}`;
    return `${journal}|${store}|${outside}|${keys.join("|")}`;
  };
}

const chat = { posts: "mns", quorum: 0, action: false };
const one = { posts: "mnadst", quorum: 1, action: true };
const two = { posts: "macbds", quorum: 2, action: true };
const small = { posts: "mas", quorum: 1, action: true };
const timed = { posts: "mat", quorum: 1, action: true };
const denied = { posts: "mad", quorum: 1, action: true };

const SCENARIOS = [
  ["two messages, Stop; no action", chat],
  ["quorum 1: two messages, approve, deny, Stop, expiry", one],
  ["quorum 2: message, Ana twice, Bob approves and denies, Stop", two],
  [
    "quorum 2: two messages, both approve, Bob denies, expiry",
    { posts: "mnabdt", quorum: 2, action: true },
  ],
];
const DEEP = [
  ["quorum 1: everything but Ana's second click", { posts: "mnabdst", quorum: 1, action: true }],
  ["quorum 2: everything", { posts: "mnacbdst", quorum: 2, action: true }],
  ["three workers, quorum 1", { posts: "madst", quorum: 1, action: true, workers: 3 }],
];

/** Other ways to build it that break nothing here. */
const VARIANTS = [
  ["decisions, not facts, are refused past the lease's end", { liveLeaseFor: "decisions" }, small],
  [
    "`tool_finished unknown` needs no `after` (its writer read after it leased)",
    { unknownIsFact: true },
    small,
  ],
  [
    "no pause between the look at the own clock and the effect: then 'not done' may be believed",
    { effectNeedsLiveLease: true, recover: "verify" },
    small,
  ],
];

/** What is done wrong, how, which property must notice, in which scenario. Always with exact keys. */
const CONTROLS = [
  ["append without the token check", { appendChecksToken: false }, "P6", small],
  [
    "… and what it does to a call",
    { appendChecksToken: false, mute: ["P6", "P7", "P5"] },
    "P4",
    small,
  ],
  ["decisions without `after`", { decisionsNeedAfter: false }, "P3", chat],
  ["… and what it does to a Stop", { decisionsNeedAfter: false }, "P2", small],
  ["release without `after`", { releaseNeedsAfter: false }, "P8", small],
  ["… and what becomes of it", { releaseNeedsAfter: false, mute: ["P8"] }, "P3", small],
  ["no sweeper: the queue is the truth", { sweeper: false }, "P3", small],
  ["release without the token check", { releaseChecksToken: false }, "P6", small],
  ["release does not say when the journal is next due", { releaseSetsDueAt: false }, "P8", timed],
  [
    "a post counts as handled only by an append after it",
    { releaseHandlesPosts: false },
    "P3",
    { posts: "ms", quorum: 0, action: false },
  ],
  ["post and index in two transactions", { postIndexesAtOnce: false }, "P8", small],
  ["post without ids", { postIdempotent: false }, "P5", chat],
  ["append needs a lease that has not run out", { liveLeaseFor: "all" }, "P7", small],
  ["facts need `after`, or travel with a decision", { factsNeedAfter: true }, "P7", small],
  [
    "the lease is a key with a time to live",
    { leaseIsKeyWithTtl: true, mute: ["P7"] },
    "P8",
    small,
  ],
  ["renew without the token check", { renewChecksToken: false }, "P6", small],
  ["renew's `last` taken as `after`", { renewMovesAfter: true, mute: ["P3", "P8"] }, "P2", small],
  ["a fact's reply moves `after` over the unseen", { factReplyShowsUnseen: false }, "P8", chat],
  ["the worker reads before it leases", { readAfterLease: false }, "P5", small],
  [
    "… and `tool_finished unknown` counts as a fact",
    { readAfterLease: false, unknownIsFact: true, mute: ["P5"] },
    "P4",
    small,
  ],
  ["no entry ids: a repeated append writes twice", { entryIds: false }, "P5", small],
  ["… also a result", { entryIds: false, mute: ["P5"] }, "P4", small],
  ["`delivered` refused: deletes without looking", { lookBeforeDelete: false }, "P5", chat],
  [
    "`delivered` when a stream starts, and nothing when it ends",
    { deliveredMeansFinal: false },
    "P5",
    chat,
  ],
  ["effect before tool_started", { writeAhead: false, mute: ["P2"] }, "P1", small],
  ["a started call is run again", { recover: "rerun" }, "P1", small],
  ["a verifier's 'not done' is believed", { recover: "verify" }, "P4", small],
  ["a fenced worker keeps the outcome to itself", { lateWord: false }, "P4", small],
  ["the q-th vote closes; a later deny is inert", { inertAfterQuorum: true }, "P2", denied],
  ["dispatch while an earlier click is unjudged", { startOverUnjudged: true }, "P2", denied],
  ["expiry only by the timer's entry", { startHasDeadline: false }, "P2", timed],
];

function main(options) {
  const began = performance.now();
  let failures = 0;
  const print = (trace) => {
    for (const line of trace) console.log(`        ${line}`);
  };
  const run = (scenario, changes) => {
    const from = performance.now();
    return {
      ...explore(createModel(scenario, changes)),
      seconds: ((performance.now() - from) / 1000).toFixed(1),
    };
  };

  console.log("The protocol (must hold)");
  const witnesses = new Map();
  for (const [name, scenario] of [...SCENARIOS, ...(options.has("--deep") ? DEEP : [])]) {
    const r = run(scenario);
    if (r.violation) failures++;
    console.log(
      `  ${r.violation ? "BROKEN" : "holds "}  ${name}: ${r.states} states, ${r.steps} steps, ${r.ends} ends, ${r.seconds} s`,
    );
    if (r.violation) {
      console.log(`      ${r.violation.what}`);
      print(r.violation.trace);
    }
    for (const [what, trace] of r.witnesses) if (!witnesses.has(what)) witnesses.set(what, trace);
  }

  console.log("\nVariants (hold too)");
  for (const [name, changes, scenario] of VARIANTS) {
    const r = run(scenario, { ...changes, exact: true });
    if (r.violation) failures++;
    console.log(`  ${r.violation ? "BROKEN" : "holds "}  ${name}: ${r.states} states`);
    if (r.violation) {
      console.log(`      ${r.violation.what}`);
      print(r.violation.trace);
    }
  }

  console.log("\nWhat it cannot prevent (reachable)");
  for (const [what, trace] of witnesses) {
    console.log(`  ${what}`);
    if (options.has("--traces")) print(trace);
  }

  console.log("\nControls (must be caught)");
  for (const [name, changes, property, scenario] of CONTROLS) {
    const r = run(scenario, { ...changes, exact: true });
    const caught = r.violation?.what.startsWith(property);
    if (!caught) failures++;
    console.log(`  ${caught ? "caught" : "MISSED"}  ${name}`);
    console.log(
      `          ${r.violation?.what ?? "nothing"} (${r.violation?.trace.length ?? 0} steps, ${r.states} states)`,
    );
    if (r.violation && options.has("--traces")) print(r.violation.trace);
  }

  if (options.has("--keys")) failures += compareKeys();
  console.log(
    `\n${failures ? `${failures} FAILED` : "all as expected"}, ${((performance.now() - began) / 1000).toFixed(0)} s`,
  );
  process.exitCode = failures ? 1 : 0;
}

/** Explores with exact keys and counts the short keys and the steps between them: must be those found with short keys. */
function compareKeys() {
  let failures = 0;
  console.log("\nShort key against exact key");
  for (const scenario of [chat, small, timed, denied, { posts: "mab", quorum: 2, action: true }]) {
    const short = createModel(scenario);
    const census = (model) => {
      const seen = new Set();
      const { states } = explore({
        ...model,
        *steps(state) {
          for (const step of model.steps(state)) {
            seen.add(`${short.key(state)} ${step.kind} ${short.key(step.to)}`);
            yield step;
          }
        },
      });
      return { states, steps: seen };
    };
    const [a, b] = [census(short), census(createModel(scenario, { exact: true }))];
    const same = a.steps.size === b.steps.size && [...a.steps].every((step) => b.steps.has(step));
    if (!same) failures++;
    const sizes = `${b.states} exact states, ${a.states} short ones, ${b.steps.size} / ${a.steps.size} different steps`;
    console.log(
      `  ${same ? "same  " : "DIFFER"}  ${scenario.posts}, quorum ${scenario.quorum}: ${sizes}`,
    );
  }
  return failures;
}

if (process.argv[1]?.endsWith("protocol-model.mjs")) main(new Set(process.argv.slice(2)));
