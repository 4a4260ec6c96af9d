import { expect, test, vi } from "vitest";
import { createBus, SILENT } from "../../src/events/bus.ts";
import type { BotEvent } from "../../src/events/event.ts";

const asked = (step: number): BotEvent => ({
  kind: "model_asked",
  key: "slack:T1:C1:1",
  run: "r1",
  step,
});
const stepsOf = (events: readonly BotEvent[]) =>
  events.map((event) => (event.kind === "model_asked" ? event.step : 0));

test("each subscriber gets each event, in order, in a later turn of the loop", async () => {
  const bus = createBus();
  const [one, two]: BotEvent[][] = [[], []];
  bus.subscribe("one", (event) => one?.push(event));
  bus.subscribe("two", (event) => two?.push(event));
  for (const step of [1, 2, 3]) bus.publish(asked(step));
  expect(one).toEqual([]);
  await vi.waitFor(() => expect(stepsOf(two ?? [])).toEqual([1, 2, 3]));
  expect(one).toEqual(two);
});

test("who is behind loses the oldest and is told how many; the others lose nothing", () => {
  const bus = createBus();
  const [slow, quick]: BotEvent[][] = [[], []];
  const behind = bus.subscribe("slow", (event) => slow?.push(event), { capacity: 3 });
  bus.subscribe("quick", (event) => quick?.push(event));
  for (let step = 1; step <= 10; step += 1) bus.publish(asked(step));
  bus.flush();
  expect(stepsOf(slow ?? [])).toEqual([8, 9, 10]);
  expect(behind.dropped).toBe(7);
  expect(stepsOf(quick ?? [])).toHaveLength(10);
  expect(bus.dropped()).toEqual(
    new Map([
      ["slow", 7],
      ["quick", 0],
    ]),
  );
});

test("64 events wait for a subscriber that asks for no other number", () => {
  const bus = createBus();
  const got: BotEvent[] = [];
  const subscription = bus.subscribe("one", (event) => got.push(event));
  for (let step = 1; step <= 100; step += 1) bus.publish(asked(step));
  bus.flush();
  expect([got.length, subscription.dropped]).toEqual([64, 36]);
});

test("a subscriber that throws is told of, and nobody else misses anything", () => {
  const faults: [string, unknown][] = [];
  const bus = createBus((name, error) => faults.push([name, error]));
  const got: BotEvent[] = [];
  const fault = new Error("no");
  bus.subscribe("bad", () => {
    throw fault;
  });
  bus.subscribe("good", (event) => got.push(event));
  bus.publish(asked(1));
  bus.publish(asked(2));
  bus.flush();
  expect(faults).toEqual([
    ["bad", fault],
    ["bad", fault],
  ]);
  expect(stepsOf(got)).toEqual([1, 2]);
});

test("what a subscriber publishes comes after what waits, and a closed one gets nothing", () => {
  const bus = createBus();
  const got: BotEvent[] = [];
  const echo = bus.subscribe("echo", (event) => {
    if (event.kind === "model_asked" && event.step < 3) bus.publish(asked(event.step + 10));
  });
  bus.subscribe("all", (event) => got.push(event));
  bus.publish(asked(1));
  bus.publish(asked(2));
  bus.flush();
  expect(stepsOf(got)).toEqual([1, 2, 11, 12]);
  echo.close();
  bus.publish(asked(1));
  bus.flush();
  expect(stepsOf(got)).toEqual([1, 2, 11, 12, 1]);
});

test("without subscribers nothing is kept", () => {
  const bus = createBus();
  bus.publish(asked(1));
  SILENT.publish(asked(1));
  const got: BotEvent[] = [];
  bus.subscribe("late", (event) => got.push(event));
  bus.flush();
  expect(got).toEqual([]);
});
