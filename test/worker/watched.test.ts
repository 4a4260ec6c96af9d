import { expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import type { BotEvent } from "../../src/events/event.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, KEY, type Stage, type StageOptions } from "../fakes/stage.ts";

/** What whoever watches a worker hears besides its entries. */
async function watched(options: StageOptions): Promise<{ stage: Stage; heard: BotEvent[] }> {
  const stage = await createStage(options);
  const heard: BotEvent[] = [];
  const publish = (event: BotEvent) => {
    if (event.kind !== "written") heard.push(event);
  };
  Object.assign(stage.parts, { events: { publish } });
  return { stage, heard };
}

test("who watches hears of each lease that is taken, and which time it is without a release", async () => {
  const clock = { now: 1_000_000 };
  const { stage, heard } = await watched({ now: () => clock.now });
  await stage.say("status");
  await stage.journal.lease(KEY, 6_000);
  clock.now += 10_000;
  await stage.settle();
  expect(heard[0]).toEqual({ kind: "taken", key: KEY, attempts: 2 });
  await stage.say("status");
  await stage.settle();
  expect(heard.slice(1)).toContainEqual({ kind: "taken", key: KEY, attempts: 1 });
});

test.each([
  [new BotError("PLATFORM_REFUSED", "the channel is archived"), "PLATFORM_REFUSED"],
  [new TypeError("a fault of ours"), undefined],
] as const)("who watches hears that a delivery was refused: %s", async (error, code) => {
  let refusals = 1;
  const chat = createChat({
    refuse: () => {
      if (refusals-- > 0) throw error;
    },
  });
  const clock = { now: 1_000_000 };
  const { stage, heard } = await watched({ chat, now: () => clock.now });
  await stage.say("status");
  await stage.settle();
  expect(heard).toContainEqual({ kind: "refused", key: KEY, transport: "test", code });
});

test("who watches hears of a message that was shown twice", async () => {
  const clock = { now: 1_000_000 };
  const chat = createChat();
  const shared = { chat, now: () => clock.now };
  const { stage, heard } = await watched(shared);
  const other = await createStage({ ...shared, journal: stage.journal });
  const { append } = stage.journal;
  let isFirst = true;
  stage.journal.append = async (...asked) => {
    if (isFirst && asked[2].some(({ kind }) => kind === "delivered")) {
      isFirst = false;
      clock.now += 10_000;
      await other.settle();
    }
    return append(...asked);
  };
  await stage.say("status");
  await stage.settle();
  expect(heard).toContainEqual({ kind: "copied", key: KEY, transport: "test" });
  expect(chat.answers()).toHaveLength(1);
});
