/**
 * Guilty or bystander: which thread's step kills its process, and which were only in the same process when it died.
 *
 * Threads 0, 1, …; `poisoned` ones have a step that always kills its process, the others a step that ends. Shared processes serve
 * several threads at once; the sick bay runs one suspect at a time in a child of a process that looks on.
 * Only repeatable steps come here: a write that was started is never repeated, its outcome is unknown.
 */
export const PARKING = {
  countLostLeases: false, // a lost lease counts like a death
  everyoneGuilty: false, // whoever was in a process that died is counted, without a sick bay
  markBefore: true, // `doing` is written before the step, not with the next renewal of the lease
  suspects: "all", // of a dead process's threads ("all"; "marked"; "marked or all": all if none has a mark); a mark only says who is tried first
  clearAfter: true, // the mark goes when the step has ended
  parentSees: true, // a death in the sick bay counts only if the process that looks on outlived it
  postForgets: false, // a post takes the verdict back
  restsStep: true, // the verdict stands for that step: the rest of the thread goes on
  convictAfter: 2, // deaths alone
};

const LIMIT = 3; // a count above it is a process that dies again and again for the same thread

export function createParking(
  { threads = 3, poisoned = [0], unmarked = false, faults = 2, childKills = 1 },
  changes = {},
) {
  const rules = { ...PARKING, ...changes };
  const bad = (i) => poisoned.includes(i);
  const each = (f) => Array.from({ length: threads }, (_, i) => f(i));
  const initial = {
    at: each(() => "ready"), // ready | runs (in the shared process) | ill (suspect) | bay (in the child) | done | parked
    mark: each(() => false),
    alone: each(() => 0),
    deaths: each(() => 0),
    rest: each(() => false),
    posts: faults,
    faults,
    childKills,
    broken: undefined,
  };
  const set = (state, i, at, more = {}) => ({ ...state, ...more, at: state.at.with(i, at) });
  const convict = (state, i) => {
    const broken = bad(i) ? undefined : "K1 a bystander is set aside";
    return {
      ...set(state, i, "parked"),
      mark: state.mark.with(i, false),
      broken: state.broken ?? broken,
    };
  };

  /** The shared process dies; its threads are suspects or, without a mark, go on. */
  function dies(state, killer) {
    const inside = state.at.flatMap((at, i) => (at === "runs" ? [i] : []));
    const marked = inside.filter((i) => state.mark[i]);
    const suspects =
      rules.suspects === "all" || (rules.suspects === "marked or all" && !marked.length)
        ? inside
        : marked;
    let to = { ...state };
    for (const i of inside)
      to = set(to, i, suspects.includes(i) ? "ill" : "ready", { mark: to.mark.with(i, false) });
    if (killer >= 0) {
      const deaths = to.deaths.with(killer, to.deaths[killer] + 1);
      to = {
        ...to,
        deaths,
        broken: deaths[killer] > LIMIT ? "K2 one thread kills process after process" : undefined,
      };
    }
    if (rules.everyoneGuilty)
      for (const i of inside) {
        to = { ...set(to, i, "ready"), alone: to.alone.with(i, to.alone[i] + 1) };
        if (to.alone[i] >= rules.convictAfter) to = convict(to, i);
      }
    return to;
  }

  return {
    initial,
    *steps({ broken, ...state }) {
      const step = (kind, label, to) => ({ kind, label, to });
      for (const i of state.at.keys()) {
        const at = state.at[i];
        const marks = rules.markBefore && !(unmarked && bad(i)); // some steps nobody thought of marking
        if (at === "ready")
          yield step(
            "system",
            `thread ${i} begins its step`,
            set(state, i, "runs", { mark: state.mark.with(i, marks) }),
          );
        if (at === "runs") {
          if (!rules.markBefore && !state.mark[i])
            yield step("world", `thread ${i} renews, its mark is written`, {
              ...state,
              mark: state.mark.with(i, true),
            });
          if (bad(i)) yield step("system", `THREAD ${i} KILLS ITS PROCESS`, dies(state, i));
          else
            yield step(
              "system",
              `thread ${i} ends its step`,
              set(state, i, "done", { mark: state.mark.with(i, !rules.clearAfter) }),
            );
          if (state.faults) {
            const less = { ...state, faults: state.faults - 1 };
            const again = {
              ...set(less, i, "ready"),
              mark: state.mark.with(i, false),
              alone: rules.countLostLeases ? state.alone.with(i, state.alone[i] + 1) : state.alone,
            };
            yield step(
              "fault",
              `thread ${i} loses its lease in a stall`,
              again.alone[i] >= rules.convictAfter ? convict(again, i) : again,
            );
          }
        }
        const free = !state.at.includes("bay");
        if (at === "bay" && state.childKills) {
          const killed = {
            ...set(state, i, "ill", { childKills: state.childKills - 1 }),
            alone: state.alone.with(i, state.alone[i] + 1),
          };
          yield step(
            "fault",
            `something else kills the child of thread ${i}`,
            killed.alone[i] >= rules.convictAfter ? convict(killed, i) : killed,
          );
        }
        if (at === "ill" && free)
          yield step("system", `thread ${i} goes to the sick bay`, set(state, i, "bay"));
        if (at === "bay") {
          if (bad(i)) {
            const deaths = state.deaths.with(i, state.deaths[i] + 1);
            const died = {
              ...set(state, i, "ill"),
              alone: state.alone.with(i, state.alone[i] + 1),
              deaths,
              broken: deaths[i] > LIMIT ? "K2 one thread kills process after process" : undefined,
            };
            yield step(
              "system",
              `thread ${i} kills the child`,
              died.alone[i] >= rules.convictAfter ? convict(died, i) : died,
            );
          } else
            yield step(
              "system",
              `thread ${i} ends its step in the child: acquitted`,
              set(state, i, "done", { alone: state.alone.with(i, 0) }),
            );
        }
        if (at === "parked" && rules.postForgets && state.posts)
          yield step("world", `a post in thread ${i} takes the verdict back`, {
            ...set(state, i, "ready"),
            posts: state.posts - 1,
            alone: state.alone.with(i, 0),
          });
        if (at === "parked" && rules.restsStep && !state.rest[i])
          yield step("system", `the rest of thread ${i} goes on, people are told`, {
            ...state,
            rest: state.rest.with(i, true),
          });
      }
      if (!state.faults) return;
      const less = { ...state, faults: state.faults - 1 };
      // A deploy, the kernel or the power ends everything: the shared process, the child and who looks on.
      const child = state.at.indexOf("bay");
      let to = dies(less, -1);
      if (child >= 0) {
        to = set(
          to,
          child,
          "ill",
          rules.parentSees ? {} : { alone: to.alone.with(child, to.alone[child] + 1) },
        );
        if (to.alone[child] >= rules.convictAfter) to = convict(to, child);
      }
      if (state.at.some((at) => at === "runs" || at === "bay"))
        yield step("fault", "the machine goes down, everything with it", to);
    },
    key: (state) =>
      JSON.stringify([
        state.at,
        state.mark,
        state.alone,
        state.deaths,
        state.rest,
        state.posts,
        state.faults,
        state.childKills,
      ]),
    broken: ({ at, mark }) =>
      at.some((where, i) => where === "done" && mark[i]) && rules.clearAfter
        ? "K1 an ended step is still marked"
        : undefined,
    unsettled({ at, rest }) {
      for (const [i, where] of at.entries()) {
        if (bad(i) && where !== "parked") return "K2 a step that kills is never set aside";
        if (!bad(i) && where !== "done") return "K3 a bystander's work is not done";
        if (bad(i) && !rest[i])
          return "K4 the rest of the thread does not go on, or nobody was told";
      }
      return undefined;
    },
    witness: () => [],
  };
}
