/**
 * Two runs of one thread: while a card is open, a message starts a side run that may only read.
 *
 * The lease holder is one actor here (`protocol-model.mjs` shows that decisions see everything posted before them); what goes on
 * side by side are its two requests to the model. A crash or a lost lease forgets both.
 */
export const SIDE_RUN = {
  readerBy: "run", // "run": whoever began as a side run only reads to its end; "card": only as long as a card is open
  joins: "place", // a message belongs to the run that its place in the journal says; "both": also to the first run
  handOver: true, // what needed a write belongs to the first run, once its card is decided
  orphanStarts: true, // … and starts a run of its own if the first run has ended meanwhile
  stop: "all", // a Stop that names no run: "all" runs and the card; "side": only the side run
  stopNames: true, // a Stop button on the side run's message stops that run and leaves the card
  sideHolds: false, // dispatch waits until the side run has ended
  wholeExchanges: true, // the first run's next request holds the side exchanges that ended before it, and no half of one
};
const NAMES = {
  m: "message 1",
  n: "message 2",
  o: "message 3",
  a: "approve, judged at once",
  d: "deny",
  s: "Stop",
  v: "Stop on the side run's message",
  P: "action_proposed",
  S: "tool_started",
  F: "tool_finished",
  C: "action_closed",
  r: "run_started (side)",
  W: "a write of the side run's: waits for the card",
  Y: "A WRITE BY THE SIDE RUN",
  Q: "the side run's answer",
  X: "run_ended (side run, stopped)",
  R: "the first run's answer",
  T: "run_started (for what was handed over)",
};

/** Which run each message belongs to, and where both stand. `to`: messages not answered yet, by run. */
function fold(entries, rules) {
  const f = {
    card: "none",
    side: false,
    stopped: false,
    first: false,
    approved: false,
    to: { first: "", side: "", wait: "" },
    twice: "",
    exchange: 0,
    began: -1,
  };
  for (const [i, entry] of [...entries].entries()) {
    const open = f.card === "open";
    if ("mno".includes(entry)) {
      const run = open || f.side ? "side" : "first";
      if (open) f.to.side += entry;
      else f.to.first += entry; // a message that comes after the card belongs to the first run, also while a side run is open
      if (rules.joins === "both" && open) f.to.first += entry;
      if (run === "first") f.first = true;
    } else if (entry === "P") f.card = "open";
    else if (entry === "a") f.approved = true;
    else if (entry === "d" && open) f.card = "closed";
    else if (entry === "s") {
      if ((open || f.card === "none") && rules.stop === "all") f.card = "closed";
      if (f.side) f.stopped = true;
    } else if (entry === "v") {
      if (f.side) f.stopped = true;
      if (open && !rules.stopNames) f.card = "closed";
    } else if (entry === "S") f.card = "started";
    else if (entry === "F") f.card = "done";
    else if (entry === "r") {
      f.side = true;
      f.stopped = false;
      f.began = i;
    } else if (entry === "W") {
      if (rules.handOver) f.to.wait += f.to.side;
      else f.twice += f.to.side;
      f.to.side = "";
    } else if (entry === "Q" || entry === "X") {
      f.side = false;
      f.twice += f.to.side;
      f.to.side = "";
      f.exchange = i;
    } else if (entry === "R") {
      f.twice += f.to.first;
      f.to.first = "";
      f.first = false;
    } else if (entry === "T") f.first = true;
    if ("dsvSF".includes(entry) && f.card !== "open" && f.card !== "none") {
      f.to.first += f.to.wait;
      f.to.wait = "";
    } // handed over
    if (entry === "W" && f.card !== "open") {
      f.to.first += f.to.wait;
      f.to.wait = "";
    }
  }
  return f;
}

export function createSideRun({ posts = "mnad", hangs = false, crashes = 1 }, changes = {}) {
  const rules = { ...SIDE_RUN, ...changes };
  return {
    initial: { e: "", side: -1, first: -1, crashes, broken: undefined },
    *steps({ broken, ...state }) {
      const { e } = state;
      const f = fold(e, rules);
      const step = (kind, label, to) => ({ kind, label, to: { ...state, ...to } });
      const write = (entry, to = {}) => {
        const fails =
          entry === "Y"
            ? "D1 a run that began as a reader wrote"
            : entry === "S" && [..."ds"].some((post) => e.includes(post))
              ? "D2 tool_started after a deny or Stop was posted"
              : entry === "Q" && f.stopped
                ? "D5 a run that was stopped answered"
                : entry === "R" && [...f.to.first].some((message) => f.twice.includes(message))
                  ? "D3 one message was answered by two runs"
                  : undefined;
        return step("system", `appends ${NAMES[entry]}`, { e: e + entry, ...to, broken: fails });
      };
      for (const entry of posts) {
        const early =
          entry !== "m" &&
          (entry === "v" ? !f.side : "ad".includes(entry) ? !e.includes("P") : !e.includes("m"));
        if (!e.includes(entry) && !early)
          yield step("world", `post: ${NAMES[entry]}`, { e: e + entry });
      }
      if (f.card === "open" && !e.includes("a") && !e.includes("d"))
        yield step("system", "the expiry closes the card", { e: `${e}d` });
      if (state.crashes && (state.side >= 0 || state.first >= 0))
        yield step("fault", "crashes, both requests are lost", {
          side: -1,
          first: -1,
          crashes: state.crashes - 1,
        });

      // The first run: proposes, dispatches, thinks, answers. Its request comes after the card's result, never between call and result.
      const due = f.card === "open" && f.approved && !(rules.sideHolds && f.side);
      if (f.to.first && f.card === "none") yield write("P");
      else if (due) yield write("S");
      else if (f.card === "started") yield write("F");
      else if (f.to.first && !f.first && rules.orphanStarts) yield write("T");
      else if (f.first && f.to.first && f.card !== "open" && state.first < 0)
        yield step("system", "the first run asks the model", { first: e.length });
      if (state.first >= 0) {
        const later = fold(e.slice(0, state.first), rules).to.first !== f.to.first; // a message that the request did not hold
        if (later)
          yield step("system", "the first run has unseen messages, asks again", { first: -1 });
        else {
          const half =
            f.began >= 0 && f.began < state.first && f.exchange < f.began && !rules.wholeExchanges;
          const to = write("R", { first: -1 });
          yield half
            ? {
                ...to,
                to: {
                  ...to.to,
                  broken: "D4 the first run was shown half an exchange of the side run",
                },
              }
            : to;
        }
      }

      // The side run: one at a time; reads; answers or hands over.
      if (f.to.side && !f.side && f.card === "open") yield write("r");
      else if (f.to.side && !f.side) yield write("r"); // posted while the card was open, taken up after
      if (f.side && f.stopped) yield write("X", { side: -1 });
      else if (f.side && state.side < 0)
        yield step("system", "the side run asks the model", { side: e.length });
      else if (f.side && !hangs) {
        const later = fold(e.slice(0, state.side), rules).to.side.length < f.to.side.length;
        if (later)
          yield step("system", "the side run has unseen messages, asks again", { side: -1 });
        else {
          yield write("Q", { side: -1 });
          const wishes = f.to.side && e.length - 1 !== e.lastIndexOf("W");
          if (wishes) yield write(rules.readerBy === "run" || f.card === "open" ? "W" : "Y", {});
        }
      }
    },
    key: ({ e, side, first, crashes: left }) => `${e}|${side}|${first}|${left}`,
    broken: () => undefined,
    unsettled({ e, side }) {
      const f = fold(e, rules);
      if (f.card === "open") return "D6 at rest with a card that was decided";
      if (f.to.first || f.to.wait || (!hangs && f.to.side))
        return "D3 at rest with a message that no run answered";
      const orphan = [...e].some((entry, i) => entry === "W" && !/[R]/.test(e.slice(i)));
      if (orphan) return "D3 at rest, and what waited for the card is forgotten";
      if (
        e.includes("v") &&
        /v.*d/.test(e) === false &&
        !e.includes("S") &&
        e.includes("a") &&
        !e.includes("s") &&
        !e.includes("d")
      )
        return "D5 a Stop for the side run took the card with it";
      return side >= 0 && !hangs ? "D6 at rest with a side run open" : undefined;
    },
    witness: () => [],
  };
}
