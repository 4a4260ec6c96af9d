import { expect, onTestFinished, test } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { ANSWER, call } from "../agent/talking.ts";
import { openRedisJournal } from "../../src/journal/redis/journal.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { createStage, fakeTool } from "../fakes/stage.ts";

/** The journal, with a note of each verb that it is asked. */
function counting(journal: Journal, asked: string[]): Journal {
  return new Proxy(journal, {
    get(target, verb: keyof Journal) {
      const work: unknown = target[verb];
      if (typeof work !== "function") return work;
      return (...given: unknown[]) => {
        // The lease is renewed by the clock, whatever is done.
        if (verb !== "renew") asked.push(verb);
        return Reflect.apply(work, target, given);
      };
    },
  });
}

/** The verbs that a run of so many steps asks of its store, a read by each but the last. */
async function verbsOf(reads: number, journal = openMemoryJournal()): Promise<string[]> {
  const asked: string[] = [];
  const look = fakeTool({ name: "look" });
  const turns = Array.from({ length: reads }, (_, i) => {
    const name = String.fromCharCode(97 + Math.floor(i / 26), 97 + (i % 26));
    return { calls: [call("look", name)] };
  });
  const stage = await createStage({
    journal: counting(journal, asked),
    tools: [look],
    model: scriptedModel([...turns, ANSWER]),
    talk: { tokensPerDay: 1e9, budget: { steps: 100, tokens: 1e9, minutes: 60 } },
  });
  await stage.say("look at all of them");
  await stage.settle();
  expect(look.runs).toHaveLength(reads);
  expect(stage.chat.answers()).toMatchObject([{ status: "completed" }]);
  await journal.close();
  return asked;
}

test("a step of one read asks at most two verbs of the store: the model's turn, and the read with its end", async () => {
  const [some, more] = [await verbsOf(20), await verbsOf(30)];
  const appends = (verbs: string[]) => verbs.filter((verb) => verb === "append").length;
  expect(appends(more) - appends(some)).toBeLessThanOrEqual(2 * 10);
  // Its tokens are set aside now and then.
  expect(more.length - some.length).toBeLessThan(3 * 10);
});

test("on Redis such a step is two scripts", async () => {
  const server = await RedisServer.start();
  onTestFinished(() => server.stop());
  const secret = "a secret of the tests, 32 long or more";
  const scriptsOf = async (reads: number) => {
    server.cli("CONFIG", "RESETSTAT");
    await verbsOf(reads, await openRedisJournal({ address: server.address, secret }));
    const told = /^cmdstat_evalsha:calls=(\d+)/m.exec(server.cli("INFO", "commandstats"));
    server.cli("FLUSHALL");
    return Number(told?.[1]);
  };
  const [some, more] = [await scriptsOf(20), await scriptsOf(30)];
  // The lease is renewed by the clock, on a busy machine oftener than once.
  expect(more - some).toBeLessThan(3 * 10);
});

test("a run sets tokens aside for as many requests as it has made, and books what it used of all of them", async () => {
  const verbs = await verbsOf(30);
  const reserved = verbs.filter((verb) => verb === "reserve").length;
  expect(reserved).toBeLessThanOrEqual(5);
  expect(verbs.filter((verb) => verb === "commitReservation")).toHaveLength(reserved);
});

test("a read that takes longer is written down as begun while it runs", async () => {
  const { promise: seen, resolve: see } = Promise.withResolvers<{ text: string }>();
  const slow = fakeTool({ name: "slow", run: () => seen });
  const stage = await createStage({ tools: [slow] });
  await stage.say("run slow name=web");
  const settled = stage.settle();
  await expect.poll(() => stage.kinds()).toContain("tool_started");
  expect(await stage.kinds()).not.toContain("tool_finished");
  see({ text: "seen" });
  await settled;
  const kinds = await stage.kinds();
  expect(kinds.filter((kind) => kind === "tool_started")).toHaveLength(1);
  expect(kinds.filter((kind) => kind === "tool_finished")).toHaveLength(1);
});
