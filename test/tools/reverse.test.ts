import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { JsonObject } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type { ReverseCall } from "../../src/core/tool-call.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";
import { ASKER } from "../fakes/asker.ts";
import { encoderOf } from "../fakes/encoder.ts";
import { noWorld } from "../fakes/tool-context.ts";

type Changes = Partial<Tool<{ name: string }>>;

const { signal } = new AbortController();

function stage(changes: Changes, encoder = encoderOf((text) => text)) {
  const tool = defineTool({
    name: "act",
    description: "For tests.",
    input: z.strictObject({ name: z.string() }),
    effect: "write",
    timeoutMs: 5_000,
    run: async ({ name }) => ({ text: `did ${name}` }),
    ...changes,
  });
  const dispatcher = createDispatcher({ host: "stage", tools: [tool], ...noWorld, encoder });
  const keep = async () => ({ id: "k1", bytes: 1 });
  const artifact = async () => new Uint8Array();
  const options = { signal, startedAt: 0, asker: ASKER, keep, artifact };
  return { dispatcher, run: () => dispatcher.run("act", { name: "web" }, options) };
}

describe("the call that takes another back", () => {
  const cycle: JsonObject = {};
  cycle["cycle"] = cycle;
  const back = (args: JsonObject) => ({ tool: "act", args });
  const leaving = (undo: ReverseCall, changes: Changes = {}): Changes => ({
    run: async () => ({ text: "did it", undo }),
    ...changes,
  });

  test("is kept as it is, of what is done and of nothing else", async () => {
    const undo = back({ name: "web", before: { replicas: [3, null] } });
    expect(await stage(leaving(undo)).run()).toMatchObject({ outcome: "ok", undo });
    const failing = leaving(undo, { run: async () => ({ text: "no", failed: true, undo }) });
    expect((await stage(failing).run()).undo).toBeUndefined();
    const cut = leaving(undo, {
      run: async () => {
        throw new BotError("TIMEOUT", "cut");
      },
    });
    expect(await stage(cut).run()).toMatchObject({ outcome: "unknown", undo: undefined });
  });

  test("may come from the read-back, where a result was lost too", async () => {
    const undo = back({ name: "web" });
    const seen = { verdict: "done", evidence: "it is", undo } as const;
    const { run, dispatcher } = stage({ verify: async () => seen });
    expect((await run()).undo).toEqual(undo);
    expect(await dispatcher.verify("act", { name: "web" }, 0, signal)).toMatchObject({ undo });
  });

  test.each([
    ["would hold a secret", { name: "web", before: { env: "hunter2-hunter2" } }],
    ["would hold a secret", { "hunter2-hunter2": 1 }],
    ["is too long for a card", { name: "x".repeat(4_000) }],
    ["cannot be written down", cycle],
  ])("that %s is not kept, and the result says so", async (why, args) => {
    const encoder = encoderOf((text) => text.replaceAll("hunter2-hunter2", "[secret:x]"));
    const { undo, text } = await stage(leaving(back(args)), encoder).run();
    expect(undo).toBeUndefined();
    expect(text).toBe(`did it\nNo undo: the call that takes it back ${why}.`);
  });
});
