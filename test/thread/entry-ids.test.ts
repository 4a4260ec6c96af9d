import { expect, test } from "vitest";
import {
  callName,
  cardState,
  citationOf,
  untoldId,
  entryId,
  noticeId,
  numberOfAction,
  numberOfCall,
  pastState,
  progressId,
  quoteState,
  readCardState,
  readPastState,
  runOfCall,
} from "../../src/thread/entry-ids.ts";

test("journals of every version have these ids", () => {
  const made = [
    ...Object.values(entryId).map((make) =>
      (make as (...parts: unknown[]) => string)("x", 2, "final"),
    ),
    ...Object.values(noticeId).map((make) => (make as (...parts: unknown[]) => string)("x", 2)),
    ...Object.values(untoldId).map((make) => make("x")),
    progressId("r1"),
    cardState("a1", 7),
    pastState("asks:r1.t2"),
    quoteState("msg:17.5", 9),
  ];
  expect(made).toEqual([
    "run:x",
    "ended:x",
    "extended:x.2",
    "above:x",
    "assistant:x.2",
    "gate:x.2",
    "plan:x.2",
    "condensed:x.2",
    "overflow:x.2",
    "proposed:x.2",
    "vote:x",
    "closed:x",
    "expiry:x",
    "grant:x",
    "revoked:x",
    "editing-ends:x.2",
    "silence:x",
    "verify:x",
    "look:x",
    "started:x",
    "finished:x",
    "settled:x",
    "late:x",
    "view:x",
    "view-removed:x",
    "goal:x",
    "goal-plan:x.2",
    "judged:x.2",
    "goal-state:x.2",
    "delivered:x:2:final",
    "told:x",
    "word:x",
    "verified:x",
    "asks:x",
    "unknown:x",
    "looking:x",
    "waits:x",
    "halfway:x",
    "expiring:x",
    "escalated:x",
    "paged:x",
    "not-paged:x",
    "page-delayed:x",
    "page-stuck:x",
    "decided:x.2",
    "denied:x.2",
    "withdrawn:x.2",
    "expired:x",
    "frozen:x:2",
    "goal-paused:x.2",
    "parked:x",
    "back:x",
    "pasted:x",
    "unread:x",
    "held:x",
    "begun:r1",
    "a1@7",
    "asks:r1.t2@past",
    "quote:msg:17.5@9",
  ]);
});

test("a name says what it is part of", () => {
  const call = callName("r12", 34);
  expect([call, runOfCall(call), numberOfCall(call), citationOf(call)]).toEqual([
    "r12.t34",
    "r12",
    34,
    "T34",
  ]);
  expect([numberOfAction("a7"), numberOfAction("r7.t1"), numberOfAction("a7b")]).toEqual([
    7,
    undefined,
    undefined,
  ]);
});

test("what was shown is read back from its id", () => {
  expect(readCardState(cardState("a3", 41))).toEqual({ of: "a3", seq: 41 });
  expect(readPastState(pastState("unknown:r1.t1"))).toBe("unknown:r1.t1");
  expect(readPastState("unknown:r1.t1")).toBeUndefined();
});
