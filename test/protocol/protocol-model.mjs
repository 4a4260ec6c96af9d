/**
 * Checks the protocol (and four small models beside it: side runs, parking, undo, grants), then plants each known mistake and sees it caught.
 * `node protocol-model.mjs [--traces] [--deep] [--keys]`, see README.md.
 */
import { emptyJournal } from "./journal.mjs";
import { createFold, next } from "./fold.mjs";
import { idle, worldSteps, workerSteps } from "./steps.mjs";
import { brokenState, unsettled, witnessesOf } from "./properties.mjs";
import { explore } from "./explore.mjs";
import { createSideRun } from "./side-run.mjs";
import { createParking } from "./parking.mjs";
import { createUndo } from "./undo.mjs";
import { createGrant } from "./grant.mjs";

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
  behindWaits: true,
  behindBeginsAgain: true, // what was read is folded before it is written
  inertAfterQuorum: false,
  startOverUnjudged: false,
  failedLook: "waits",
  judgeHasLimit: true,
  unjudgedDenyCloses: true,
  looksAgain: "all",
  expiresUnjudged: true, // the judge is away
  postReopens: true,
  releaseNamesHost: true,
  waitsForHost: true,
  anyHostRuns: false, // host-bound actions
  flushBefore: ["ack", "effect", "show", "forget"],
  ackLooks: true, // power loss, failover
  headOf: ["lease", "decision", "fact", "release", "barrier"], // the verbs that carry and check the head of what was folded
  epoch: true,
  restoreClearsTokens: true,
  restoreVoids: true,
  restoreAsks: true,
  restoreTells: true,
  oldByPlatformTime: true,
  clickNamesDigest: true,
  lateWordCloses: true, // restore
  mute: [], // properties not looked at: what else notices?
  exact: false, // keep states apart that the short key merges
};

export function createModel(scenario, changes = {}) {
  const rules = { ...RULES, ...changes };
  const muted = (what) =>
    what && rules.mute.some((property) => what.startsWith(property)) ? undefined : what;
  const context = { scenario, rules, fold: createFold(scenario, rules), muted };
  const workers = Array.from({ length: scenario.workers ?? 2 }, () => idle);
  const people = { left: "" }; // who stopped being an approver
  const machines = { down: false, gone: false }; // host 1
  const durable = {
    pending: "",
    acked: "",
    cards: "",
    told: "",
    begun: 0,
    lostOnce: false,
    saved: false,
    lastGone: "",
    base: 0,
    sent: "",
    snapshot: "", // a fold that somebody kept beside the journal; it survives everything
    safe: scenario.loses && emptyJournal,
  };
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
      ...people,
      ...machines,
      ...durable,
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
  const exact = rules.exact || Boolean(scenario.hosts || scenario.loses || scenario.behind);
  const workerKey = ({ journal: j, workers }, i) => {
    const { pc, seen, answer, blind, was, looked } = workers[i];
    if (exact) return `${pc}${seen}.${answer}${blind}${was}${looked}`;
    if (pc !== "decide") return pc + answer + looked;
    const folded = fold(j.entries.slice(0, seen), j.lateAt);
    const todo = next(folded, j.lateAt >= 0, scenario, rules);
    const looks = todo.do === "start" ? looked : "";
    const expires = next(folded, true, scenario, rules).do === "expire" ? "t" : ""; // now, or when the clock passes
    if (todo.do === "expire") return "expire";
    const does =
      todo.do === "send"
        ? `send${todo.answer}`
        : todo.do === "start" && scenario.judge
          ? `start${looked}${[...folded.approvers]}`
          : "";
    if (j.holder !== i + 1) return (does || "stale") + expires;
    if (seen === j.entries.length) return `level${looks}`;
    return `behind ${does || (todo.do === "start" ? "start" : "")}${expires}`;
  };
  return (state) => {
    const j = state.journal;
    const role = (i) => (j.holder === i + 1 ? "*" : "") + (j.winner === i + 1 ? "+" : "");
    const keys = state.workers.map((_, i) => workerKey(state, i) + role(i));
    if (!scenario.hosts) keys.sort();
    const who = j.holder > 0 && j.holder < 9 ? "*" : j.holder;
    const judging = scenario.judge
      ? judgeKey(j, fold(j.entries, j.lateAt).unjudged, state.left)
      : "";
    const journal = exact
      ? `${j.entries}${j.lateAt},${j.tiredAt},${j.epoch}`
      : `${fold(j.entries, j.lateAt).summary}${j.lateAt < 0}${judging}`;
    const store = `${who}${+j.expired}${j.dueAt}${+j.unindexed}${+j.wake}`;
    const outside = `${state.effects}${state.stray}${state.lost}${state.complete}${+state.forgot}`;
    const extra = exact
      ? `${j.dueFor}${state.left}${+state.down}${+state.gone}${lossKey(state)}`
      : "";
    return `${journal}|${store}|${outside}|${extra}|${keys.join("|")}`;
  };
}

/** Which waiting clicks are past the limit, which clicks were taken out without a vote, who is no approver any more. */
function judgeKey(j, unjudged, left) {
  const words = [..."efgh"].filter((word) => j.entries.includes(word));
  return [
    ...unjudged.filter((click) => j.entries.indexOf(click) < j.tiredAt),
    "|",
    ...words,
    left,
  ].join("");
}

function lossKey({
  safe,
  pending,
  acked,
  cards,
  told,
  begun,
  lostOnce,
  saved,
  lastGone,
  base,
  sent,
  snapshot,
}) {
  if (!safe) return "";
  const stored = [
    safe.entries,
    safe.lateAt,
    safe.epoch,
    safe.holder,
    +safe.expired,
    safe.dueAt,
  ].join();
  return [
    stored,
    pending,
    acked,
    cards,
    told,
    begun,
    +lostOnce,
    +saved,
    lastGone.includes("S"),
    base,
    sent,
    snapshot,
  ].join();
}

const chat = { posts: "mns", quorum: 0, action: false };
const one = { posts: "mnadst", quorum: 1, action: true };
const two = { posts: "macbds", quorum: 2, action: true };
const small = { posts: "mas", quorum: 1, action: true };
const timed = { posts: "mat", quorum: 1, action: true };
const denied = { posts: "mad", quorum: 1, action: true };

const asked = { posts: "mad", quorum: 1, action: true, judge: "flaky", leaves: ["Bob"] };
const askedTwice = { posts: "mab", quorum: 2, action: true, judge: "flaky", leaves: ["Bob"] };
const judgeless = { posts: "mad", quorum: 1, action: true, judge: "away" };
const power = { posts: "ma", quorum: 1, action: true, workers: 1, loses: "power" };
const reading = { ...power, posts: "m", quorum: 0, action: false, reads: true, snapshots: true };
const behind = { posts: "mns", quorum: 0, action: false, reads: true, behind: true };
const failover = { ...power, loses: "failover" };
const restore = { ...power, loses: "restore" };
const oldCard = { ...restore, posts: "mz" };
const unasked = { ...restore, posts: "mn", quorum: 0 };
const twoHosts = { posts: "ma", quorum: 1, action: true, hosts: [1, 2] };

const SCENARIOS = [
  ["two messages, Stop; no action", chat],
  ["quorum 1: two messages, approve, deny, Stop, expiry", one],
  ["quorum 2: message, Ana twice, Bob approves and denies, Stop", two],
  ["look-ups fail; approve, deny, Bob leaves", asked],
  ["look-ups fail; quorum 2, both approve, Bob leaves", askedTwice],
  ["look-ups fail for ever", judgeless],
  ["the power fails, any number of times", power],
  ["the power fails: reads, snapshots that outlive it", reading],
  ["what was read is folded before it is written; two messages, Stop", behind],
  ["… and the power fails", { ...reading, behind: true }],
  ["a failover loses what the replica did not have", failover],
  ["restored from a backup; an old card is still out there", oldCard],
  ["restored from a backup; a write that policy allows", { ...unasked, posts: "m" }],
  ["host-bound: host 1 goes down, comes back, goes for good", twoHosts],
];
const DEEP = [
  [
    "quorum 2: two messages, both approve, Bob denies, expiry",
    { posts: "mnabdt", quorum: 2, action: true },
  ],
  ["quorum 1: everything but Ana's second click", { posts: "mnabdst", quorum: 1, action: true }],
  ["quorum 2: everything", { posts: "mnacbdst", quorum: 2, action: true }],
  ["three workers, quorum 1", { posts: "madst", quorum: 1, action: true, workers: 3 }],
  [
    "look-ups fail; both approve, Bob denies, both leave",
    { posts: "mabd", quorum: 2, action: true, judge: "flaky", leaves: ["Ana", "Bob"] },
  ],
  ["the power fails: two messages, reads, snapshots", { ...reading, posts: "mn" }],
  ["the power fails: an action, snapshots", { ...power, snapshots: true }],
  [
    "a failover: what was read is folded before it is written",
    { ...reading, loses: "failover", posts: "mn", behind: true },
  ],
  ["the power fails, with a deny", { ...power, posts: "mad" }],
  ["restored from a backup; approve", restore],
  ["restored from a backup; two messages, a write that policy allows", unasked],
  [
    "host-bound: a Stop; host 1 may stall for 10 minutes",
    { ...twoHosts, posts: "mas", mayStall: true },
  ],
];
const SIDE_RUNS = [
  ["a message while a card is open; approve, deny", { posts: "mnad" }],
  ["two messages while a card is open", { posts: "mnoa" }],
  ["… and Stop", { posts: "mnas" }],
  ["… and a Stop on the side run's message", { posts: "mnav" }],
  ["the side run's model never answers", { posts: "mnad", hangs: true }],
];
const PARKINGS = [
  ["one thread that kills, two bystanders, the machine goes down, leases get lost", {}],
  ["two threads that kill", { poisoned: [0, 1] }],
  ["a killer whose step nobody thought of marking", { unmarked: true }],
  ["nobody kills", { poisoned: [], faults: 3 }],
];

/** Other ways to build it that break nothing here. Larger with --deep. */
const DEEP_VARIANTS = [
  [
    "failover: no head on a fact (what it rests on was replicated; after a restore it is needed, see below)",
    { headOf: ["lease", "decision", "release", "barrier"] },
    failover,
  ],
];
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
  ["no limit for unjudged clicks: the expiry settles them", { judgeHasLimit: false }, judgeless],
  [
    "power loss: an outcome is flushed with the next (it is unknown then, and a person is asked)",
    { flushBefore: ["ack", "effect", "show"] },
    power,
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
  // the judge is away
  [
    "a look-up that failed counts as no: a click is used up",
    { failedLook: "no" },
    "P2 an approve was",
    asked,
  ],
  ["… a deny too", { failedLook: "no", mute: ["P2 an approve was"] }, "P2 a deny", asked],
  [
    "… an approved action is dropped",
    { failedLook: "no", mute: ["P2 an approve was"] },
    "P2 an approved",
    askedTwice,
  ],
  ["a look-up that failed counts as yes at dispatch", { failedLook: "yes" }, "P2", askedTwice],
  [
    "a deny that waited too long is handed back like an approve",
    { unjudgedDenyCloses: false },
    "P2",
    { ...asked, leaves: [] },
  ],
  ["only the first vote is looked at again", { looksAgain: "first" }, "P2", askedTwice],
  ["no vote is looked at again", { looksAgain: "not" }, "P2", askedTwice],
  [
    "no limit, and clicks are judged before the expiry closes",
    { judgeHasLimit: false, expiresUnjudged: false },
    "P3",
    judgeless,
  ],
  // the power fails; a replica is behind
  ["acknowledged before it is flushed", { flushBefore: ["effect", "show", "forget"] }, "P9", power],
  [
    "the effect before tool_started is flushed",
    { flushBefore: ["ack", "show", "forget"] },
    "P1",
    power,
  ],
  ["shown before it is flushed", { flushBefore: ["ack", "effect", "forget"] }, "P10", power],
  [
    "a snapshot is taken up as it is: no head anywhere",
    { headOf: ["barrier"] },
    "P10",
    { ...reading, posts: "mn" },
  ],
  [
    "failover: acknowledged before it is replicated",
    { flushBefore: ["effect", "show", "forget"] },
    "P9",
    failover,
  ],
  [
    "failover: the effect before tool_started is replicated",
    { flushBefore: ["ack", "show", "forget"] },
    "P1",
    failover,
  ],
  [
    "failover: shown before it is replicated",
    { flushBefore: ["ack", "effect", "forget"] },
    "P10",
    failover,
  ],
  [
    "failover: an outcome is forgotten before it is replicated",
    { flushBefore: ["ack", "effect", "show"] },
    "P4",
    failover,
  ],
  [
    "failover: who acknowledges does not look whether the entry is still there",
    { ackLooks: false },
    "P9",
    failover,
  ],
  [
    "no head on a barrier: 'all is replicated' says the new primary",
    { headOf: ["lease", "decision", "fact", "release"] },
    "P1",
    failover,
  ],
  [
    "no head at all: a remembered fold, 'after 6', of a journal that was shortened",
    { headOf: ["barrier"] },
    "P5",
    { ...failover, posts: "mn", quorum: 0, action: false },
  ],
  ["an answer does not wait for what it rests on", { behindWaits: false }, "P10", behind],
  [
    "what was folded before it was written stands, though somebody wrote first",
    { behindBeginsAgain: false },
    "P3",
    behind,
  ],
  ["no head on a decision", { headOf: ["lease", "fact", "release", "barrier"] }, "P5", failover],
  ["no head on a release", { headOf: ["lease", "decision", "fact", "barrier"] }, "P8", failover],
  [
    "no head on a read with a remembered fold",
    { headOf: ["decision", "fact", "release", "barrier"] },
    "P3",
    { ...failover, posts: "mn" },
  ],
  // restored
  ["the store does not know that it was restored", { epoch: false }, "P1", restore],
  ["… for a write that policy allows", { epoch: false }, "P1", { ...unasked, posts: "m" }],
  [
    "a restore voids nothing that was proposed and approved before",
    { restoreVoids: false },
    "P1",
    restore,
  ],
  [
    "a write that policy allows is not asked about after a restore",
    { restoreAsks: false },
    "P1",
    { ...unasked, posts: "m" },
  ],
  [
    "old is what was posted, not what was said, before the restore",
    { oldByPlatformTime: false },
    "P1",
    { ...unasked, posts: "m" },
  ],
  [
    "a restore keeps the leases' tokens, no head on facts",
    { restoreClearsTokens: false, headOf: ["lease", "decision", "release", "barrier"] },
    "P5",
    restore,
  ],
  ["nobody is told of a restore", { restoreTells: false }, "P12", restore],
  [
    "a button names action and revision, not the digest",
    { clickNamesDigest: false },
    "P2",
    oldCard,
  ],
  [
    "a late word on a call that the journal does not know says nothing",
    { lateWordCloses: false },
    "P2",
    restore,
  ],
  // host-bound
  ["any host runs it", { anyHostRuns: true }, "P11", twoHosts],
  ["dropped without waiting for its host", { waitsForHost: false }, "P11", twoHosts],
  ["release does not name the host", { releaseNamesHost: false }, "P3", twoHosts],
  ["a post leaves the thread to that host", { postReopens: false }, "P8", twoHosts],
];
const SIDE_CONTROLS = [
  [
    "the dispatcher asks whether a card is open, not whether the run is a side run",
    { readerBy: "card" },
    "D1",
    {},
  ],
  ["a side run's message joins the first run too", { joins: "both" }, "D3", {}],
  ["what waits for the card belongs to nobody", { handOver: false }, "D3", {}],
  ["… to a run that may have ended", { orphanStarts: false }, "D3", {}],
  ["Stop stops the side run only", { stop: "side" }, "D2", { posts: "mnas" }],
  ["every Stop button stops everything", { stopNames: false }, "D5", { posts: "mnav" }],
  ["dispatch waits for the side run", { sideHolds: true }, "D6", { hangs: true }],
  ["the first run is shown half an exchange", { wholeExchanges: false }, "D4", {}],
];
const UNDOS = [
  ["undo: two presses, two workers, a crash", {}],
  ["undo: two presses, and the world moves on", { crashes: 0, moves: true }],
];

const PARKING_CONTROLS = [
  ["a lost lease counts", { countLostLeases: true }, "K1", {}],
  ["everyone in the process counts", { everyoneGuilty: true }, "K1", {}],
  ["only marked threads are suspects", { suspects: "marked" }, "K2", { unmarked: true }],
  [
    "only marked threads are suspects, if one has a mark",
    { suspects: "marked or all" },
    "K2",
    { unmarked: true },
  ],
  [
    "the mark comes with the next renewal, and only marked threads are suspects",
    { suspects: "marked", markBefore: false },
    "K2",
    {},
  ],
  ["a death counts that nobody outlived", { parentSees: false }, "K1", {}],
  ["one death alone convicts", { convictAfter: 1 }, "K1", {}],
  ["a post takes the verdict back", { postForgets: true }, "K2", {}],
  ["the whole thread rests", { restsStep: false }, "K4", {}],
];

const UNDO_CONTROLS = [
  ["every press begins one", { onceByFold: false }, "U1", {}],
  ["an unknown one can be asked for again", { unknownFrees: true }, "U1", {}],
  ["a denied one counts for ever", { freesWhenOff: false }, "U3", {}],
  ["a worker without the token begins one", { appendChecksToken: false }, "U", {}],
  ["nobody looks at the world", { looks: false }, "U4", { presses: 1, moves: true }],
];

const GRANTS = [
  ["grant: journal and counter fail over apart", {}],
  ["grant: journal and counter fail over together", { oneStream: true }],
];
const GRANT_CONTROLS = [
  ["the counter is in another partition and has no barrier", { barrier: "none" }, "G1", {}],
  ["the counter's barrier does not name the use", { barrier: "blind" }, "G1", {}],
  [
    "the barrier before the effect covers the counter, and does not look for the use",
    { barrier: "none" },
    "G1",
    { oneStream: true },
  ],
  [
    "a use is counted after its call has started",
    { countsFirst: false, barrier: "none" },
    "G1",
    {},
  ],
  ["who cannot know gives the use back", { fencedGivesBack: true }, "G1", {}],
];

function main(options) {
  const began = performance.now();
  let failures = 0;
  const print = (trace) => {
    for (const line of trace) console.log(`        ${line}`);
  };
  const run = (scenario, changes, create = createModel) => {
    const from = performance.now();
    return {
      ...explore(create(scenario, changes)),
      seconds: ((performance.now() - from) / 1000).toFixed(1),
    };
  };
  const parts = [
    [createModel, [...SCENARIOS, ...(options.has("--deep") ? DEEP : [])], CONTROLS],
    [createSideRun, SIDE_RUNS, SIDE_CONTROLS],
    [createParking, PARKINGS, PARKING_CONTROLS],
    [createUndo, UNDOS, UNDO_CONTROLS],
    [createGrant, GRANTS, GRANT_CONTROLS],
  ];

  console.log("The protocol (must hold)");
  const witnesses = new Map();
  for (const [create, scenarios] of parts)
    for (const [name, scenario] of scenarios) {
      const r = run(scenario, {}, create);
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
  for (const [name, changes, scenario] of [
    ...VARIANTS,
    ...(options.has("--deep") ? DEEP_VARIANTS : []),
  ]) {
    const r = run(
      scenario === small && !options.has("--deep") ? { ...small, posts: "ma" } : scenario,
      { ...changes, exact: !scenario.judge },
    );
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
  for (const [create, , controls] of parts)
    for (const [name, changes, property, scenario] of controls) {
      const r = run(scenario, { ...changes, exact: true }, create);
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
  const judged = { posts: "ma", quorum: 1, action: true, judge: "flaky", leaves: ["Ana"] };
  for (const scenario of [
    chat,
    small,
    timed,
    denied,
    { posts: "mab", quorum: 2, action: true },
    judged,
    { ...judged, posts: "md", leaves: ["Bob"] },
  ]) {
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
