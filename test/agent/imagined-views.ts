import { readCardState, readQuoteState, WHERE_IT_IS } from "../../src/thread/entry-ids.ts";
import type { Draft } from "../../src/core/entry.ts";
import { owedLiving } from "../../src/thread/undelivered.ts";
import { viewFor } from "../../src/thread/views.ts";
import { MAIN_VIEW } from "../../src/thread/state.ts";
import { livingIn, livingName } from "../../src/thread/fold-living.ts";
import { workKey } from "../../src/thread/work-keys.ts";
import { alertState } from "../fakes/alert-state.ts";
import { expectThat, type Imagined, type Tape } from "./imagined-world.ts";

/** A second place of the thread, and what is said by others than people. */

const OTHER = "other:";

/** It is shown in a second place from here on, or no more. */
export function mirror({ thread, entries }: Imagined): Draft {
  const view = thread.views.find((each) => each !== MAIN_VIEW);
  if (view !== undefined) return { id: `view-removed:${view}`, kind: "view_removed", view };
  const added = `${OTHER}place:${entries.length}`;
  return { id: `view:${added}`, kind: "view_added", view: added, channel: `${OTHER}channel` };
}

/** What systems say: an alert of a listed bot, an incident's state, a word for the operations channel. */
export function told({ entries }: Imagined, id: string, tape: Tape): Draft[] {
  const actor = { account: ["test:pager", "other:pager"][tape() % 2] ?? "", name: "pager" };
  const app = { id, kind: "message" as const, actor, app: true as const, text: `said ${id};` };
  const state = {
    id: `state:${id}`,
    kind: "incident_state" as const,
    incident: `inc${tape() % 2}`,
    last: entries.length,
    title: "db",
    services: [],
    status: (["open", "resolved"] as const)[tape() % 2] ?? "open",
    startedAt: 1,
    by: "ana",
    timeline: [],
  };
  return [
    { ...app, address: {} },
    { ...app, address: { bot: true } },
    state,
    alertState(entries.length, {
      id: `alerts:${id}`,
      group: `g${tape() % 2}`,
      mention: tape() % 2 === 0 ? ["test:ana"] : [],
      ...(tape() % 2 === 0 && { firing: 0, resolved: 1, overAt: 2 }),
    }),
    { id, kind: "alarm", text: `alarm ${id}` },
  ];
}

/** One of the thread's platforms is away, or both are back. */
export function goAway({ thread, away }: Imagined, tape: Tape): void {
  const view = thread.views[tape() % 3];
  if (view === undefined) away.clear();
  else away.add(workKey.view(view));
}

/** At rest, with all platforms there, both places show the same, each thing once. */
export function checkViews({ entries, thread, clock }: Imagined): void {
  const shown = new Map<string, { seq: number; ids: Map<string, number> }>();
  const quoted = new Map<string, number>();
  const privately = new Set<string>();
  shown.set(MAIN_VIEW, { seq: 0, ids: new Map() });
  for (const entry of entries) {
    if (entry.kind === "view_added") shown.set(entry.view, { seq: entry.seq, ids: new Map() });
    if (entry.kind === "view_removed") shown.delete(entry.view);
    if (entry.kind === "notice" && entry.to !== undefined) privately.add(entry.id);
    if (entry.kind === "message" || entry.kind === "command") {
      const origin = viewFor({ views: [...shown.keys()] }, entry.actor.account);
      for (const view of shown.keys()) if (view !== origin) quoted.set(`${view} ${entry.id}`, 0);
    }
    if (entry.kind !== "delivered" || entry.stage !== "final") continue;
    if (entry.entry === WHERE_IT_IS.over || ["marks", "ops", "record"].includes(entry.view))
      continue;
    const place = shown.get(entry.view);
    expectThat(place !== undefined, `V1 ${entry.entry} is shown in ${entry.view}, which is over`);
    const times = (place?.ids.get(entry.entry) ?? 0) + 1;
    place?.ids.set(entry.entry, times);
    expectThat(times === 1, `V2 ${entry.entry} is shown twice in ${entry.view}`);
    const quote = readQuoteState(entry.entry);
    if (quote === undefined) continue;
    const owed = `${entry.view} ${quote.id}`;
    expectThat(quoted.has(owed), `V3 ${quote.id} is quoted where it was said, or before`);
    quoted.set(owed, 1);
  }
  for (const [owed, times] of quoted) {
    const [view = ""] = owed.split(" ");
    expectThat(!shown.has(view) || times === 1, `V4 ${owed} is not quoted`);
  }
  const [main, second] = thread.views.map((view) => shown.get(view));
  if (main === undefined || second === undefined) return;
  const seqOf = new Map(entries.map(({ id, seq }) => [id, seq]));
  const isBoths = (id: string) =>
    (seqOf.get(id) ?? 0) > second.seq && !privately.has(id) && readQuoteState(id) === undefined;
  for (const [one, other] of [
    [main, second],
    [second, main],
  ] as const)
    for (const id of one.ids.keys())
      expectThat(!isBoths(id) || other.ids.has(id), `V5 ${id} is shown in one place alone`);
  for (const action of thread.actions.values()) {
    const seqs = thread.views.map((view) => action.shown.get(view));
    const isPast = seqs[1] === undefined && (seqs[0]?.seq ?? 0) < second.seq;
    if (isPast || seqs.some((each) => each?.seq === Infinity)) continue;
    const same = new Set(seqs.map((each) => each?.seq));
    expectThat(same.size === 1, `V6 the card of ${action.action} differs: ${[...same].join()}`);
  }
  /** An edit that is put off is no difference: both come to the same in a while. */
  const isPaced = (id: string) =>
    thread.views
      .flatMap((view) => owedLiving(thread, view))
      .some(({ living, dueAt }) => livingName(living) === id && dueAt > clock);
  for (const id of livingIn(thread).map(livingName)) {
    if (isPaced(id)) continue;
    const newest = [main, second].map(({ ids }) =>
      Math.max(
        0,
        ...[...ids.keys()]
          .map(readCardState)
          .filter(({ of }) => of === id)
          .map(({ seq }) => seq),
      ),
    );
    const isOld = newest[1] === 0 && (newest[0] ?? 0) < second.seq;
    expectThat(isOld || newest[0] === newest[1], `V6 the card of ${id} differs: ${newest.join()}`);
  }
}
