import { describe, expect, test } from "vitest";
import type { Choice, Draft, Entry } from "../../src/core/entry.ts";
import { moneyCounter, tokenCounter } from "../../src/core/token-counters.ts";
import { createChat } from "../fakes/chat.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import type { StageOptions } from "../fakes/stage.ts";
import { until } from "../until.ts";
import { fold } from "../../src/thread/fold.ts";
import { meterOf } from "../../src/thread/meter.ts";
import { Thread } from "../../src/thread/state.ts";
import { helper, HELPERS, helping } from "./helping.ts";
import { journalOf } from "./cut.ts";
import { ANSWER, call, lastAnswer, ofKind, talking, wordsIn } from "./talking.ts";

const EXTEND: Choice = { kind: "extend" };
const CONTINUE: Choice = { kind: "continue" };
/** Near its limit after four steps, at it after five; an extension adds three. */
const BUDGET = { steps: 6, tokens: 400_000, minutes: 15 };
const talk = { budget: BUDGET };
const NOON = Date.UTC(2026, 0, 1, 12);
const DAY = "2026-01-01";
const person = (account: string) => (day: string) => tokenCounter.person(day, account);
const place = (channel: string) => (day: string) => tokenCounter.place(day, channel);
const STANDINGS = {
  "test:ana": "member",
  "test:bob": "member",
  "test:gus": "guest",
  "test:olga": "outsider",
} as const;

/**
 * Looks at something new each time, and answers when it is told to. `during`: what happens while it thinks for the n-th time. It
 * says the same to the same request, since what somebody overtakes is asked for again.
 */
function curious(
  during: Record<number, () => Promise<void>>,
  isJudged: () => Promise<boolean>,
): Saying[] {
  const saying: Saying = async ({ toolChoice, turns }, { signal }) => {
    const step = turns.filter(({ role }) => role === "assistant").length + 1;
    const deed = during[step];
    delete during[step];
    await deed?.();
    if (deed !== undefined) await until(async () => signal.aborted || (await isJudged()));
    return toolChoice === "none" ? ANSWER : { calls: [call("look", `web-${step}`)] };
  };
  return Array.from({ length: 60 }, () => saying);
}

async function staged(
  during: (stage: Awaited<ReturnType<typeof talking>>) => Record<number, () => Promise<void>>,
  options: StageOptions = {},
) {
  const deeds: Record<number, () => Promise<void>> = {};
  const chat = createChat({ standings: STANDINGS });
  /** All presses have come to something. */
  const isJudged = async () => {
    const entries = await stage.entries();
    const done = [...ofKind(entries, "extended"), ...ofKind(entries, "notice")].map((entry) =>
      entry.kind === "extended" ? entry.post : entry.answers,
    );
    return ofKind(entries, "click").every(({ id }) => done.includes(id));
  };
  const stage: Awaited<ReturnType<typeof talking>> = await talking(curious(deeds, isJudged), {
    chat,
    talk,
    ...options,
  });
  Object.assign(deeds, during(stage));
  /** Until nothing is owed: what was overtaken is taken up again. */
  const settle = async () => {
    for (let last = -1, now = 0; last !== now;) {
      last = now;
      await stage.settle();
      now = (await stage.entries()).length;
    }
  };
  const ask = async (text: string, account?: string) => {
    await stage.say(text, account);
    await settle();
  };
  return { ...stage, settle, ask };
}

/** How the requests of the turns that stand in the journal went, in order. */
const stepsOf = (entries: readonly Entry[]) => ofKind(entries, "assistant").map(({ step }) => step);

const press = (id: string, choice: Choice): Draft<"click"> => ({
  id: `click:${id}`,
  kind: "click",
  actor: { account: "test:bob", name: "bob" },
  action: "r1",
  revision: 1,
  choice,
  via: "button",
});

const notices = (entries: readonly Entry[]) => ofKind(entries, "notice").map(({ text }) => text);

describe("a run near its limit", () => {
  test("goes on with what a person adds, and the journal says who did", async () => {
    const stage = await staged(({ click }) => ({ 5: () => click("r1", EXTEND, "test:bob") }));
    await stage.ask("look around");
    expect(stepsOf(await stage.entries())).toHaveLength(9);
    expect(ofKind(await stage.entries(), "extended")).toMatchObject([
      {
        id: "extended:r1.1",
        of: "r1",
        number: 1,
        account: "test:bob",
        basis: "button, member",
        more: { steps: 3, tokens: 200_000, minutes: 7.5 },
      },
    ]);
    expect(lastAnswer(stage)).toContain("a limit (9 steps)");
    expect(wordsIn(stage.model.requests.at(-2)).join("\n")).toContain(
      "People extended what you may use, by 3 steps",
    );
  });

  test("is extended once, however many press and however often", async () => {
    const stage = await staged(({ click }) => ({
      5: async () => {
        for (const who of ["test:ana", "test:bob", "test:ana"]) await click("r1", EXTEND, who);
      },
    }));
    await stage.ask("look around");
    const entries = await stage.entries();
    expect(stepsOf(entries)).toHaveLength(9);
    expect(ofKind(entries, "extended")).toHaveLength(1);
    expect(notices(entries)).toEqual(["ana already extended r1.", "ana already extended r1."]);
  });

  test("is extended again when it comes near its new limit", async () => {
    const stage = await staged(({ click }) => ({
      5: () => click("r1", EXTEND),
      8: () => click("r1", EXTEND, "test:ana", 2),
    }));
    await stage.ask("look around");
    expect(ofKind(await stage.entries(), "extended").map(({ number }) => number)).toEqual([1, 2]);
    expect(stepsOf(await stage.entries())).toHaveLength(12);
  });

  test("is not extended before, nor by a press on a button that was not there", async () => {
    const stage = await staged(({ click, say }) => ({
      2: async () => void (await say("extend r1")),
      3: () => click("r1", EXTEND, "test:ana", 2),
      4: () => click("r7", EXTEND),
    }));
    await stage.ask("look around");
    const entries = await stage.entries();
    expect(ofKind(entries, "extended")).toEqual([]);
    const far = "r1 is far from its limits. I'll offer Extend when it comes near one.";
    expect(notices(entries)).toEqual([
      far,
      far,
      'r7 has ended. Write "continue" to go on from there.',
    ]);
  });

  test("has its tools back when that is pressed while it writes its last answer", async () => {
    const stage = await staged(({ click }) => ({ 6: () => click("r1", EXTEND) }));
    await stage.ask("look around");
    const choices = stage.model.requests.map(({ toolChoice }) => toolChoice);
    expect(choices.indexOf("none")).toBeLessThan(choices.lastIndexOf("auto"));
    expect(stage.chat.answers()).toHaveLength(1);
    expect(lastAnswer(stage)).toContain("9 steps");
  });

  test("is extended by typing it too", async () => {
    const stage = await staged(({ say }) => ({ 6: async () => void (await say("extend")) }));
    await stage.ask("look around");
    expect(ofKind(await stage.entries(), "extended")).toMatchObject([
      { of: "r1", basis: "typed, asked" },
    ]);
  });

  test("that was stopped gets nothing", async () => {
    const stage = await staged(({ click, post }) => ({
      5: async () => {
        await post({ id: "stop:1", kind: "stop", actor: { account: "test:ana", name: "ana" } });
        await click("r1", EXTEND);
      },
    }));
    await stage.ask("look around");
    expect(ofKind(await stage.entries(), "extended")).toEqual([]);
    expect(stage.chat.answers()).toMatchObject([{ status: "cancelled" }]);
  });

  test.each([
    ["test:gus", "Guests can't extend. Ask a full member of this thread."],
    ["test:olga", "Only full members of this thread can extend r1."],
  ])("is not extended by %s, who does not instruct it", async (account, why) => {
    const stage = await staged(({ click }) => ({ 5: () => click("r1", EXTEND, account) }));
    await stage.ask("look around");
    const entries = await stage.entries();
    expect(ofKind(entries, "extended")).toEqual([]);
    expect(notices(entries)).toEqual([why]);
  });

  test("is extended by the guest who asked", async () => {
    const stage = await staged(({ click }) => ({ 5: () => click("r1", EXTEND, "test:gus") }));
    await stage.ask("look around", "test:gus");
    expect(ofKind(await stage.entries(), "extended")).toHaveLength(1);
  });

  test("that a member extends for a guest uses the member's share from then on", async () => {
    const shares = { person: 100_000, place: 100_000, guest: 600 };
    const stage = await staged(({ click }) => ({ 5: () => click("r1", EXTEND, "test:bob") }), {
      talk: { ...talk, shares, maxOutputTokens: 1 },
    });
    await stage.ask("look around", "test:gus");
    expect(lastAnswer(stage)).toContain("9 steps");
  });

  test("is extended once by two replicas, and gone on with once", async () => {
    const whole = await staged(() => ({}));
    await whole.ask("look around");
    const entries = await whole.entries();
    const journal = await journalOf(
      entries.slice(0, entries.findIndex(({ id }) => id === "assistant:r1.5") + 1),
    );
    const replicas = [
      await staged(() => ({}), { journal }),
      await staged(() => ({}), { journal }),
    ] as const;
    const settle = async () => {
      const isOwed = async () => {
        for await (const _ of journal.due("stage")) return true;
        return false;
      };
      do await Promise.all(replicas.map((replica) => replica.settle()));
      while (await isOwed());
    };
    const [one, two] = replicas;
    await Promise.all([one.click("r1", EXTEND, "test:ana"), two.post(press("b", EXTEND))]);
    await settle();
    await Promise.all([one.click("r1", CONTINUE, "test:ana"), two.post(press("c", CONTINUE))]);
    await settle();
    const after = await one.entries();
    expect(ofKind(after, "extended")).toHaveLength(1);
    expect(ofKind(after, "run_started")).toMatchObject([{ run: "r1" }, { continues: "r1" }]);
    expect(ofKind(after, "run_ended")).toHaveLength(2);
    expect(notices(after)).toHaveLength(2);
    await journal.close();
  });

  test("comes to the same wherever its worker dies", async () => {
    const whole = await staged(({ click }) => ({
      5: async () => {
        await click("r1", EXTEND);
        await click("r1", EXTEND, "test:bob");
      },
    }));
    await whole.ask("look around");
    const entries = await whole.entries();
    const from = entries.findIndex(({ kind }) => kind === "click");
    for (let upTo = from + 2; upTo <= entries.length; upTo += 1) {
      const journal = await journalOf(entries.slice(0, upTo));
      const stage = await staged(() => ({}), { journal });
      await stage.settle();
      const after = await stage.entries();
      expect(ofKind(after, "extended"), `${upTo}`).toHaveLength(1);
      const [ended] = ofKind(after, "run_ended");
      expect(ended?.text, `${upTo}`).toContain("9 steps");
      await journal.close();
    }
  }, 20_000);
});

describe("a run that ended at its limit", () => {
  const small = { talk: { budget: { ...BUDGET, steps: 2 } } };

  test("is gone on with at a press, with a fresh budget and all that was found", async () => {
    const stage = await staged(() => ({}), small);
    await stage.ask("look around");
    expect(stage.chat.answers()[0]).toMatchObject({ status: "wrapped_up", goesOn: { steps: 2 } });
    await stage.click("r1", CONTINUE, "test:bob");
    await stage.settle();
    const [, began] = ofKind(await stage.entries(), "run_started");
    expect(began).toMatchObject({ continues: "r1", principals: ["test:bob"] });
    expect(began?.talk?.budget).toEqual({ ...BUDGET, steps: 2 });
    const request = stage.model.requests[2];
    expect(request?.toolChoice).toBe("auto");
    expect(JSON.stringify(request)).toContain("did web-1");
    expect(wordsIn(request).at(-1)).toContain("People pressed Continue: go on");
    expect(stage.chat.answers()).toHaveLength(2);
  });

  test("is gone on with once, whoever presses how often", async () => {
    const stage = await staged(() => ({}), small);
    await stage.ask("look around");
    for (const who of ["test:bob", "test:ana"]) await stage.click("r1", CONTINUE, who);
    await stage.settle();
    await stage.click("r1", CONTINUE);
    await stage.settle();
    const entries = await stage.entries();
    expect(ofKind(entries, "run_started")).toHaveLength(2);
    expect(notices(entries)).toEqual([
      "bob pressed Continue before you: I'm at it.",
      'More was asked here since, so that button is over. Write "continue" to go on from there.',
    ]);
  });

  test("is not gone on with once something else was asked", async () => {
    const stage = await staged(() => ({}), small);
    await stage.ask("look around");
    await stage.say("and the database?");
    await stage.click("r1", CONTINUE);
    await stage.settle();
    const starts = ofKind(await stage.entries(), "run_started");
    expect(starts.map(({ continues }) => continues)).toEqual([undefined, undefined]);
  });

  test("is gone on with by who may alone", async () => {
    const stage = await staged(() => ({}), small);
    await stage.ask("look around");
    await stage.click("r1", CONTINUE, "test:gus");
    await stage.settle();
    expect(notices(await stage.entries())).toEqual([
      "Guests can't continue. Ask a full member of this thread.",
    ]);
    await stage.click("r1", CONTINUE);
    await stage.settle();
    expect(stage.chat.answers()).toHaveLength(2);
  });

  test.each([
    ["everybody's", tokenCounter.all, 5_000_000, /^The day's budget of 5000000 tokens is used up/],
    ["the asker's", person("test:gus"), 900, /900 tokens for a guest.*tokensPerGuestDay/],
    ["the place's", place("test:thread"), 8_000, /8000 tokens for this channel/],
    ["everybody's money", moneyCounter.all, 1_000_000, /budget of \$1\.00 is used up/],
  ])("is not gone on with when %s part of the day is used up", async (_, counter, used, why) => {
    const shares = { person: 100_000, place: 8_000, guest: 900 };
    const stage = await staged(() => ({}), {
      talk: { ...small.talk, shares, cents: { all: 100 }, maxOutputTokens: 1 },
      priceOf: () => ({ input: 1, cachedInput: 1, cacheWrite: 1, output: 1 }),
      now: () => NOON,
    });
    await stage.ask("look around", "test:gus");
    const left = used - (await stage.journal.used(counter(DAY)));
    await stage.journal.reserve(counter(DAY), left, used);
    await stage.click("r1", CONTINUE, "test:gus");
    await stage.settle();
    const entries = await stage.entries();
    expect(notices(entries)).toEqual([expect.stringMatching(why)]);
    expect(ofKind(entries, "run_started")).toHaveLength(1);
  });
});

describe("what a run has used is told", () => {
  /** At which steps of a run whose requests use so many tokens. */
  async function toldAt(input: number, budget: Partial<typeof BUDGET>) {
    const saying: Saying = async ({ toolChoice, turns }) => ({
      ...(toolChoice === "none" ? ANSWER : { calls: [call("look", `web-${turns.length}`)] }),
      usage: { input, output: 0 },
    });
    const script = Array.from({ length: 20 }, () => saying);
    const stage = await talking(script, { talk: { budget: { ...BUDGET, ...budget } } });
    await stage.ask("look around");
    const found = stage.chat.progress.flatMap((update) =>
      update.kind === "thinking" && update.meter !== undefined ? [update.step] : [],
    );
    return { found, entries: await stage.entries() };
  }

  test("from a third of the nearest limit on", async () => {
    expect((await toldAt(100, { steps: 10 })).found).toEqual([4, 5, 6, 7, 8, 9, 10]);
    // A request's tokens, the next one's and the answer's are 300 of them.
    expect((await toldAt(100, { steps: 10, tokens: 900 })).found).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("or from a minute of work on", async () => {
    const { entries } = await toldAt(100, { steps: 10 });
    const upTo = entries.findIndex(({ id }) => id === "assistant:r1.2");
    const began = entries.slice(0, upTo + 1);
    const meterAfter = (ms: number) => {
      const taken = began.map((entry) => (entry.kind === "assistant" ? { ...entry, ms } : entry));
      const run = fold(new Thread(), taken).runs.get("r1");
      return run && meterOf(run);
    };
    expect(meterAfter(29_000)).toBeUndefined();
    expect(meterAfter(31_000)).toMatchObject({ steps: 2, tokens: 200, workMs: 62_000 });
  });

  test("with what its helpers use, whose requests tell it too", async () => {
    const looks = Array.from({ length: 4 }, (_, i) => ({
      calls: [["look", { name: `web-${i}` }] as const],
      usage: { input: 10_000 },
    }));
    const stage = await helping(
      {
        main: [
          { calls: [helper("look into web")], usage: { input: 30_000 } },
          { text: "INCONCLUSIVE: it is unclear [T2]." },
        ],
        "look into web": [...looks, { text: "Unclear." }],
      },
      { talk: { modes: HELPERS, budget: { ...BUDGET, steps: 20, tokens: 200_000 } } },
    );
    await stage.ask("what is wrong?");
    const meters = stage.chat.progress.flatMap((update) =>
      update.kind === "thinking" && update.meter !== undefined
        ? [[update.run, update.step, update.meter.steps, update.meter.tokens]]
        : [],
    );
    expect(meters.slice(0, 3)).toEqual([
      ["r1", 1, 1, 30_010],
      ["r1", 1, 1, 40_020],
      ["r1", 1, 1, 50_030],
    ]);
    expect(meters.every(([run]) => run === "r1")).toBe(true);
  });
});
