/** Everything that can happen next: the world around, and each worker. */
import {
  append,
  FACTS,
  flush,
  FORGOTTEN,
  goBack,
  isDue,
  KIND,
  lease,
  leaseEnds,
  NOBODY,
  post,
  POSTS,
  release,
  renew,
} from "./journal.mjs";
import { next, VOTE_ON, VOTER, WORD_ON } from "./fold.mjs";
import { brokenAppend, brokenLoss } from "./properties.mjs";

/**
 * `was`: what it has folded, once the store has lost or replaced a part of that. `looked`: the approvers whose standing it has
 * looked up for this dispatch, "" if none.
 */
export const idle = { pc: "idle", seen: 0, answer: 0, blind: "", was: "", looked: "" };

/** Posts (each id at most once, or repeated in a control), the store's clock, and what the queue does to a wake. */
export function* worldSteps(state, context) {
  const { scenario, rules, fold } = context;
  const j = state.journal;
  const has = (entry) => j.entries.includes(entry);
  const to = (changes) => ({ ...state, journal: { ...j, ...changes } });
  for (const entry of scenario.posts) {
    const again =
      has(entry) && (rules.postIdempotent || entry !== "m" || j.entries.split("m").length > 2);
    const onCard = !scenario.loses
      ? has("P")
      : entry === "z"
        ? state.cards.includes("old")
        : state.cards.includes("new");
    const tooEarly =
      entry === "t"
        ? j.lateAt < 0
        : "acbdz".includes(entry)
          ? !onCard
          : entry !== "m" && !has("m") && !state.acked.includes("m");
    if (again || tooEarly) continue;
    const pending = scenario.loses && entry !== "t" ? { pending: state.pending + entry } : {};
    yield {
      label: `post: ${KIND[entry]}`,
      kind: "world",
      to: { ...state, ...pending, journal: post(j, entry, rules) },
    };
  }
  if (
    scenario.judge &&
    fold(j.entries, j.lateAt).unjudged.some((click) => j.entries.indexOf(click) >= j.tiredAt) &&
    rules.judgeHasLimit
  )
    yield {
      label: "the clicks so far have waited long for their judge",
      kind: "system",
      to: to({ tiredAt: j.entries.length }),
    };
  for (const name of scenario.leaves ?? [])
    if (!state.left.includes(name))
      yield {
        label: `${name} is no approver any more`,
        kind: "world",
        to: { ...state, left: state.left + name },
      };
  if (scenario.hosts) yield* hostSteps(state, scenario);
  if (scenario.loses) yield* lossSteps(state, context);
  if (has("P") && j.lateAt < 0)
    yield {
      label: "the action's expiry passes",
      kind: "system",
      to: to({ lateAt: j.entries.length }),
    };
  if (j.holder !== NOBODY && !j.expired)
    yield {
      label: "the lease's end passes",
      kind: j.holder === FORGOTTEN ? "system" : "fault",
      to: { ...state, journal: leaseEnds(j, rules) },
    };
  if (j.unindexed) {
    yield {
      label: "the poster writes the index",
      kind: "system",
      to: to({ unindexed: false, dueAt: j.holder === NOBODY ? "now" : j.dueAt }),
    };
    yield {
      label: "the poster crashes before the index",
      kind: "fault",
      to: to({ unindexed: false }),
    };
  }
  if (j.wake) yield { label: "the queue loses the wake", kind: "fault", to: to({ wake: false }) };
}

/** Host 1 goes down with its worker, and comes back; after 10 minutes without a beat it counts as gone, and so it may by a long stall. */
function* hostSteps(state, { mayStall }) {
  const { down, gone, journal: j } = state;
  const left = j.holder === 1 ? { ...j, holder: FORGOTTEN, winner: FORGOTTEN } : j;
  const crashed = {
    ...state,
    down: true,
    journal: left,
    workers: state.workers.with(0, idle),
    forgot: state.forgot || state.workers[0].pc === "ran",
  };
  if (!down) yield { label: "host 1 goes down", kind: "fault", to: crashed };
  if (down)
    yield { label: "host 1 is back", kind: "world", to: { ...state, down: false, gone: false } };
  if (!gone && down)
    yield {
      label: "10 minutes without a beat of host 1",
      kind: "system",
      to: { ...state, gone: true },
    };
  if (!gone && !down && mayStall)
    yield {
      label: "10 minutes without a beat of host 1, which only stalls",
      kind: "fault",
      to: { ...state, gone: true },
    };
  if (gone && !down)
    yield { label: "host 1 beats again", kind: "system", to: { ...state, gone: false } };
}

/**
 * What a store may lose. `safe` is the state that a loss leaves: what the disk has flushed ("power"), what the replica has
 * ("failover"), what the backup holds ("restore"). Disk and replica catch up when they like; a barrier makes them.
 */
function* lossSteps(state, { scenario, rules, muted }) {
  const { journal: j, safe, pending, acked } = state;
  const letters = (text, keep) => [...text].filter(keep).sort().join("");
  if (pending) {
    const there = letters(pending, (entry) => j.entries.includes(entry) || !rules.ackLooks);
    const flushed =
      rules.flushBefore.includes("ack") && scenario.loses !== "restore" ? { safe: j } : {};
    const gone =
      [...there].some((entry) => !j.entries.includes(entry)) && scenario.loses !== "restore"
        ? "P9 acknowledged what was already lost"
        : undefined;
    if (there)
      yield {
        label: `the posts are acknowledged (${there})`,
        kind: "world",
        to: {
          ...state,
          ...flushed,
          pending: letters(pending, (entry) => !there.includes(entry)),
          acked: letters(acked + there, () => true),
          broken: muted(gone),
        },
      };
  }
  if (
    !state.lostOnce &&
    safe.entries !== j.entries &&
    (scenario.loses !== "restore" || !state.saved)
  )
    yield {
      label: scenario.loses === "restore" ? "a backup is made" : "disk or replica catches up",
      kind: "world",
      to: { ...state, safe: j, saved: scenario.loses === "restore" },
    };
  if (state.lostOnce || safe.entries === j.entries) return;
  const restore = scenario.loses === "restore";
  const journal = goBack(
    j,
    safe,
    restore && {
      epoch: rules.epoch,
      byPlatformTime: rules.oldByPlatformTime,
      clearTokens: rules.restoreClearsTokens,
      dueNow: true,
    },
  );
  const common = safe.entries.length;
  const remember = (w) =>
    w.seen > common && !w.was ? { ...w, was: j.entries.slice(0, w.seen) } : w;
  const dead = scenario.loses === "power";
  const holder = dead && journal.holder !== NOBODY ? { holder: FORGOTTEN, winner: FORGOTTEN } : {};
  const forgot =
    state.forgot ||
    (dead && state.effects > 0) ||
    (restore && /[Fl]/.test(j.entries.slice(common)));
  const cards = restore && state.cards ? "old" : state.cards;
  yield {
    label: {
      power: "THE POWER FAILS",
      failover: "FAILOVER to a replica that is behind",
      restore: "RESTORED from the backup",
    }[scenario.loses],
    kind: "fault",
    to: {
      ...state,
      forgot,
      cards,
      lostOnce: !dead || state.lostOnce,
      base: restore ? common : 0,
      sent: restore ? letters(j.entries, (entry) => "mn".includes(entry)) : "",
      lastGone: restore ? j.entries.slice(common) : "",
      pending: dead ? "" : pending,
      journal: { ...journal, ...holder },
      safe: { ...journal, ...holder },
      workers: dead ? state.workers.map(() => idle) : state.workers.map(remember),
      broken: restore ? undefined : muted(brokenLoss(state, safe.entries, scenario)),
    },
  };
}

/**
 * One worker. A pause is a worker that takes no step for a while; the lease's end may pass at any time, so zombies take
 * every step below too. Asking the store and hearing its reply is one step; where it matters the reply may be lost: the
 * states with "?" (it is written, the worker does not know, and repeats the request).
 */
export function* workerSteps(state, i, { scenario, rules, fold, muted }) {
  const j = state.journal;
  const me = i + 1;
  const w = state.workers[i];
  const length = j.entries.length;
  const lost = w.was !== "";
  if (scenario.hosts && me === 1 && state.down) return;
  const step = (kind) => (label, to) => ({ label: `W${me} ${label}`, kind, to });
  const [system, world, fault] = ["system", "world", "fault"].map(step);
  const become = (changes, more = {}) => ({
    ...state,
    ...more,
    workers: state.workers.with(i, { ...w, ...changes }),
  });
  const forgets = (journal) =>
    journal?.holder === me ? { ...journal, holder: FORGOTTEN, winner: FORGOTTEN } : journal;
  const rest = (more = {}, memory = {}) => {
    const safe = state.safe && { safe: forgets(more.safe ?? state.safe) }; // this lease's token is gone, wherever it is stored
    return {
      ...state,
      ...more,
      ...safe,
      journal: forgets(more.journal ?? j),
      workers: state.workers.with(i, { ...idle, ...memory }),
    };
  };
  /** Everything so far is flushed or replicated; `undefined`: what I have folded is not what is stored. */
  const barrier = (what) => {
    if (!scenario.loses || scenario.loses === "restore" || !rules.flushBefore.includes(what))
      return {};
    const { kind, safe } = flush(j, rules, { lost });
    return kind === "ok" ? { safe } : undefined;
  };

  if (w.pc === "idle") {
    const journal = lease(j, me);
    const called = rules.sweeper ? isDue(j, scenario.hosts && me, state.gone) : j.wake; // leasing uncalled = a late, repeated or needless wake
    const safe = state.safe && { safe: forgets(state.safe) };
    // A snapshot of entries that are all there saves reading them, and no more.
    const stale = state.snapshot && !j.entries.startsWith(state.snapshot);
    const memory = stale ? { seen: state.snapshot.length, was: state.snapshot } : {};
    if (journal)
      yield (called ? system : world)(
        "leases",
        become({ pc: "read", looked: "", ...memory }, { journal, ...safe }),
      );
    else if (j.wake)
      yield system("takes the wake, but another has the lease", {
        ...state,
        journal: { ...j, wake: false },
      });
    if (!rules.readAfterLease)
      yield world("reads, before it leases", become({ pc: "peeked", seen: length }));
    return;
  }

  /** An outcome that only I know is flushed or replicated before I forget it. */
  const keep = (journal) =>
    ["power", "failover"].includes(scenario.loses) && rules.flushBefore.includes("forget")
      ? { safe: journal }
      : {};

  // A crash forgets everything; a message already sent, but not recorded, stays in the chat.
  const copy = w.pc === "sent" || w.pc === "undo" ? 1 << w.answer : 0;
  yield fault(
    `crashes (${w.pc})`,
    rest({
      stray: state.stray | copy,
      forgot: state.forgot || w.pc === "ran" || (Boolean(scenario.loses) && w.pc === "ran?"),
    }),
  );

  if (w.pc === "peeked") {
    const journal = lease(j, me);
    yield journal
      ? system("leases, keeps its earlier read", become({ pc: "decide" }, { journal }))
      : system("gives up", rest());
    return;
  }

  // Entries a worker jumps over without folding them, as two of the controls do.
  const jump = (to) => {
    const skipped = Array.from({ length: Math.max(0, to - w.seen) }, (_, k) =>
      (w.seen + k).toString(36),
    );
    return { seen: to, blind: w.blind + skipped.join("") };
  };
  if (j.holder !== me && rules.renewChecksToken) {
    if (["read", "decide", "start", "behind"].includes(w.pc))
      yield world("learns from renew that it is replaced", rest());
  } else if (j.expired || j.holder !== me)
    yield world("renews", { ...state, journal: renew(j, me, rules) });
  if (rules.renewMovesAfter && j.holder === me && w.pc === "decide" && w.seen < length)
    yield world("renews, takes `last` as its `after`", become(jump(length)));

  let view = [...(w.was + j.entries.slice(w.was.length)).slice(0, w.seen)];
  for (const k of w.blind) view[parseInt(k, 36)] = ".";
  view = view.join("");

  const write = (entry, repeated, isFact) => {
    const reply = append(j, me, w.seen, entry, rules, { repeated, lost, isFact });
    const wrote = reply.kind === "ok" && reply.journal !== j;
    const refusedFact =
      reply.kind !== "ok" && reply.kind !== "lost" && j.winner === me && FACTS.includes(entry)
        ? `P7 ${KIND[entry]} of the true holder was refused`
        : undefined;
    return {
      ...reply,
      broken: muted(wrote ? brokenAppend(state, me, entry, view, scenario) : refusedFact),
    };
  };
  const decide = (entry, then = {}) => {
    const reply = write(entry);
    const label = `appends ${KIND[entry]}`;
    if (reply.kind === "fenced")
      return { label: `${label}: fenced`, to: rest({ broken: reply.broken }) };
    if (reply.kind === "lost")
      return {
        label: `${label}: the journal is not what it was, reads again`,
        to: become({ ...idle, pc: "read" }),
      };
    if (reply.kind === "unseen")
      return {
        label: `${label}: refused, folds the unseen`,
        to: become({ seen: length, blind: "", looked: "" }),
      };
    if (reply.kind === "late")
      return {
        label: `${label}: past its deadline, posts the timer`,
        to: become({ pc: "read", looked: "" }, { journal: post(j, "t", rules) }),
      };
    const started = entry === "S" && scenario.loses === "restore" ? { begun: state.begun + 1 } : {};
    return {
      label,
      to: become(
        { seen: length + 1, looked: "", ...then },
        { ...started, journal: reply.journal, broken: reply.broken },
      ),
      written: true,
    };
  };
  /** A fact, said by a worker at `pc`; `pc?` once the reply is lost. What was posted meanwhile comes with the reply. */
  function* report(entry, pc, fenced, then = "decide") {
    const reply = write(
      entry,
      w.pc === `${pc}?` &&
        (entry === "F" ? j.entries.includes("F") : j.entries.split("D").length - 1 > w.answer),
    );
    if (reply.kind === "fenced" || reply.kind === "lost") {
      yield fenced(reply.broken);
      return;
    }
    if (reply.kind === "unseen") {
      yield system(
        `appends ${KIND[entry]}: refused, folds the unseen`,
        become({ seen: length }, { broken: reply.broken }),
      );
      return;
    }
    const seen = {
      ...(rules.factReplyShowsUnseen ? {} : jump(length)),
      seen: reply.journal.entries.length,
    };
    const more = { journal: reply.journal, broken: reply.broken };
    const durable = entry === "F" ? keep(reply.journal) : {};
    yield system(`appends ${KIND[entry]}`, become({ ...seen, pc: then }, { ...more, ...durable }));
    if (w.pc === pc)
      yield fault(`appends ${KIND[entry]}, the reply is lost`, become({ pc: `${pc}?` }, more));
  }

  function* leave(reply, at) {
    const anothers = reply.kind === "ok" && ![me, NOBODY, FORGOTTEN].includes(j.winner);
    const broken = muted(anothers ? "P6 a replaced worker released another's lease" : undefined);
    const memory = ["failover", "restore"].includes(scenario.loses)
      ? { seen: w.seen, was: w.was }
      : {}; // it keeps its fold
    if (reply.kind === "fenced") yield system("releases: fenced", rest());
    if (reply.kind === "lost")
      yield system(
        "releases: the journal is not what it was, reads again",
        become({ ...idle, pc: "read" }),
      );
    if (reply.kind === "unseen")
      yield system("releases: refused, folds the unseen", become({ seen: length, blind: "" }));
    if (reply.kind === "ok")
      yield system(`releases, due ${at}`, rest({ journal: reply.journal, broken }, memory));
    if (reply.kind === "ok" && j.holder === me)
      yield fault("releases, the reply is lost", { ...state, journal: reply.journal });
  }

  /** One click: its author's standing is looked up, which may fail any number of times or (judge "away") for ever. */
  function* judge(click) {
    const [vote, word] = [VOTE_ON[click], WORD_ON[click]];
    const say = (kind, why, entry) => {
      const d = decide(entry);
      return kind(`${why}: ${d.label}`, d.to);
    };
    if (scenario.judge !== "away")
      yield say(system, "looked up", state.left.includes(VOTER[click]) ? word : vote);
    const tired = j.entries.indexOf(click) < j.tiredAt;
    const kind = scenario.judge === "away" && tired ? system : fault;
    if (rules.failedLook === "no") yield say(kind, "the look-up fails", word);
    else if (tired)
      yield say(
        kind,
        "the look-up fails for too long",
        vote === "X" && rules.unjudgedDenyCloses ? vote : word,
      );
    else {
      const reply = release(j, me, w.seen, "now", rules);
      if (reply.kind === "ok")
        yield fault("the look-up fails, releases until a retry", rest({ journal: reply.journal }));
    }
  }

  switch (w.pc) {
    case "read":
      // With a fold remembered from an earlier lease it reads only what came after that.
      if (lost && !rules.headOf.includes("lease"))
        yield system(
          "reads what came after",
          become({ pc: "decide", seen: Math.max(length, w.was.length) }),
        );
      else yield system("reads", become({ pc: "decide", seen: length, was: "" }));
      return;

    case "decide": {
      const folded = fold(view, j.lateAt, rules.epoch ? j.epoch : -1, j.early);
      const todo = next(folded, j.lateAt >= 0, scenario, rules);
      const retry = (label) => {
        const reply = release(j, me, w.seen, "now", rules);
        return reply.kind === "ok"
          ? [fault(`${label}, releases until a retry`, rest({ journal: reply.journal }))]
          : [];
      };
      if (scenario.loses && folded.proposed && !state.cards.includes("new") && !lost)
        yield world("shows the card", { ...state, ...barrier("show"), cards: `${state.cards}new` });
      if (
        scenario.loses &&
        !lost &&
        [..."ABCX"].some((vote) => view.includes(vote) && !state.told.includes(vote))
      )
        yield world("shows who voted", {
          ...state,
          ...barrier("show"),
          told: [...view].filter((entry) => "ABCX".includes(entry)).join(""),
        });
      if (scenario.snapshots && !lost && view !== state.snapshot)
        yield world("keeps a snapshot of its fold", { ...state, snapshot: view });
      if (todo.do === "judge") for (const click of todo.clicks) yield* judge(click);
      if (todo.do === "append" && todo.entry === "Q" && scenario.behind) {
        yield system("reads, and folds it before it is written", become({ pc: "behind" }));
        return;
      }
      if (todo.do === "append") {
        const d = decide(todo.entry);
        yield system(d.label, d.to);
      }
      if (todo.do === "expire")
        yield system(
          "posts the timer",
          become({ pc: "read", looked: "" }, { journal: post(j, "t", rules) }),
        );
      if (todo.do === "start" && scenario.judge && j.lateAt >= 0) {
        // no longer worth a look
        yield system(
          "posts the timer",
          become({ pc: "read", looked: "" }, { journal: post(j, "t", rules) }),
        );
        return;
      }
      if (todo.do === "start" && scenario.hosts && me !== 1 && !rules.anyHostRuns) {
        const d = decide("V");
        if (state.gone || !rules.waitsForHost) yield system(`host 1 is gone: ${d.label}`, d.to);
        else
          yield* leave(release(j, me, w.seen, "now", rules, { lost, host: 1 }), "now, for host 1");
        return;
      }
      if (todo.do === "start" && scenario.judge && !w.looked && rules.looksAgain !== "not") {
        const names = [...folded.approvers];
        const looked = become({
          looked: (rules.looksAgain === "first" ? names.slice(0, 1) : names).sort().join(),
        });
        const gone = (rules.looksAgain === "first" ? names.slice(0, 1) : names).some((name) =>
          state.left.includes(name),
        );
        if (scenario.judge !== "away" && gone) {
          const d = decide("V");
          yield system(`looks the approvers up, one is none: ${d.label}`, d.to);
        }
        if (scenario.judge !== "away" && !gone)
          yield system("looks the approvers up again", looked);
        if (rules.failedLook === "yes")
          yield fault(
            "cannot look the approvers up, goes on",
            become({
              looked: names.filter((name) => !state.left.includes(name)).join() || "nobody",
            }),
          );
        else if (rules.failedLook === "no") {
          const d = decide("V");
          yield fault(`cannot look the approvers up: ${d.label}`, d.to);
        } else yield* retry("cannot look the approvers up");
        return;
      }
      if (todo.do === "start" && !rules.writeAhead)
        yield system("RUNS THE EFFECT", become({ pc: "ranFirst" }, { effects: state.effects + 1 }));
      if (todo.do === "start" && rules.writeAhead) {
        const d = decide("S", { pc: "start" });
        yield system(d.label, d.to);
        if (d.written)
          yield fault(
            `${d.label}, the reply is lost`,
            become(
              { pc: "start?" },
              { journal: d.to.journal, begun: d.to.begun, broken: d.to.broken },
            ),
          );
      }
      if (todo.do === "recover" && rules.recover === "rerun")
        yield system("takes the call up again", become({ pc: "start" }));
      if (todo.do === "recover" && rules.recover !== "rerun") {
        const d = decide(rules.recover === "unknown" ? "U" : state.effects ? "F" : "N");
        yield system(d.label, d.to);
      }
      if (todo.do === "send") {
        const already = state.journal.entries.split("D").length - 1 > todo.answer;
        const saw = already ? "an answer sent by a zombie after another's `delivered`" : undefined;
        const complete = rules.deliveredMeansFinal
          ? state.complete | (1 << todo.answer)
          : state.complete;
        const flushed = barrier("show");
        if (!flushed)
          yield system(
            "sends nothing: the journal is not what it was, reads again",
            become({ ...idle, pc: "read" }),
          );
        else
          yield system(
            `sends answer ${todo.answer + 1}`,
            become({ pc: "sent", answer: todo.answer }, { complete, saw, ...flushed }),
          );
        yield* retry("is turned away by the chat");
      }
      if (todo.do === "release") {
        yield* leave(release(j, me, w.seen, todo.at, rules, { lost }), todo.at);
      }
      return;
    }

    case "behind": {
      const reply = write("Q", false, true);
      const again = become({ ...idle, pc: "read" }, { journal: reply.journal ?? j });
      if (!rules.behindWaits) {
        const d = decide("R");
        yield system(`what it read is not written, ${d.label}`, d.to);
      }
      if (reply.kind === "fenced") yield system("writes what it read: fenced", rest());
      else if (reply.kind === "lost")
        yield system("writes what it read: the journal is not what it was, reads again", again);
      else if (length > w.seen && rules.behindBeginsAgain)
        yield system("writes what it read: somebody wrote first, reads again", again);
      else
        yield system(
          "writes what it read",
          become(
            { ...jump(length), pc: "decide", seen: length + 1 },
            { journal: reply.journal, broken: reply.broken },
          ),
        );
      return;
    }

    case "start?":
      if (j.holder === me && j.entries.includes("S") && !lost)
        yield system("repeats tool_started: ok", become({ pc: "start", seen: w.seen + 1 }));
      else if (j.holder === me)
        yield system(
          "repeats tool_started: it is not there, reads again",
          become({ ...idle, pc: "read" }),
        );
      else yield system("repeats tool_started: fenced", rest());
      return;
    case "start": {
      const saw = j.entries.includes("U")
        ? "an effect that began after the journal said unknown"
        : undefined;
      if (rules.effectNeedsLiveLease && (j.holder !== me || j.expired))
        yield system("does not start: its own clock says the lease has run out", rest());
      else {
        const flushed = barrier("effect");
        if (!flushed) yield system("does not start: the journal is not what it was", rest());
        else
          yield system(
            "RUNS THE EFFECT",
            become({ pc: "ran" }, { effects: state.effects + 1, saw, ...flushed }),
          );
      }
      return;
    }
    case "ranFirst": {
      const d = decide("S", { pc: "ran" });
      yield system(d.label, d.to);
      return;
    }
    case "ran":
    case "ran?":
      yield* report("F", "ran", (broken) =>
        rules.lateWord && (w.pc === "ran" || scenario.loses)
          ? system(
              "appends tool_finished: fenced, posts it as a late word",
              rest({ journal: post(j, "l", rules), ...keep(post(j, "l", rules)), broken }),
            )
          : system("appends tool_finished: fenced", rest({ broken })),
      );
      return;
    case "sent":
    case "sent?":
      yield* report(
        "D",
        "sent",
        (broken) =>
          w.pc === "sent"
            ? system("appends delivered: fenced", become({ pc: "undo" }, { broken }))
            : rules.lookBeforeDelete
              ? system("appends delivered: fenced, reads, finds it written", rest({ broken }))
              : system("appends delivered: fenced", become({ pc: "undo?" }, { broken })),
        rules.deliveredMeansFinal ? "decide" : "draft",
      );
      return;
    case "draft":
      yield system(
        "finishes the message it streamed",
        become({ pc: "decide" }, { complete: state.complete | (1 << w.answer) }),
      );
      return;
    case "undo":
      yield system("deletes its copy", rest());
      return;
    case "undo?":
      yield system(
        "deletes its copy, the one on record",
        rest({ lost: state.lost | (1 << w.answer) }),
      );
      return;
  }
}
