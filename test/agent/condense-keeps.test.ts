import { expect, test } from "vitest";
import { HELPER_PROMPT } from "../../src/agent/prompt.ts";
import { ModelError } from "../../src/models/model.ts";
import { delegate } from "../../src/tools/delegate/delegate.ts";
import { countingModel } from "../fakes/counting-model.ts";
import { isHelpers, helper, HELPERS } from "./helping.ts";
import { investigating, looking } from "./investigating.ts";
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
