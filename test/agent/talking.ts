import { expect } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type { GenerateOptions, ModelRequest, ToolResultBlock } from "../../src/models/model.ts";
import { type Line, type Saying, scriptedModel, silence } from "../fakes/scripted-model.ts";
import { createStage, fakeTool, type Stage, type StageOptions } from "../fakes/stage.ts";

/** An answer that passes: graded, and with a call that shows it. */
export const ANSWER = { text: "CONFIRMED: it is as seen in [T1]." };

/** A call of a fake tool on `target`. */
export function call(name: string, target = "web", id?: string) {
  return { name, args: { name: target }, ...(id !== undefined && { id }) };
}

/** A stage with a model that says the script, a tool `look` that reads and a tool `act` that writes. */
export async function talking(script: readonly Saying[], options: StageOptions = {}) {
  const model = scriptedModel(script);
  const look = fakeTool({ name: "look" });
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await createStage({ tools: [look, act], model, ...options });
  /** Says it and works until nothing is owed. */
  const ask = async (text: string, account?: string) => {
    await stage.say(text, account);
    await stage.settle();
  };
  return { ...stage, model, look, act, ask };
}

/** The results that a request gives of its newest turn of calls. */
export function resultsIn(request: ModelRequest | undefined): readonly ToolResultBlock[] {
  const turn = request?.turns.findLast(({ role }) => role === "tool");
  return turn?.role === "tool" ? turn.results : [];
}

/** Everything that people and the program said in a request, in order. */
export function wordsIn(request: ModelRequest | undefined): string[] {
  return (request?.turns ?? []).flatMap((turn) =>
    turn.role === "user"
      ? turn.content.flatMap((part) => (part.kind === "text" ? [part.text] : []))
      : [],
  );
}

export function rolesIn(request: ModelRequest | undefined): string[] {
  return (request?.turns ?? []).map(({ role }) => role);
}

export function ofKind<K extends Entry["kind"]>(entries: readonly Entry[], kind: K): Entry<K>[] {
  const isOne = (entry: { kind: string }): entry is Entry<K> => entry.kind === kind;
  return (entries as readonly { kind: string }[]).filter(isOne);
}

/** Each turn of calls is followed by one turn with one result per call, in the calls' order. */
export function expectPaired({ turns }: Pick<ModelRequest, "turns">): void {
  turns.forEach((turn, i) => {
    const next = turns[i + 1];
    if (turn.role === "tool") {
      expect(turns[i - 1]?.role).toBe("assistant");
      return;
    }
    if (turn.role !== "assistant") return;
    const ids = turn.content.flatMap((block) => (block.kind === "tool_use" ? [block.id] : []));
    const results = next?.role === "tool" ? next.results.map(({ id }) => id) : [];
    expect(results).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
}

/** The last answer in the chat. */
export function lastAnswer({ chat }: Pick<Stage, "chat">): string {
  return chat.answers().at(-1)?.text ?? "";
}

/** As a model that never comes to an end, also if it was stopped before it began. */
export async function silent(request: ModelRequest, options: GenerateOptions): Promise<Line> {
  if (options.signal.aborted) throw new BotError("ABORTED", "It was stopped.");
  return typeof silence === "function" ? silence(request, options) : silence;
}
