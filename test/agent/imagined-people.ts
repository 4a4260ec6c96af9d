import { isOpen } from "../../src/thread/action.ts";
import type { Actor, Choice, Draft } from "../../src/core/entry.ts";
import { grantsIn, MAIN_VIEW } from "../../src/thread/state.ts";
import { goAway, mirror, told } from "./imagined-views.ts";
import { type Imagined, type Tape, write } from "./imagined-world.ts";

/** Somebody writes, clicks, stops or runs something, or time passes. */
export function interrupt(world: Imagined, tape: Tape): void {
  const id = `post:${world.entries.length}`;
  const isMirrored = world.thread.views.some((view) => view !== MAIN_VIEW);
  const there = isMirrored ? ["other:dora", "other:ana"] : [];
  const accounts = ["test:ana", "test:bob", "test:guest", ...there];
  const account = accounts[tape() % accounts.length] ?? "";
  const actor = { account, name: account.split(":")[1] ?? "" };
  const click = (action: string, choice: Choice): Draft => ({
    id,
    kind: "click",
    actor,
    action,
    revision: 1,
    choice,
    via: "typed",
  });
  const open = [...world.thread.live].filter(isOpen).map((each) => each.action);
  const action = open[tape() % Math.max(1, open.length)] ?? "a1";
  const questions = [...world.thread.runs.values()].flatMap((run) =>
    [...run.open.values()].flatMap((call) => (call.asked === undefined ? [] : [call.call])),
  );
  const choices: Choice[] = [
    { kind: "approve" },
    { kind: "approve", grants: true },
    { kind: "deny" },
    { kind: "cancel" },
    { kind: "break", reason: "it is on fire here" },
  ];
  const clicks = open.length === 0 ? [] : choices.map((choice) => click(action, choice));
  const revoked = grantsIn(world.thread).map(({ of }) => click(of.action, { kind: "revoke" }));
  // Whoever presses a card that is over comes too late, also for a helper that is gone.
  const late = world.hasHelpers
    ? [...world.thread.actions.values()].filter((each) => !isOpen(each)).slice(-1)
    : [];
  const lateClicks = late.map((each) => click(each.action, { kind: "approve" }));
  const posts: Draft[] = [
    ...clicks,
    ...lateClicks,
    ...revoked,
    ...told(world, id, tape),
    mirror(world),
    ...talk(world, id, actor),
    { id, kind: "command", actor, text: "quiet", command: { name: "quiet" } },
    { id, kind: "command", actor, text: "listen", command: { name: "listen" } },
    { id, kind: "message", actor, text: `said ${id};` },
    { id, kind: "message", actor, text: "LGTM, go ahead" },
    { id, kind: "message", actor, text: `said ${id}; at length ${"x".repeat(800)}` },
    click(questions[0] ?? "r1.t1", { kind: "answer", text: "blue" }),
    { id, kind: "stop", actor },
    ...[...world.thread.going].map(({ started: { run } }) => ({
      id,
      kind: "stop" as const,
      actor,
      run,
    })),
    {
      id,
      kind: "command",
      actor,
      text: "run look",
      command: { name: "run", tool: "look", args: {} },
    },
    { id, kind: "command", actor, text: "help", command: { name: "help" } },
  ];
  const post = posts[tape() % (posts.length + 3)];
  if (post !== undefined) write(world, post);
  else if (tape() % 3 === 0) goAway(world, tape);
  else if (tape() % 2 === 0) world.freeze = { id, until: world.clock + 1_800_000 };
  else world.clock += 3_600_000;
}

/** Lines with an address or a tone of their own, and the edit that turns one of the author's to the bot. */
function talk(world: Imagined, id: string, actor: Actor): Draft[] {
  const said = world.entries.findLast(
    (entry) =>
      entry.kind === "message" &&
      entry.actor.account === actor.account &&
      (world.room.passed.has(entry.id) || world.thread.pending.has(entry.id)),
  );
  const others = [{ account: "test:bob", at: "start" as const }];
  const lines: Draft[] = [
    { id, kind: "message", actor, text: `said ${id};`, address: {} },
    { id, kind: "message", actor, text: `said ${id};`, address: {}, tone: "request" },
    { id, kind: "message", actor, text: `said ${id};`, address: { bot: true } },
    { id, kind: "message", actor, text: `said ${id};`, address: { others } },
    { id, kind: "message", actor, text: "thanks", address: {}, tone: "chatter" },
  ];
  const turned: Draft[] =
    said === undefined
      ? []
      : [
          {
            id,
            kind: "edited",
            actor,
            of: said.id,
            text: `turned ${id};`,
            address: { bot: true },
          },
        ];
  return [...lines, ...turned];
}
