import { expect, test } from "vitest";
import { HELPER_PROMPT } from "../../src/agent/prompt.ts";
import { ModelError } from "../../src/models/model.ts";
import { delegate } from "../../src/tools/delegate/delegate.ts";
import { countingModel } from "../fakes/counting-model.ts";
import { isHelpers, helper, HELPERS } from "./helping.ts";
import { investigating, looking } from "./investigating.ts";
import { BotError } from "../../src/core/errors.ts";
import { REMOVED, withoutRemoved } from "../../src/core/removed.ts";
import { fakeTool } from "../fakes/stage.ts";
import { ANSWER, call, ofKind, silent, wordsIn } from "./talking.ts";

test("Stop during the request for a summary ends the run", async () => {
  const model = countingModel(10_000, looking(30));
  const generate = model.generate.bind(model);
  const { promise: asked, resolve: began } = Promise.withResolvers<void>();
  model.generate = async (request, options) => {
    if (request.toolChoice !== "none") return generate(request, options);
    began();
    return silent(request, options) as never;
  };
  const stage = await investigating(model);
  await stage.say("why is web slow?");
  const done = stage.settle();
  await asked;
  await stage.say("stop");
  await done;
  await stage.settle();
  const entries = await stage.entries();
  expect(ofKind(entries, "run_ended").map(({ status }) => status)).toEqual(["cancelled"]);
  expect(ofKind(entries, "condensed")).toEqual([]);
});

test.each([
  ["the model's summary", undefined],
  ["the program's own list", "MODEL_OVERLOADED"],
] as const)("a helper keeps its task beside %s", async (_, failure) => {
  let looks = 0;
  let refusals = 0;
  const model = countingModel(
    10_000,
    (_n, request) => {
      if (!isHelpers(request)) {
        const isBack = request.turns.some(({ role }) => role === "tool");
        const [name, args] = helper("Look into web, never at db.");
        return isBack ? ANSWER : { calls: [{ name, args }] };
      }
      if (failure !== undefined && looks === 10 && refusals++ === 0)
        throw new ModelError("MODEL_CONTEXT_TOO_LONG", "context_length_exceeded");
      looks += 1;
      return looks <= 20 ? { calls: [call("look", `web-${looks}`)] } : { text: "It hangs [T2]." };
    },
    () => {
      if (failure !== undefined) throw new ModelError(failure, "It is overloaded.");
      return { text: "Goal\nSomething else." };
    },
  );
  const stage = await investigating(model, { more: [delegate], talk: { modes: HELPERS } });
  await stage.ask("what is wrong?");
  const made = ofKind(await stage.entries(), "condensed").filter(({ text }) => text !== undefined);
  expect(made.length).toBeGreaterThan(0);
  expect(made.every(({ why }) => (why === undefined) === (failure === undefined))).toBe(true);
  const last = model.requests.findLast(({ system }) => system === HELPER_PROMPT);
  const words = wordsIn(last);
  expect(words[0]).toContain("Context of previous work");
  expect(words.filter((text) => text.includes("Look into web, never at db."))).toHaveLength(1);
});

test("what people settled stays with its action when that is condensed, again and again", async () => {
  const act = fakeTool({
    name: "act",
    effect: "write",
    run: async () => {
      throw new BotError("TIMEOUT", "connection lost");
    },
  });
  const model = countingModel(12_000, (n) => {
    if (n === 1) return { calls: [call("act", "web")] };
    return n > 2 && n < 40 ? { calls: [call("look", `web-${n}`)] } : ANSWER;
  });
  const stage = await investigating(model, { more: [act] });
  await stage.ask("mend web");
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await stage.settle();
  await stage.ask("settle a1 happened because I looked", "test:bob");
  await stage.ask("go on");
  expect(model.summaries.length).toBeGreaterThan(1);
  const words = wordsIn(model.requests.at(-1));
  const action = words.findIndex((text) => text.startsWith("[a1, output]"));
  const settled = words.findIndex((text) => /bob settled T1: it happened/.test(text));
  expect(action).toBeGreaterThan(0);
  expect(settled).toBeGreaterThan(action);
});

test("no summary brings back the words of a message that was taken away", async () => {
  const model = countingModel(
    10_000,
    (n) => looking(20)(n),
    () => ({ text: "Goal\nAna wrote: HUNTER-TWO." }),
  );
  const stage = await investigating(model);
  await stage.ask("my password is HUNTER-TWO, why is web slow?");
  const [message] = ofKind(await stage.entries(), "message");
  await stage.post({ id: "rm1", kind: "removed", of: message?.id ?? "" });
  await stage.settle();
  await stage.ask("and db?");
  const words = wordsIn(model.requests.at(-1)).join("\n");
  expect(words).toContain("The summary of previous work is left out");
  expect(words).not.toContain("HUNTER-TWO");
  const shown = withoutRemoved(await stage.entries());
  expect(JSON.stringify(shown)).not.toContain("HUNTER-TWO");
  expect(shown.find(({ kind }) => kind === "condensed")).toMatchObject({ text: REMOVED });
});

test("a summary that comes back empty is asked for again only when the response would not fit", async () => {
  const model = countingModel(40_000, looking(80), () => ({ text: " " }));
  const stage = await investigating(model);
  await stage.ask("why is web slow?");
  const made = ofKind(await stage.entries(), "condensed");
  // Eighty results are about a window and a half.
  expect(made.length).toBeGreaterThan(1);
  expect(made.length).toBeLessThanOrEqual(4);
});
