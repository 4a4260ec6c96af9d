/**
 * Visits every state a model can reach, breadth first, so the trace to a violation is a shortest one.
 *
 * `model.steps(state)` lists what can happen next: `{ label, kind, to }`, kind one of
 *   "system"  what the product does by itself when nothing goes wrong (worker steps, sweeper, clock)
 *   "world"   what others may do or not do (posts, a repeated or needless wake)
 *   "fault"   what must be survived (crash, pause past the lease, lost reply, refused delivery)
 *
 * Safety: no step may lead to a state with `broken` set, and `model.broken(state)` finds nothing in any state.
 * Liveness: let faults and posts stop in any state; from there the system steps must be finite (no cycle among them) and
 * end where `model.unsettled` finds nothing. That asks more than fairness: every order of the steps gets there.
 */
export function explore(model, { maxStates = 16_000_000 } = {}) {
  const indexOf = new Map();
  const parent = [];
  const arrivedBy = [];
  const queue = [];
  const edges = { first: [], to: [], label: [] }; // system steps only, compressed rows
  const witnesses = new Map();
  let [steps, ends, violation] = [0, 0, undefined];

  const trace = (index) => {
    const labels = [];
    for (let at = index; at > 0; at = parent[at]) labels.push(arrivedBy[at]);
    return labels.reverse();
  };
  const arrive = (state, from, label) => {
    if (state.broken) violation ??= { what: state.broken, trace: [...trace(from), label] };
    if (state.saw && !witnesses.has(state.saw)) witnesses.set(state.saw, [...trace(from), label]);
    const key = model.key(state);
    const known = indexOf.get(key);
    if (known !== undefined) return known;
    const index = parent.length;
    indexOf.set(key, index);
    parent.push(from);
    arrivedBy.push(label);
    queue.push(state);
    const what = model.broken(state);
    if (what) violation ??= { what, trace: trace(index) };
    for (const name of model.witness(state))
      if (!witnesses.has(name)) witnesses.set(name, trace(index));
    return index;
  };

  arrive(model.initial, 0, "");
  for (let at = 0; at < queue.length && !violation; at++) {
    const state = queue[at];
    queue[at] = undefined;
    edges.first.push(edges.to.length);
    for (const step of model.steps(state)) {
      steps++;
      const to = arrive(step.to, at, step.label);
      if (violation) break;
      if (step.kind === "system") {
        edges.to.push(to);
        edges.label.push(step.label);
      }
    }
    if (!violation && edges.first[at] === edges.to.length) {
      ends++;
      const what = model.unsettled(state);
      if (what) violation = { what, trace: [...trace(at), "… and nothing more happens"] };
    }
    if (parent.length > maxStates) throw new Error(`more than ${maxStates} states`);
  }
  edges.first.push(edges.to.length);
  const round = violation ? undefined : findCycle(edges);
  if (round) {
    const what = "P3 without any further fault or post, the system goes round for ever";
    violation = { what, trace: [...trace(round.start), "… and round:", ...round.labels] };
  }
  return { states: parent.length, steps, ends, violation, witnesses };
}

/** A cycle of system steps, or undefined. */
function findCycle({ first, to, label }) {
  const count = first.length - 1;
  const colour = new Uint8Array(count); // 0 new, 1 on the path, 2 done
  const cursor = Int32Array.from(first);
  for (let root = 0; root < count; root++) {
    const path = colour[root] ? [] : [root];
    while (path.length) {
      const at = path.at(-1);
      colour[at] = 1;
      if (cursor[at] === first[at + 1]) {
        colour[at] = 2;
        path.pop();
        continue;
      }
      const next = to[cursor[at]++];
      if (colour[next] === 0) path.push(next);
      else if (colour[next] === 1)
        return {
          start: next,
          labels: path.slice(path.indexOf(next)).map((node) => label[cursor[node] - 1]),
        };
    }
  }
  return undefined;
}
