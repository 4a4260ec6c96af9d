/**
 * Taking back what was done: any number of people press Undo, two workers share the journal, one of them may be a zombie.
 *
 * One action is done and its reverse is known. Entries are letters: `p` a press, `B` a run begins that takes the action back (and
 * answers the oldest press), `w` a word to who pressed instead, `a` and `n` a person approves or denies its card, `S` started,
 * `F` done, `U` unknown, `D` denied, `R` refused by the look at the world.
 */
export const UNDO = {
  onceByFold: true, // a press begins a run only if none is open, done or unknown
  freesWhenOff: true, // one that came to nothing lets the next press begin again
  unknownFrees: false, // so does one whose outcome nobody knows
  appendChecksToken: true,
  looks: true, // before it starts, the world has to be as the action left it
};

const count = (entries, letter) => entries.split(letter).length - 1;

function foldOf(entries) {
  const begun = entries.lastIndexOf("B");
  const run = begun < 0 ? "" : entries.slice(begun);
  return {
    presses: count(entries, "p") - count(entries, "B") - count(entries, "w"),
    isOff: /[DR]/.test(run),
    isUnknown: run.includes("U"),
    hasRun: begun >= 0,
    isOpen: begun >= 0 && !/[DRFU]/.test(run),
    isStarted: run.includes("S"),
    isApproved: run.includes("a"),
    isDenied: run.includes("n"),
  };
}

export function createUndo({ presses = 2, crashes = 1, moves = false }, changes = {}) {
  const rules = { ...UNDO, ...changes };
  const idle = { token: 0, seen: 0, at: "idle", saw: "" };
  const initial = {
    entries: "",
    token: 0,
    world: "left", // left (by the action) | back | other
    effects: 0,
    crashes,
    moved: !moves,
    workers: [idle, idle],
    broken: undefined,
    saw: undefined,
  };
  const withWorker = (state, i, worker) => ({ ...state, workers: state.workers.with(i, worker) });

  function isFree({ hasRun, isOff, isUnknown }) {
    if (!rules.onceByFold || !hasRun) return true;
    return (isOff && rules.freesWhenOff) || (isUnknown && rules.unknownFrees);
  }

  /** What the holder writes next from what it has read; undefined: nothing now. */
  function nextOf(f, worker) {
    if (f.isOpen && f.isStarted) return worker.at === "idle" ? "U" : undefined;
    if (f.presses > 0) return isFree(f) ? "B" : "w";
    if (f.isOpen && f.isDenied) return "D";
    if (f.isOpen && f.isApproved)
      return worker.at === "looked" ? (worker.saw === "left" ? "S" : "R") : "look";
    return undefined;
  }

  function brokenBy(state, letter, worker, f) {
    if (letter === "S" && worker.saw !== "left") return "U4 it starts on a world that has moved on";
    if (letter === "w" && f.isOff && !f.isOpen)
      return "U3 what came to nothing cannot be asked for again";
    return state.broken;
  }

  /** A decision: token and everything so far. */
  function append(state, i, letter, at) {
    const worker = state.workers[i];
    if (rules.appendChecksToken && worker.token !== state.token)
      return withWorker(state, i, { ...idle });
    if (rules.appendChecksToken && worker.seen !== state.entries.length)
      return withWorker(state, i, { ...worker, seen: state.entries.length, at: "idle", saw: "" });
    const broken = brokenBy(state, letter, worker, foldOf(state.entries));
    const entries = state.entries + letter;
    const next = { ...worker, seen: entries.length, at, saw: at === "idle" ? "" : worker.saw };
    return { ...withWorker(state, i, next), entries, broken };
  }

  return {
    initial,
    *steps({ broken: _, saw: __, ...given }) {
      const state = { ...given, broken: undefined, saw: undefined };
      const { entries, workers, world } = state;
      const step = (kind, label, to) => ({ kind, label, to });
      const f = foldOf(entries);
      const post = (letter) => ({ ...state, entries: entries + letter });
      if (count(entries, "p") < presses)
        yield step("world", "post: somebody presses Undo", post("p"));
      if (f.isOpen && !f.isStarted && !f.isApproved)
        yield step("world", "post: its card is approved", post("a"));
      if (f.isOpen && !f.isStarted && !f.isDenied)
        yield step("world", "post: its card is denied", post("n"));
      if (!state.moved)
        yield step("world", "somebody else changes the world", {
          ...state,
          world: "other",
          moved: true,
        });
      for (const [i, worker] of workers.entries()) {
        const holds = worker.token !== 0 && worker.token === state.token;
        const owed = f.presses > 0 || (f.isOpen && (f.isStarted || f.isApproved || f.isDenied));
        // The one before may be alive: then it is a zombie.
        const isDue = workers.every((each) => each.token !== state.token || each.token === 0);
        if (!holds && worker.at === "idle" && (state.token < 3 || isDue) && owed) {
          const token = state.token + 1;
          const next = { ...worker, token, seen: entries.length };
          yield step(isDue ? "system" : "fault", `worker ${i} leases`, {
            ...withWorker(state, i, next),
            token,
          });
        }
        if (state.crashes > 0 && worker.token !== 0)
          yield step("fault", `worker ${i} crashes (${worker.at})`, {
            ...withWorker(state, i, { ...idle }),
            crashes: state.crashes - 1,
          });
        if (worker.token === 0) continue;
        if (worker.at === "started") {
          const next = { ...worker, at: "acted" };
          const effects = state.effects + 1;
          yield step("system", `WORKER ${i} TAKES IT BACK`, {
            ...withWorker(state, i, next),
            world: "back",
            effects,
            broken: effects > 1 ? "U1 it is taken back twice" : undefined,
            saw: entries.endsWith("U")
              ? "it is taken back after the journal said unknown"
              : undefined,
          });
          continue;
        }
        if (worker.at === "acted") {
          // A fact needs the token alone; without it the outcome is a late word, which is no part of this.
          const isWritten = holds && f.isOpen && f.isStarted;
          const to = isWritten ? { ...state, entries: `${entries}F` } : state;
          const seen = isWritten ? entries.length + 1 : worker.seen;
          const next = isWritten ? { ...worker, seen, at: "idle", saw: "" } : { ...idle };
          yield step("system", `worker ${i} says how it ended`, withWorker(to, i, next));
          continue;
        }
        const read = foldOf(entries.slice(0, worker.seen));
        const todo = nextOf(read, worker);
        if (todo === "look") {
          const saw = rules.looks ? world : "unseen";
          const next = { ...worker, at: "looked", saw: rules.looks ? saw : "left" };
          yield step("system", `worker ${i} looks at the world`, withWorker(state, i, next));
        } else if (todo !== undefined) {
          const to = append(state, i, todo, todo === "S" ? "started" : "idle");
          const blind = todo === "S" && !rules.looks && world !== "left";
          const broken = blind ? "U4 it starts on a world that has moved on" : to.broken;
          yield step("system", `worker ${i} writes ${todo}`, { ...to, broken });
        } else if (worker.seen < entries.length) {
          yield step(
            "system",
            `worker ${i} reads on`,
            withWorker(state, i, { ...worker, seen: entries.length }),
          );
        } else if (holds) {
          yield step("system", `worker ${i} releases`, withWorker(state, i, { ...idle }));
        } else {
          yield step(
            "system",
            `worker ${i} sees that it is fenced`,
            withWorker(state, i, { ...idle }),
          );
        }
      }
    },
    key: ({ entries, token, world, effects, crashes: left, moved, workers }) =>
      JSON.stringify([entries, token, world, effects, left, moved, workers]),
    broken: ({ entries }) =>
      count(entries, "B") + count(entries, "w") > count(entries, "p")
        ? "U2 a press is answered twice"
        : undefined,
    unsettled({ entries }) {
      const f = foldOf(entries);
      if (f.presses > 0) return "U2 a press is never answered";
      if (f.isOpen && (f.isStarted || f.isDenied || f.isApproved))
        return "U5 what was decided on is left undone";
      return undefined;
    },
    witness: () => [],
  };
}
