/**
 * A grant lets an action run without asking, at most so many times: its uses are a counter, which may be in another partition of
 * the store than the journal whose calls use it. A use is counted, and made to last, before `tool_started` is.
 *
 * One grant of one use, two calls under it, one worker that crashes and goes on. Each partition fails over once, to a replica
 * that is behind; with `oneStream` both do so together, to one moment, as all partitions of one server do.
 */
export const GRANT = {
  barrier: "named", // of the counter: "named" also looks whether the use is still there, "blind" only waits; "none"
  countsFirst: true, // the use is counted, then the call is written down as started
  fencedGivesBack: false, // who does not know whether its `tool_started` was written gives the use back
};

const LIMIT = 1;
const PARTS = ["journal", "counter"];

export function createGrant({ oneStream = false, crashes = 1 }, changes = {}) {
  const rules = { ...GRANT, ...changes };
  const initial = {
    at: ["approved", "approved"], // approved | counted | kept | started | durable | ran | unknown | refused
    journal: "", // the calls that are written down as started
    counter: "", // the calls that use it
    safe: { journal: "", counter: "" },
    lost: [],
    crashes,
    effects: 0,
  };
  const set = (state, i, at, more = {}) => ({ ...state, ...more, at: state.at.with(i, at) });
  const parts = (names, from) => Object.fromEntries(names.map((name) => [name, from[name]]));
  const flushed = (state, name) => {
    const names = oneStream ? PARTS : [name];
    return { ...state, safe: { ...state.safe, ...parts(names, state) } };
  };
  const without = (text, i) => text.replace(String(i), "");

  /** A call's own steps, in their order. */
  function advance(state, i) {
    const at = state.at[i];
    const start = () => {
      const journal = state.journal + i;
      return [`tool_started`, set(state, i, rules.countsFirst ? "started" : "counts", { journal })];
    };
    if (at === (rules.countsFirst ? "approved" : "counts")) {
      if (state.counter.length >= LIMIT) return ["the grant is used up", set(state, i, "refused")];
      return ["a use is counted", set(state, i, "counted", { counter: state.counter + i })];
    }
    if (at === "approved") return start();
    if (at === "counted") {
      const after = rules.countsFirst ? "kept" : "started";
      if (rules.barrier === "none") return ["goes on", set(state, i, after)];
      if (rules.barrier === "named" && !state.counter.includes(i))
        return ["its use is not there any more", set(state, i, "approved")];
      return ["the use is made to last", set(flushed(state, "counter"), i, after)];
    }
    if (at === "kept") return start();
    if (at === "started")
      return state.journal.includes(i)
        ? ["tool_started is made to last", set(flushed(state, "journal"), i, "durable")]
        : ["its tool_started is not there any more", set(state, i, "approved")];
    if (at === "durable") return ["RUNS", set(state, i, "ran", { effects: state.effects + 1 })];
    return undefined;
  }

  return {
    initial,
    *steps({ broken, ...state }) {
      const step = (kind, label, to) => ({ kind, label, to });
      for (const i of state.at.keys()) {
        const [label, to] = advance(state, i) ?? [];
        if (to) yield step("system", `call ${i}: ${label}`, to);
        if (label === "tool_started" && rules.fencedGivesBack)
          yield step("fault", `call ${i}: ${label}, the reply is lost; the use is given back`, {
            ...to,
            counter: without(to.counter, i),
          });
      }
      if (state.crashes)
        yield step("fault", "the worker crashes, another goes on", {
          ...state,
          crashes: state.crashes - 1,
          at: state.at.map((at, i) =>
            state.journal.includes(i) ? "unknown" : at === "refused" ? at : "approved",
          ),
        });
      for (const names of oneStream ? [PARTS] : PARTS.map((name) => [name])) {
        if (names.some((name) => state.lost.includes(name))) continue;
        const what = names.join(" and the ");
        const now = { ...state.safe, ...parts(names, state) };
        yield step("fault", `FAILOVER of the ${what}`, {
          ...state,
          ...parts(names, state.safe),
          lost: [...state.lost, ...names].sort(),
        });
        yield step("world", `the replica of the ${what} catches up`, { ...state, safe: now });
      }
    },
    key: (state) => JSON.stringify(state),
    broken: ({ effects }) =>
      effects > LIMIT ? "G1 a grant was used more often than it says" : undefined,
    unsettled: ({ at }) =>
      at.every((where) => ["ran", "unknown", "refused"].includes(where))
        ? undefined
        : "G2 at rest with an approved call that was neither run nor refused",
    witness: () => [],
  };
}
