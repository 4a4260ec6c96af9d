import { describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { createChat } from "../fakes/chat.ts";
import type { Saying } from "../fakes/scripted-model.ts";
import type { Stage, StageOptions } from "../fakes/stage.ts";
import { lastAnswer, talking } from "./talking.ts";

const FINE = { text: "Fine.", usage: { input: 900, output: 100 } };
const fine = (times: number): Saying[] => Array.from({ length: times }, () => FINE);

/** So many answers, none of which comes before all were asked for. */
function fineTogether(times: number): Saying[] {
  const { promise: allAsked, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const saying: Saying = async () => {
    asked += 1;
    if (asked === times) resolve();
    await allAsked;
    return FINE;
  };
  return Array.from({ length: times }, () => saying);
}

const STANDINGS = {
  "test:ana": "member",
  "test:bob": "member",
  "test:gus": "guest",
  "test:olga": "outsider",
} as const;

/** A stage on which each answer costs 1 000 tokens. */
async function staged(options: StageOptions & { times?: number; script?: Saying[] } = {}) {
  const chat = options.chat ?? createChat({ standings: STANDINGS });
  const shares = { person: 2_500, place: 100_000, guest: 1_500 };
  const script = options.script ?? fine(options.times ?? 30);
  const stage = await talking(script, { chat, talk: { shares }, ...options });
  /** What was answered to so many questions of an account: true for the model's word. */
  const answered = async (times: number, account: string) => {
    const found: boolean[] = [];
    for (let i = 0; i < times; i += 1) {
      await stage.ask(`what of it (${account} ${i})?`, account);
      found.push(lastAnswer(stage) === "Fine.");
    }
    return found;
  };
  return { ...stage, answered };
}

async function ask({ journal }: Stage, key: JournalKey, account: string): Promise<void> {
  const actor = { account, name: account };
  await journal.post(key, { id: "m", kind: "message", actor, text: "what of it?" });
}

/** How the thread's one run ended. */
async function endIn({ journal }: Stage, key: JournalKey): Promise<string | undefined> {
  const end = (await journal.read(key)).find(({ kind }) => kind === "run_ended");
  return end?.kind === "run_ended" ? end.text : undefined;
}

describe("a person's share of the day's tokens", () => {
  test("used up by a guest leaves everybody else theirs, and it says what is used up", async () => {
    const stage = await staged();
    expect(await stage.answered(4, "test:gus")).toEqual([true, true, false, false]);
    expect(lastAnswer(stage)).toMatch(
      /budget of 1500 tokens for a guest is used up or set aside \(budgets\.tokensPerGuestDay\).*00:00 UTC/,
    );
    expect(await stage.answered(3, "test:olga")).toEqual([true, true, false]);
    expect(await stage.answered(4, "test:ana")).toEqual([true, true, true, false]);
    expect(lastAnswer(stage)).toMatch(/2500 tokens for one person.*tokensPerPersonDay/);
    expect(await stage.answered(1, "test:bob")).toEqual([true]);
  });

  test("is one person's, with whichever account, and begins again with the next day", async () => {
    const clock = { now: Date.UTC(2026, 0, 1, 12) };
    const people = [{ name: "Ana", accounts: ["test:ana", "test:bob"] }];
    const stage = await staged({ people, now: () => clock.now });
    expect(await stage.answered(2, "test:ana")).toEqual([true, true]);
    expect(await stage.answered(2, "test:bob")).toEqual([true, false]);
    clock.now += 86_400_000;
    expect(await stage.answered(1, "test:bob")).toEqual([true]);
  });

  test("of several who ask together is used in equal parts, by those of them who have some left", async () => {
    const stage = await staged();
    const together = async () => {
      await stage.say("what of it?", "test:ana");
      await stage.ask("yes, what?", "test:bob");
      return lastAnswer(stage) === "Fine.";
    };
    for (const isAnswered of [true, true]) expect(await together()).toBe(isAnswered);
    expect(await stage.answered(3, "test:ana")).toEqual([true, true, false]);
    // Each has used 1 000 by then, and Ana 2 000 more: what follows is Bob's.
    for (const isAnswered of [true, true, false]) expect(await together()).toBe(isAnswered);
  });

  test("is not used up by a burst: what was used counts, not what is set aside", async () => {
    const shares = { person: 1_100, place: 100_000, guest: 1 };
    const script = fineTogether(10);
    const stage = await staged({ talk: { shares, maxOutputTokens: 8_000 }, script });
    const keys = Array.from({ length: 10 }, (_, i): JournalKey => `test:burst${i}`);
    for (const key of keys) await ask(stage, key, "test:ana");
    await Promise.all(keys.map((key) => stage.worker.work(key)));
    expect(stage.chat.answers().map(({ text }) => text)).toEqual(keys.map(() => "Fine."));
    expect(await stage.answered(1, "test:ana")).toEqual([false]);
  });

  test("of a guest is not passed by a burst, which is refused, and no member is meanwhile", async () => {
    const shares = { person: 90_000, place: 90_000, guest: 2_500 };
    const talk = { shares, tokensPerDay: 100_000, maxOutputTokens: 8_000 };
    const stage = await staged({ talk, times: 40 });
    const burst = Array.from({ length: 30 }, (_, i): JournalKey => `test:burst${i}`);
    const keys: JournalKey[] = [...burst, "test:ana"];
    for (const key of keys) {
      const account = key === "test:ana" ? "test:ana" : "test:gus";
      await ask(stage, key, account);
    }
    await Promise.all(keys.map((key) => stage.worker.work(key)));
    const endOf = (key: JournalKey) => endIn(stage, key);
    expect(await endOf("test:ana")).toBe("Fine.");
    const ends = await Promise.all(burst.map(endOf));
    const answered = ends.filter((end) => end === "Fine.");
    // At 2 500 a third request may begin, with what two of 1 000 left.
    expect(answered.length).toBeGreaterThan(0);
    expect(answered.length).toBeLessThanOrEqual(3);
    for (const end of ends.filter((each) => each !== "Fine.")) {
      expect(end).toMatch(/2500 tokens for a guest is used up or set aside.*tokensPerGuestDay/);
    }
  });

  test("of a guest is given back where nothing came of the request", async () => {
    const shares = { person: 90_000, place: 90_000, guest: 2_500 };
    const small = { shares, tokensPerDay: 10_000, maxOutputTokens: 20_000 };
    const stage = await staged({ talk: small });
    expect(await stage.answered(1, "test:gus")).toEqual([false]);
    expect(lastAnswer(stage)).toMatch(/budgets\.tokensPerDay/);
    const wide = await staged({
      talk: { ...small, tokensPerDay: 100_000 },
      journal: stage.journal,
    });
    await ask(wide, "test:wide", "test:gus");
    await wide.worker.work("test:wide");
    expect(await endIn(wide, "test:wide")).toBe("Fine.");
  });

  test("waits for a platform that does not say who asks; then it counts", async () => {
    const chat = createChat({ standings: STANDINGS });
    const { people } = chat.adapter;
    let isAway = true;
    const membership: typeof people.membership = async (account, key) => {
      if (isAway) throw new Error("away");
      return people.membership(account, key);
    };
    const adapter = { ...chat.adapter, people: { ...people, membership } };
    const clock = { now: 1_000_000 };
    const stage = await staged({ chat, adapter, now: () => clock.now });
    await stage.ask("what of it?");
    expect(stage.model.requests).toHaveLength(0);
    isAway = false;
    clock.now += 60_000;
    await stage.settle();
    expect(lastAnswer(stage)).toBe("Fine.");
  });
});

describe("a place's share", () => {
  test("used up in one channel leaves the others theirs", async () => {
    const shares = { person: 100_000, place: 1_500, guest: 0 };
    const chat = createChat({ standings: STANDINGS });
    const channel = async (key: string) => (key === "test:web1" ? "test:web" : "test:ops");
    const adapter = { ...chat.adapter, channel };
    const stage = await staged({ chat, adapter, talk: { shares } });
    expect(await stage.answered(3, "test:ana")).toEqual([true, true, false]);
    expect(await stage.answered(1, "test:bob")).toEqual([false]);
    expect(lastAnswer(stage)).toMatch(/1500 tokens for this channel.*tokensPerPlaceDay/);
    await ask(stage, "test:web1", "test:bob");
    await stage.worker.work("test:web1");
    expect(lastAnswer(stage)).toBe("Fine.");
  });

  test("of nothing is given to guests who are to have none, and refused before the model is asked", async () => {
    const stage = await staged({ talk: { shares: { person: 9_000, place: 9_000, guest: 0 } } });
    expect(await stage.answered(1, "test:gus")).toEqual([false]);
    expect(stage.model.requests).toHaveLength(0);
  });
});

test("where one person sits there are no shares", async () => {
  const shares = { person: 1, place: 1, guest: 1 };
  const terminal = createChat({ standings: STANDINGS, singleOperator: true });
  const alone = await staged({ chat: terminal, talk: { shares } });
  expect(await alone.answered(3, "test:ana")).toEqual([true, true, true]);
  const told = await staged({ approvals: { singleOperator: true }, talk: { shares } });
  expect(await told.answered(3, "test:ana")).toEqual([true, true, true]);
});
