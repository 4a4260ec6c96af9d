import * as z from "zod";
import type { Entry } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { createStage, type StageOptions } from "./stage.ts";

/** A dial that can be turned and turned back, as long as nobody else has turned it since. */
export function dial(level = 2) {
  const world = { level, turns: [] as number[] };
  const input = z.strictObject({
    level: z.coerce.number(),
    from: z.number().optional().meta({ internal: true }),
  });
  type Input = z.infer<typeof input>;
  const tool: Tool<Input> = {
    name: "turn",
    description: "Turns the dial.",
    input,
    effect: "write",
    timeoutMs: 5_000,
    pin: async (given) => ({ ...given, from: given.from ?? world.level }),
    async precheck({ from }) {
      if (from === world.level) return;
      throw new BotError(
        "PRECHECK_FAILED",
        `The dial is at ${world.level} by now, not at ${from}.`,
      );
    },
    preview: async ({ level: to, from }) => ({
      lines: [{ label: "Dial", value: `${from} → ${to}` }],
      blastRadius: "the dial",
      undo: "Turns it back.",
    }),
    async run({ level: to, from = 0 }) {
      world.turns.push(to);
      world.level = to;
      return { text: `at ${to}`, undo: { tool: "turn", args: { level: from, from: to } } };
    },
  };
  return { world, tool: tool as Tool };
}

/** Ana has had the dial turned from 2 to 5, and Bob approved it. */
export async function turned(options: StageOptions = {}) {
  const { world, tool } = dial();
  const clock = { now: 1_000_000 };
  const stage = await createStage({ tools: [tool], now: () => clock.now, ...options });
  await stage.say("run turn level=5");
  await stage.settle();
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await stage.settle();
  const undo = (account: string, action = "a1") => stage.click(action, { kind: "undo" }, account);
  const started = async () =>
    (await stage.entries()).filter(
      (entry): entry is Entry<"run_started"> => entry.kind === "run_started",
    );
  return { ...stage, tool, world, clock, undo, started };
}

/** How its card stands in the chat. */
export const card = ({ chat }: Pick<Awaited<ReturnType<typeof turned>>, "chat">, action: string) =>
  chat.cards().find((each) => each.action === action);
