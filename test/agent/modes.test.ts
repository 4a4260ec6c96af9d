import { describe, expect, test } from "vitest";
import { CHAT_PROMPT, HELPER_PROMPT, SYSTEM_PROMPT } from "../../src/agent/prompt.ts";
import { BotError } from "../../src/core/errors.ts";
import { hashTerms, type RunTerms } from "../../src/core/run-terms.ts";
import { STAY_SILENT_SPEC, UPDATE_PLAN_SPEC, USE_TOOL_SPEC } from "../../src/core/tool-spec.ts";
import { termsFor } from "../../src/thread/modes.ts";
import { createChat } from "../fakes/chat.ts";
import { call, lastAnswer, ofKind, talking } from "./talking.ts";

const tool = (name: string) => ({ name, description: name, schema: {} });
const CHANNEL = "test:room";
const MAIN: RunTerms = hashTerms({
  model: "test/one",
  system: SYSTEM_PROMPT,
  tools: [
    ...["look", "act", "ask_user", "delegate", "find_tools"].map(tool),
    STAY_SILENT_SPEC,
    UPDATE_PLAN_SPEC,
    USE_TOOL_SPEC,
  ],
  foundTools: ["far"],
  budget: { steps: 30, tokens: 400_000, minutes: 15 },
  maxOutputTokens: 1_000,
  tokensPerDay: 5_000_000,
  contextWindow: 100_000,
  modes: {
    helper: { system: HELPER_PROMPT, depth: 2, perRun: 8 },
    triage: { tools: ["look"] },
    chat: { system: CHAT_PROMPT, channels: [CHANNEL] },
  },
});
const namesIn = (terms: RunTerms | undefined) => [
  ...(terms?.tools.map(({ name }) => name) ?? []),
  ...(terms?.foundTools ?? []),
];

describe("one core in four modes", () => {
  test("the main run has everything", () => {
    expect(termsFor(MAIN, { kind: "main" })).toBe(MAIN);
  });

  test("a helper has all tools but those that talk to people, and may ask for helpers until it is too deep", () => {
    const first = termsFor(MAIN, { kind: "helper", tools: undefined, depth: 1 });
    expect(namesIn(first)).toEqual(["look", "act", "delegate", "find_tools", "use_tool", "far"]);
    expect(first).toMatchObject({ system: HELPER_PROMPT, gates: { on: ["stuck", "phases"] } });
    const second = first && termsFor(first, { kind: "helper", tools: undefined, depth: 2 });
    expect(namesIn(second)).toEqual(["look", "act", "find_tools", "use_tool", "far"]);
  });

  test("a helper that is given some tools has those alone, and the way to those that it has to find", () => {
    const some = (tools: string[]) => namesIn(termsFor(MAIN, { kind: "helper", tools, depth: 1 }));
    expect(some(["look"])).toEqual(["look"]);
    expect(some(["far"])).toEqual(["find_tools", "use_tool", "far"]);
    expect(some(["ask_user"])).toEqual([]);
  });

  test("a triage is held to no plan, as it has no tool to keep one with", () => {
    const planned = hashTerms({
      ...MAIN,
      gates: { on: ["planning", "evidence"], minRevisions: 2 },
    });
    expect(termsFor(planned, { kind: "triage" })?.gates?.on).toEqual(["evidence"]);
    expect(termsFor(planned, { kind: "main" })?.gates?.on).toEqual(["planning", "evidence"]);
  });

  test("a triage has the tools that read, a chat has none; both may stay silent", () => {
    const triage = termsFor(MAIN, { kind: "triage" });
    expect(namesIn(triage)).toEqual(["look", "stay_silent"]);
    expect(triage?.system).toBe(SYSTEM_PROMPT);
    const chat = termsFor(MAIN, { kind: "chat" });
    expect(namesIn(chat)).toEqual(["stay_silent"]);
    expect(chat?.system).toBe(CHAT_PROMPT);
  });

  test("the same terms always come to the same prefix, other modes to others, and what is not configured to none", () => {
    const modes = [
      { kind: "main" },
      { kind: "helper", tools: undefined, depth: 1 },
      { kind: "triage" },
      { kind: "chat" },
    ] as const;
    const prefixes = modes.map((mode) => termsFor(MAIN, mode)?.prefix);
    expect(new Set(prefixes).size).toBe(4);
    expect(modes.map((mode) => termsFor(MAIN, mode)?.prefix)).toEqual(prefixes);
    const { modes: _, ...plain } = MAIN;
    expect(modes.map((mode) => termsFor(plain, mode)?.prefix)).toEqual([
      MAIN.prefix,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

const CHATS = { modes: { chat: { system: CHAT_PROMPT, channels: [CHANNEL] } } };

/** A chat whose thread is in that channel. */
function inChannel(channel: () => Promise<string>) {
  const chat = createChat();
  return { chat: { ...chat, adapter: { ...chat.adapter, channel } } };
}

test("in a channel that only talks the model has no tools, its words need no call, and commands work as ever", async () => {
  const stage = await talking([{ calls: [call("look")] }, { text: "Look at its memory first." }], {
    ...inChannel(async () => CHANNEL),
    talk: CHATS,
  });
  await stage.ask("why is web slow?");
  const [first, second] = stage.model.requests;
  expect(first?.system).toBe(CHAT_PROMPT);
  expect(first?.tools).toEqual([]);
  expect(JSON.stringify(second?.turns.at(-1))).toContain("There is no tool look in this run.");
  expect(stage.look.runs).toEqual([]);
  expect(lastAnswer(stage)).toBe("Look at its memory first.");
  expect(stage.chat.answers().at(-1)).not.toHaveProperty("changed");
  await stage.ask("run look name=web");
  expect(stage.look.runs).toEqual(["web"]);
});

test("elsewhere it has them, and while nobody can say which channel it is, what is said waits", async () => {
  let isAway = true;
  const stage = await talking([{ text: "INCONCLUSIVE: nothing." }], {
    ...inChannel(async () => {
      if (isAway) throw new BotError("PLATFORM_REFUSED", "It is away.", { retryAfterMs: 1 });
      return "test:other";
    }),
    talk: CHATS,
  });
  await stage.say("why is web slow?");
  const settled = stage.settle();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(stage.model.requests).toEqual([]);
  isAway = false;
  await settled;
  await stage.settle();
  expect(stage.model.requests[0]?.tools.map(({ name }) => name)).toEqual(["look", "act"]);
});

test("a run that an app's message begins has the tools of a triage, where that is configured", async () => {
  const stage = await talking([{ text: "INCONCLUSIVE: nothing." }], {
    talk: { modes: { triage: { tools: ["look"] } } },
  });
  const actor = { account: "test:pager", name: "pager" };
  await stage.post({ id: "msg:alert", kind: "message", actor, text: "web is down", app: true });
  await stage.settle();
  expect(stage.model.requests[0]?.tools.map(({ name }) => name)).toEqual(["look"]);
  expect(ofKind(await stage.entries(), "run_started")[0]?.talk?.mode).toBe("triage");
});
