import * as z from "zod";
import { BotError } from "../../src/core/errors.ts";
import type { Publisher } from "../../src/events/bus.ts";
import { withWrapper, type Wrapper } from "../../src/tools/around.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";
import { ASKER } from "../fakes/asker.ts";
import { encoderOf } from "../fakes/encoder.ts";
import { noWorld } from "../fakes/tool-context.ts";

export const input = z.strictObject({ name: z.string() });
export type Input = z.infer<typeof input>;
export type Changes = Partial<Tool<Input>>;

/** A dispatcher with one tool, `act`, that does what the test says; its store is a map, its clock moves by hand. */
export function stage(
  changes: Changes,
  encoder = encoderOf((text) => text),
  events?: Publisher,
  wrapper?: Wrapper,
) {
  const clock = { now: 0 };
  const kept = new Map<string, Uint8Array>();
  const tool = defineTool<Input>({
    name: "act",
    description: "For tests.",
    input,
    effect: "read",
    timeoutMs: 5_000,
    run: async ({ name }) => ({ text: `did ${name}` }),
    ...changes,
  });
  const dispatcher = createDispatcher({
    host: "stage",
    tools: withWrapper([tool], wrapper),
    ...noWorld,
    encoder,
    ...(events && { events }),
    now: () => clock.now,
  });
  const { signal } = new AbortController();
  const options = {
    signal,
    startedAt: 0,
    asker: ASKER,
    async keep(bytes: Uint8Array) {
      const id = `k${kept.size + 1}`;
      kept.set(id, bytes);
      return { id, bytes: bytes.byteLength };
    },
    async artifact(id: string) {
      const bytes = kept.get(id);
      if (bytes === undefined) throw new BotError("ARTIFACT_UNKNOWN", `no ${id}`);
      return bytes;
    },
  };
  return {
    dispatcher,
    clock,
    kept,
    prepare: (name = "web") => dispatcher.prepare("act", { name }, signal),
    run: (name = "web", changed: Partial<typeof options> = {}) =>
      dispatcher.run("act", { name }, { ...options, ...changed }),
    /** As a worker does it: prepared, then run. */
    async call(name = "web") {
      const { args } = await dispatcher.prepare("act", { name }, signal);
      return dispatcher.run("act", args, options);
    },
  };
}
