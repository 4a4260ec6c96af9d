import { describe, expect, test } from "vitest";
import { createTools } from "../../src/tools/registry.ts";
import { ANSWER, call } from "../agent/talking.ts";
import { createChat } from "../fakes/chat.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { createStage, fakeTool } from "../fakes/stage.ts";

test("a tool with limits is called so often in a run, and so often an hour for a person", async () => {
  const knock = fakeTool({ name: "knock", limits: { perRun: 3, perPersonHour: 5 } });
  const turn = {
    calls: [call("knock", "a"), call("knock", "b"), call("knock", "c"), call("knock", "d")],
  };
  let now = Date.UTC(2026, 10, 22, 12, 0, 0);
  const stage = await createStage({
    tools: [knock],
    model: scriptedModel([turn, ANSWER]),
    now: () => now,
  });
  const ask = async (text: string, account?: string) => {
    await stage.say(text, account);
    await stage.settle();
    const finished = (await stage.entries()).findLast(({ kind }) => kind === "tool_finished");
    return finished?.kind === "tool_finished" ? finished.text : "";
  };
  await ask("knock everywhere");
  expect(knock.runs.toSorted()).toEqual(["a", "b", "c"]);
  expect(await stage.entries()).toContainEqual(
    expect.objectContaining({
      text: "One run may call knock 3 times at most, so this call was not made.",
    }),
  );
  expect(await ask("run knock name=e")).toBe("did e");
  expect(await ask("run knock name=f")).toBe("did f");
  expect(await ask("run knock name=g")).toMatch(
    /^One person may have knock called 5 times an hour/,
  );
  expect(await ask("run knock name=h", "test:bob")).toBe("did h");
  now += 3_600_000;
  expect(await ask("run knock name=i")).toBe("did i");
  expect(knock.runs).toHaveLength(7);
});

describe("an hour's calls", () => {
  const LIMITS = { perRun: 20, perPersonHour: 2 };
  const now = () => Date.UTC(2026, 10, 22, 12, 0, 0);

  test("are one person's, with whichever account", async () => {
    const knock = fakeTool({ name: "knock", limits: LIMITS });
    const people = [{ name: "Ana", accounts: ["test:ana", "test:bob"] }];
    const stage = await createStage({ tools: [knock], people, now });
    for (const [name, account] of [
      ["a", "test:ana"],
      ["b", "test:bob"],
      ["c", "test:ana"],
      ["d", "test:cy"],
    ] as const) {
      await stage.say(`run knock name=${name}`, account);
      await stage.settle();
    }
    expect(knock.runs).toEqual(["a", "b", "d"]);
  });

  test("count one that waited for a look-up of people once, and one that was not made not at all", async () => {
    const clock = { now: now() };
    const knock = fakeTool({ name: "knock", effect: "write", limits: LIMITS });
    const chat = createChat();
    const { people } = chat.adapter;
    const { everyone } = people;
    const stage = await createStage({ tools: [knock], chat, now: () => clock.now });
    const ask = async (name: string) => {
      await stage.say(`run knock name=${name}`);
      await stage.settle();
    };
    let looks = 0;
    people.everyone = async () => {
      looks += 1;
      throw new Error("503");
    };
    await ask("a");
    for (let i = 0; i < 3; i += 1) {
      clock.now += 6_000;
      await stage.settle();
    }
    expect(looks).toBeGreaterThan(3);
    people.everyone = everyone;
    clock.now += 6_000;
    await stage.settle();
    expect(chat.cards()).toHaveLength(1);
    people.everyone = async () => ["test:ana"];
    await ask("b");
    expect(chat.cards()).toHaveLength(1);
    people.everyone = everyone;
    await ask("c");
    expect(chat.cards()).toHaveLength(2);
    await ask("d");
    expect(chat.cards()).toHaveLength(2);
  });
});

test.each(["tcp_check", "dns_lookup"])("%s has limits", async (name) => {
  const tool = (await createTools()).find((each) => each.name === name);
  expect(tool?.limits).toEqual({ perRun: 20, perPersonHour: 60 });
});
