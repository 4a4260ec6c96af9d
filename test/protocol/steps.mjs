/** Everything that can happen next: the world around, and each worker. */
import {
  append,
  FACTS,
  FORGOTTEN,
  isDue,
  KIND,
  lease,
  leaseEnds,
  NOBODY,
  post,
  release,
  renew,
} from "./journal.mjs";
import { next } from "./fold.mjs";
import { brokenAppend } from "./properties.mjs";

export const idle = { pc: "idle", seen: 0, answer: 0, blind: "" };

/** Posts (each id at most once, or repeated in a control), the store's clock, and what the queue does to a wake. */
export function* worldSteps(state, { scenario, rules }) {
  const j = state.journal;
  const has = (entry) => j.entries.includes(entry);
  const to = (changes) => ({ ...state, journal: { ...j, ...changes } });
  for (const entry of scenario.posts) {
    const again =
      has(entry) && (rules.postIdempotent || entry !== "m" || j.entries.split("m").length > 2);
    const tooEarly =
      entry === "t"
        ? j.lateAt < 0
        : "acbd".includes(entry)
          ? !has("P")
          : entry !== "m" && !has("m");
    if (!again && !tooEarly)
      yield {
        label: `post: ${KIND[entry]}`,
        kind: "world",
        to: { ...state, journal: post(j, entry, rules) },
      };
  }
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
  const step = (kind) => (label, to) => ({ label: `W${me} ${label}`, kind, to });
  const [system, world, fault] = ["system", "world", "fault"].map(step);
  const become = (changes, more = {}) => ({
    ...state,
    ...more,
    workers: state.workers.with(i, { ...w, ...changes }),
  });
  const rest = (more = {}) => {
    const journal = more.journal ?? j;
    const left =
      journal.holder === me ? { ...journal, holder: FORGOTTEN, winner: FORGOTTEN } : journal;
    return { ...state, ...more, journal: left, workers: state.workers.with(i, idle) };
  };

  if (w.pc === "idle") {
    const journal = lease(j, me);
    const called = rules.sweeper ? isDue(j) : j.wake; // leasing uncalled = a late, repeated or needless wake
    if (journal)
      yield (called ? system : world)("leases", become({ ...idle, pc: "read" }, { journal }));
    else if (j.wake)
      yield system("takes the wake, but another has the lease", {
        ...state,
        journal: { ...j, wake: false },
      });
    if (!rules.readAfterLease)
      yield world("reads, before it leases", become({ pc: "peeked", seen: length }));
    return;
  }

  // A crash forgets everything; a message already sent, but not recorded, stays in the chat.
  const copy = w.pc === "sent" || w.pc === "undo" ? 1 << w.answer : 0;
  yield fault(
    `crashes (${w.pc})`,
    rest({ stray: state.stray | copy, forgot: state.forgot || w.pc === "ran" }),
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
    if (["read", "decide", "start"].includes(w.pc))
      yield world("learns from renew that it is replaced", rest());
  } else if (j.expired || j.holder !== me)
    yield world("renews", { ...state, journal: renew(j, me, rules) });
  if (rules.renewMovesAfter && j.holder === me && w.pc === "decide" && w.seen < length)
    yield world("renews, takes `last` as its `after`", become(jump(length)));

  let view = [...j.entries.slice(0, w.seen)];
  for (const k of w.blind) view[parseInt(k, 36)] = ".";
  view = view.join("");

  const write = (entry, repeated) => {
    const reply = append(j, me, w.seen, entry, rules, repeated);
    const wrote = reply.kind === "ok" && reply.journal !== j;
    const refusedFact =
      reply.kind !== "ok" && j.winner === me && FACTS.includes(entry)
        ? `P7 ${KIND[entry]} of the true holder was refused`
        : undefined;
    return {
      ...reply,
      broken: muted(wrote ? brokenAppend(j, me, entry, view, scenario) : refusedFact),
    };
  };
  const decide = (entry, then = {}) => {
    const reply = write(entry);
    const label = `appends ${KIND[entry]}`;
    if (reply.kind === "fenced")
      return { label: `${label}: fenced`, to: rest({ broken: reply.broken }) };
    if (reply.kind === "unseen")
      return {
        label: `${label}: refused, folds the unseen`,
        to: become({ seen: length, blind: "" }),
      };
    if (reply.kind === "late")
      return {
        label: `${label}: past its deadline, posts the timer`,
        to: become({ pc: "read" }, { journal: post(j, "t", rules) }),
      };
    return {
      label,
      to: become({ seen: length + 1, ...then }, { journal: reply.journal, broken: reply.broken }),
      written: true,
    };
  };
  /** A fact, said by a worker at `pc`; `pc?` once the reply is lost. What was posted meanwhile comes with the reply. */
  function* report(entry, pc, fenced, then = "decide") {
    const reply = write(entry, w.pc === `${pc}?`);
    if (reply.kind === "fenced") {
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
    yield system(`appends ${KIND[entry]}`, become({ ...seen, pc: then }, more));
    if (w.pc === pc)
      yield fault(`appends ${KIND[entry]}, the reply is lost`, become({ pc: `${pc}?` }, more));
  }

  switch (w.pc) {
    case "read":
      yield system("reads", become({ pc: "decide", seen: length }));
      return;

    case "decide": {
      const todo = next(fold(view, j.lateAt), j.lateAt >= 0, scenario, rules);
      if (todo.do === "append") {
        const d = decide(todo.entry);
        yield system(d.label, d.to);
      }
      if (todo.do === "expire")
        yield system("posts the timer", become({ pc: "read" }, { journal: post(j, "t", rules) }));
      if (todo.do === "start" && !rules.writeAhead)
        yield system("RUNS THE EFFECT", become({ pc: "ranFirst" }, { effects: state.effects + 1 }));
      if (todo.do === "start" && rules.writeAhead) {
        const d = decide("S", { pc: "start" });
        yield system(d.label, d.to);
        if (d.written)
          yield fault(
            `${d.label}, the reply is lost`,
            become({ pc: "start?" }, { journal: d.to.journal, broken: d.to.broken }),
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
        yield system(
          `sends answer ${todo.answer + 1}`,
          become({ pc: "sent", answer: todo.answer }, { complete, saw }),
        );
        const reply = release(j, me, w.seen, "now", rules);
        if (reply.kind === "ok")
          yield fault(
            "is turned away by the chat, releases until a retry",
            rest({ journal: reply.journal }),
          );
      }
      if (todo.do === "release") {
        const reply = release(j, me, w.seen, todo.at, rules);
        const anothers = reply.kind === "ok" && ![me, NOBODY, FORGOTTEN].includes(j.winner);
        const broken = muted(
          anothers ? "P6 a replaced worker released another's lease" : undefined,
        );
        if (reply.kind === "fenced") yield system("releases: fenced", rest());
        if (reply.kind === "unseen")
          yield system("releases: refused, folds the unseen", become({ seen: length, blind: "" }));
        if (reply.kind === "ok")
          yield system(`releases, due ${todo.at}`, rest({ journal: reply.journal, broken }));
        if (reply.kind === "ok" && j.holder === me)
          yield fault("releases, the reply is lost", { ...state, journal: reply.journal });
      }
      return;
    }

    case "start?":
      yield j.holder === me
        ? system("repeats tool_started: ok", become({ pc: "start" }))
        : system("repeats tool_started: fenced", rest());
      return;
    case "start": {
      const saw = j.entries.includes("U")
        ? "an effect that began after the journal said unknown"
        : undefined;
      if (rules.effectNeedsLiveLease && (j.holder !== me || j.expired))
        yield system("does not start: its own clock says the lease has run out", rest());
      else
        yield system("RUNS THE EFFECT", become({ pc: "ran" }, { effects: state.effects + 1, saw }));
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
        rules.lateWord && w.pc === "ran"
          ? system(
              "appends tool_finished: fenced, posts it as a late word",
              rest({ journal: post(j, "l", rules), broken }),
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
