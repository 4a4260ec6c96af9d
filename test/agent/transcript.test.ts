import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { requestOf } from "../../src/agent/request.ts";
import { foldTranscript, tellingOf } from "../../src/agent/transcript.ts";
import { Transcript, turnsOf } from "../../src/agent/transcript-turns.ts";
import type { Draft, Entry } from "../../src/core/entry.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import { work } from "./imagined.ts";
import { checkReading, checkSnapshot, history, numbers, TIMEOUT_MS } from "./imagined-history.ts";
import { checkAnswered, write } from "./imagined-world.ts";
import { checkViews } from "./imagined-views.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { fakeTool } from "../fakes/stage.ts";
import { ana, began, message, wrote } from "../thread/entries.ts";
import { ANSWER, call, ofKind, resultsIn, talking } from "./talking.ts";

describe("whatever people, models and tools do", () => {
  test(
    "every request has one result for each call, and begins with the one before it",
    () => {
      fc.assert(
        fc.property(numbers(80), fc.boolean(), (each, hasCard) => void history(each, { hasCard })),
        { numRuns: 800, endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );

  test(
    "so does every request of a thread that is condensed again and again",
    () => {
      let condensed = 0;
      fc.assert(
        fc.property(numbers(300), fc.boolean(), fc.nat(), (each, hasCard, split) => {
          const { world } = history(each, { hasCard, window: 200 });
          condensed += world.condensed;
          checkReading(world, split);
          checkSnapshot(world, split);
        }),
        { numRuns: 150, endOnFailure: true },
      );
      expect(condensed).toBeGreaterThan(10);
    },
    TIMEOUT_MS,
  );

  test(
    "it comes to an end, with no message unanswered, and is read the same at once or piece by piece",
    () => {
      let kept = 0;
      fc.assert(
        fc.property(numbers(160), fc.boolean(), fc.nat(), (each, hasCard, split) => {
          const { world, tape } = history(each, { hasCard });
          checkReading(world, split);
          if (checkSnapshot(world, split)) kept += 1;
          work(world, tape);
          for (const run of world.thread.runs.values()) {
            // Waits for a click on a card, or for the answer to a question.
            for (const { action, asked } of run.open.values()) {
              expect(action !== undefined || asked !== undefined).toBe(true);
            }
            expect(run.open.size).toBeGreaterThan(0);
          }
          const { pending } = world.thread;
          checkViews(world);
          if (world.thread.runs.size === 0) {
            expect(pending.size).toBe(0);
            checkAnswered(world);
          }
          write(world, { id: "last", kind: "stop", actor: { account: "test:ana", name: "ana" } });
          work(world, tape);
          expect([world.thread.runs.size, pending.size, world.thread.outbox.size]).toEqual([
            0, 0, 0,
          ]);
        }),
        { numRuns: 300, endOnFailure: true },
      );
      expect(kept).toBeGreaterThan(50);
    },
    TIMEOUT_MS,
  );
});

describe("the requests of a run", () => {
  test("are made of what was folded before: nothing is read a second time", async () => {
    const memory = openMemoryJournal();
    onTestFinished(() => memory.close());
    let entries = 0;
    const journal: Journal = {
      ...memory,
      async read(key, after) {
        const found = await memory.read(key, after);
        entries += found.length;
        return found;
      },
    };
    const rounds = 5;
    const script = Array.from({ length: rounds }, () => [{ calls: [call("look")] }, ANSWER]);
    const stage = await talking(script.flat(), { journal });
    for (let n = 0; n < rounds; n++) await stage.ask(`is web well? ${n}`);
    expect(stage.model.left()).toBe(0);
    // Each message once; what follows from it the worker wrote itself.
    expect(entries).toBe(rounds);
  });

  test("hold a long result once: the same call that brings the same again refers to it", async () => {
    const text = "a skill's instructions\n".repeat(100);
    let now = text;
    const tool = fakeTool({ name: "look", run: async () => ({ text: now }) });
    const stage = await talking(
      [
        { calls: [call("look"), call("look", "db")] },
        { calls: [call("look")] },
        () => {
          now = `${text}and more`;
          return { calls: [call("look")] };
        },
        ANSWER,
      ],
      { tools: [tool] },
    );
    await stage.ask("how is web?");
    const shown = (at: number) => resultsIn(stage.model.requests[at]).map((result) => result.text);
    expect(shown(1).every((each) => each.includes(text))).toBe(true);
    expect(shown(2)).toEqual([expect.stringContaining("The same as the result of T1 above")]);
    expect(shown(3)).toEqual([expect.stringContaining("and more")]);
  });

  test("begin with the same bytes: system prompt, tools and every turn told before", async () => {
    const stage = await talking([
      { calls: [call("look")] },
      async () => {
        await stage.say("and db?");
        await stage.say("hurry up", "test:bob");
        return { calls: [call("look", "db")] };
      },
      { text: "Not graded." },
      ANSWER,
      { text: "Hello." },
    ]);
    await stage.ask("is web well?");
    await stage.ask("hello");
    expect(stage.model.left()).toBe(0);
    const told = stage.model.requests.map(({ turns }) => JSON.stringify(turns));
    // The next run is Ana's alone: what Bob said in the one before is quoted in it.
    expect(told.pop()).toContain(" bob, quoted] hurry up");
    expect(told.join()).not.toContain("quoted]");
    stage.model.requests.reduce((before, request) => {
      expect(JSON.stringify([request.system, request.tools])).toBe(
        JSON.stringify([before.system, before.tools]),
      );
      const start = JSON.stringify(before.turns).slice(0, -1);
      const turns = JSON.stringify(request.turns).replace(" bob, quoted] ", " bob] ");
      expect(turns.startsWith(start)).toBe(true);
      return request;
    });
  });

  test("can be made again from the journal: the same hash from the same entries", async () => {
    const stage = await talking([
      { calls: [call("look"), call("act", "a")] },
      async () => {
        await stage.say("and db?");
        return { calls: [call("act", "b")] };
      },
      ANSWER,
    ]);
    await stage.ask("is web well?");
    await stage.ask("deny a1");
    await stage.ask("deny a2");
    const entries = await stage.entries();
    const turns = ofKind(entries, "assistant");
    expect(turns).toHaveLength(3);
    const terms = stage.parts.run.terms;
    for (const turn of turns) {
      const { seen, request, run } = turn;
      const until = entries.filter(({ seq }: Entry) => seq <= seen);
      const talk = fold(new Thread(), until).runs.get(run)?.modelRun;
      if (talk === undefined || terms === undefined) throw new Error("no run");
      const transcript = new Transcript();
      for (const entry of until) foldTranscript(transcript, entry);
      const telling = tellingOf(transcript, turn);
      const { hash } = requestOf(transcript, { run, modelRun: talk }, terms, telling);
      expect(hash.slice(0, 32)).toBe(request);
    }
  });
});

/** What a journal's next request tells, and an answer's words. */
function toldOf(drafts: readonly Draft[]): string {
  const transcript = new Transcript();
  drafts.forEach((draft, index) => foldTranscript(transcript, { seq: index + 1, at: 1, ...draft }));
  return JSON.stringify(turnsOf(transcript).turns);
}

test("why an answer was sent back stands right below it, above what was said meanwhile", () => {
  const told = toldOf([
    message("m1", "why?"),
    began("r1", ["m1"]),
    message("m2", "and since when?"),
    wrote("r1", 1, 2, [{ kind: "text", text: "An answer." }]),
    { id: "gate:r1.1", kind: "gate", run: "r1", gate: "evidence", text: "Write it again." },
  ]);
  expect(told).toMatch(/An answer.*Write it again.*since when/);
});

test("an edit of what a side run answered comes after its exchange, and takes nothing of it away", () => {
  const told = toldOf([
    message("m1", "why?"),
    began("r1", ["m1"]),
    wrote("r1", 1, 2, [{ kind: "tool_use", id: "t", name: "act", input: "{}" }]),
    message("m2", "how many users?"),
    began("r2", ["m2"], true),
    wrote("r2", 1, 5, [{ kind: "text", text: "Forty." }]),
    { id: "ended:r2", kind: "run_ended", run: "r2", status: "completed", text: "Forty." },
    { id: "e1", kind: "edited", actor: ana, of: "m2", text: "how many servers?" },
  ]);
  expect(told).toMatch(/how many users.*Forty.*how many servers/);
});
