import { expect, test } from "vitest";
import type { Draft } from "../../src/core/entry.ts";
import {
  all,
  asked,
  askedNow,
  bob,
  click,
  cy,
  evidence,
  finished,
  JOURNAL,
  message,
  on,
  SIGHTS,
  started,
  stop,
  turn,
  vote,
} from "./conversation-story.ts";
import type { Evidence } from "./evidence.ts";
import { violations } from "./invariants.ts";
import {
  after,
  before,
  type Change,
  changed,
  evidenceOf,
  key,
  shown,
  unseen,
  without,
} from "./story.ts";

/** The notice that `m3` waits is taken away after that entry. */
const takenAway = (id: string): Change => ({
  sights: (sights) => [...sights, { what: "amended", key, ref: "2", gone: true }],
  journal: after(id, shown("told:held:m3@past", "2")),
});
const upTo = (id: string) => (drafts: Draft[]) =>
  drafts.slice(0, drafts.findIndex((draft) => draft.id === id) + 1);
const passedOver = shown("told:held:m3", "");
const again = message("m4");
/** Bob writes though Ana was asked, and is told so. */
const chatter = [
  message("m3", bob),
  { id: "told:held:m3", kind: "notice", text: "It waits.", answers: "held:m3" },
  shown("told:held:m3", "2"),
] satisfies Draft[];
const asksNow = "delivered:main:asks:r1.t3:final";

test.each<[string, Evidence]>([
  ["all went as it must", evidence()],
  ["a notice went when what it was about was decided", evidence(takenAway("ended:r1"))],
  [
    "a notice came too late to be shown",
    evidence({
      journal: all(
        without(passedOver.id),
        changed("assistant:r2.2", { seen: 20 }),
        after("closed:a1", passedOver),
      ),
    }),
  ],
  [
    "somebody wrote again while they wait for the same action",
    evidenceOf(
      all(
        after("delivered:main:ended:r2:final", again),
        changed("assistant:r1.4", { seen: 28 }),
        changed("ended:r1", { text: 'This answers "m1", "m2", "m4".' }),
      )(JOURNAL),
      SIGHTS,
    ),
  ],
  [
    "somebody else than who asked wrote while a question waits",
    evidenceOf([...upTo(asksNow)(JOURNAL), ...chatter], SIGHTS),
  ],
  [
    "a later run is told other lines as quoted",
    evidence(asked(["u, quoted", "a", "t", "a"], { run: 1, unlabelled: ["u", "a", "t", "a"] })),
  ],
  [
    "a process died with what it had asked a model by",
    evidence({
      sights: (sights) => [
        ...sights,
        {
          ...askedNow,
          turns: ["u", "a", "t", "a", "lost"],
          unlabelled: ["u", "a", "t", "a", "lost"],
        },
        {
          ...askedNow,
          turns: ["u", "a", "t", "a", "t", "a"],
          unlabelled: ["u", "a", "t", "a", "t", "a"],
        },
      ],
    }),
  ],
])("a conversation in which %s has no violations", (_what, seen) => {
  expect(violations(seen)).toEqual([]);
});

test.each<[string, Change, RegExp]>([
  [
    "somebody told that an action holds up what a side run answers",
    {
      journal: after("delivered:main:ended:r2:final", again, {
        id: "told:held:m4",
        kind: "notice",
        text: "It waits.",
        answers: "held:m4",
        holds: ["a1"],
      }),
    },
    /m4 was told that it is held up/,
  ],
  [
    "a notice that went while what it was about still waited",
    takenAway("c2"),
    /told:held:m3 is recorded as delivered and not in the chat/,
  ],
  [
    "a notice that was passed over while what it was about still waited",
    { journal: changed("delivered:main:told:held:m3:final", { ref: "" }) },
    /told:held:m3 is recorded as delivered and not in the chat/,
  ],
  [
    "a question that who asked answered, and that is still open",
    { journal: all(upTo("asks:r1.t3"), after("asks:r1.t3", message("m3"))) },
    /r1.t3 has 0 results/,
  ],
  [
    "a message that no run took up",
    { journal: changed("run:r1", { answers: [] }) },
    /m1 led to 0 runs/,
  ],
  [
    "a message that joined one run and began another",
    {
      journal: after("ended:r1", {
        id: "run:r3",
        kind: "run_started",
        run: "r3",
        answers: ["m2"],
        principals: [],
        calls: [],
      }),
    },
    /m2 led to 2 runs/,
  ],
  [
    "a message that its run's model never saw",
    {
      journal: all(
        after("delivered:main:ended:r2:final", again),
        changed("assistant:r1.4", { seen: 24 }),
      ),
    },
    /m4 joined the run r1, and its model never saw it/,
  ],
  [
    "a message that the request left to a side run, and none answered it",
    {
      journal: all(
        after("delivered:main:ended:r2:final", again),
        changed("assistant:r1.4", { seen: 28, elsewhere: ["m4"] }),
      ),
    },
    /m4 joined the run r1, and its model never saw it/,
  ],
  [
    "a message that a side run and the first both answered",
    {
      journal: all(
        changed("finished:r2.t5", { handsOver: undefined }),
        after("ended:r1", {
          id: "run:r3",
          kind: "run_started",
          run: "r3",
          answers: ["m3"],
          principals: [],
          calls: [],
        }),
      ),
    },
    /m3 led to 2 runs/,
  ],
  [
    "a run without an end though nobody is waited for",
    { journal: without("ended:r1") },
    /r1 ended 0 times/,
  ],
  [
    "a step that was asked twice",
    { journal: after("assistant:r1.1", { ...turn(1, 2, "Again."), id: "x" }) },
    /the run r1 has the steps 1, 1, 2/,
  ],
  ["a lost step", { journal: without("assistant:r1.2") }, /the run r1 has the steps 1, 3/],
  [
    "a turn that foresaw something",
    { journal: changed("assistant:r1.2", { seen: 12 }) },
    /r1.2 has seen what came after it/,
  ],
  [
    "a turn without the turn before",
    { journal: changed("assistant:r1.2", { seen: 2 }) },
    /r1.2 has not seen the turn before/,
  ],
  [
    "a turn by a worker that had lost the lease",
    { journal: changed("assistant:r1.2", { model: "chaos/2" }) },
    /r1.2 is by chaos\/2, and 1 had the lease/,
  ],
  [
    "a call whose result came after its model was asked again",
    {
      journal: all(without("finished:r1.t2"), after("assistant:r1.2", finished("r1.t2", "ok"))),
    },
    /r1.t2 had 0 results when the run r1 went on/,
  ],
  [
    "a call without a result when its run ended",
    { journal: without("finished:r1.t4") },
    /r1.t4 had 0 results when the run r1 went on/,
  ],
  [
    "a model that was asked after a Stop",
    { journal: before("assistant:r1.4", stop) },
    /r1 went on after the Stop s: it is completed/,
  ],
  [
    "a turn with a Stop in its request",
    { journal: after("m2", stop) },
    /r1 went on after the Stop s: assistant:r1.3/,
  ],
  [
    "an answer that leaves out a message",
    { journal: changed("ended:r1", { text: 'This answers "m1".' }) },
    /the answer of r1 does not know of m2/,
  ],
  [
    "a held message of which nobody was told",
    { journal: all(without("told:held:m3"), without("delivered:main:told:held:m3:final")) },
    /nobody was told that m3 is held up/,
  ],
  [
    "a start that no turn asked for",
    { journal: after("assistant:r1.4", started("r1.t6", "look", "read")) },
    /started:r1.t6 is of a call that was not asked for/,
  ],
  [
    "a start before the turn that asked for it",
    {
      journal: all(
        without("started:r1.t2"),
        before("assistant:r1.1", started("r1.t2", "nudge", "write")),
      ),
    },
    /r1.t2 was started before it was asked for/,
  ],
  [
    "another tool than was asked for",
    { journal: changed("started:r1.t2", { tool: "act" }) },
    /started:r1.t2 is of act, and nudge was asked for/,
  ],
  [
    "an approval by somebody whose message the model had seen",
    {
      journal: all(
        (drafts) => drafts.map((draft) => swapTool(draft, "act", "wreck")),
        without("c2"),
        without("closed:a1"),
        without("finished:r1.t4"),
        after(
          "proposed:a1.1",
          click("c3", bob),
          vote("c3", bob),
          click("c4", cy),
          vote("c4", cy),
          { ...started("r1.t4", "wreck", "write"), ...on },
          finished("r1.t4", "ok"),
        ),
      ),
    },
    /r1.t4 \(wreck\) was started with 1 of 2 approvals/,
  ],
  [
    "a question that was run",
    { journal: after("asks:r1.t3", started("r1.t3", "ask", "read")) },
    /r1.t3 is a question and was started/,
  ],
  [
    "an answer that nobody gave",
    { journal: changed("finished:r1.t3", { answers: "c9" }) },
    /r1.t3 has an answer that nobody gave/,
  ],
  [
    "an answer without a consequence",
    { journal: changed("finished:r1.t3", { answers: "m2" }) },
    /the click c1 had 0 consequences/,
  ],
  [
    "a cancelling click without a consequence",
    { journal: changed("closed:a1", { click: undefined }) },
    /the click c2 had 0 consequences/,
  ],
  [
    "an answer that was not shown",
    { sights: unseen((sight) => sight.what === "said" && sight.ref === "3") },
    /ended:r1 is recorded as delivered and not in the chat/,
  ],
  [
    "a request without one result per call",
    asked(["u", "a", "t"], { unpaired: ["turn 2: call_0 and "] }),
    /without one result per call: turn 2/,
  ],
  [
    "a request that tells the past otherwise",
    asked(["u", "b", "t", "a"], { run: 1 }),
    /4 turns that does not begin as another/,
  ],
  [
    "a request that quotes what its run was told before",
    asked(["u, quoted", "a", "t", "a"], { unlabelled: ["u", "a", "t", "a"] }),
    /4 turns that does not begin as another/,
  ],
])("%s is found", (_what, change, expected) => {
  expect(violations(evidence(change))).toContainEqual(expect.stringMatching(expected));
});

/** The same entry, of a call of another tool. */
function swapTool(draft: Draft, from: string, to: string): Draft {
  return JSON.parse(
    JSON.stringify(draft)
      .replaceAll(`"tool":"${from}"`, `"tool":"${to}"`)
      .replaceAll(`"name":"${from}"`, `"name":"${to}"`),
  ) as Draft;
}
