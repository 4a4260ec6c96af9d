import { createBus } from "../src/events/bus.ts";
import type { BotEvent } from "../src/events/event.ts";
import type { Figure } from "./journal.ts";

const EVENTS = 1_000_000;
/** As a worker publishes them: some, and then the loop turns. */
const PER_TURN = 32;

/** What an event costs with three who watch, one of whom is behind all the time: CPU of publishing and delivering. */
export function busFigure(): Figure {
  const bus = createBus();
  let delivered = 0;
  for (const name of ["log", "metrics"]) bus.subscribe(name, () => void (delivered += 1));
  const slow = bus.subscribe("slow", () => {}, { capacity: 8 });
  const event: BotEvent = { kind: "model_asked", key: "slack:T1:C1:1", run: "r1", step: 1 };
  const before = process.cpuUsage();
  for (let i = 0; i < EVENTS; i += 1) {
    bus.publish(event);
    if (i % PER_TURN === PER_TURN - 1) bus.flush();
  }
  bus.flush();
  const { user, system } = process.cpuUsage(before);
  const perEvent = ((user + system) / EVENTS).toFixed(2);
  return {
    name: "events: CPU per event, three who watch (aim ≤ 1 µs)",
    value: `${perEvent} µs; ${delivered} delivered, ${slow.dropped} dropped and counted`,
  };
}
