import { expect, onTestFinished, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { encodeDraft } from "../../src/core/entry-codec.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { ANSWER, call, ofKind } from "../agent/talking.ts";
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

/** The verbs that a run of so many steps asks of its store, a read by each but the last, and the entries that it leaves. */
async function runOf(reads: number, journal = openMemoryJournal()) {
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
  const entries = await stage.entries();
  await journal.close();
  return { asked, entries };
}

const verbsOf = async (...given: Parameters<typeof runOf>) => (await runOf(...given)).asked;

/** What a row has of an entry besides its numbers and its head. */
function bytesOf({ seq: _seq, at: _at, head: _head, ...draft }: Entry): number {
  const { stored, kind, body } = encodeDraft(draft, "tuple");
  return Buffer.byteLength(stored + kind + body);
}

test("a step of one read asks at most two verbs of the store: the model's turn, and the read with its end", async () => {
  const verbs = await verbsOf(30);
  // The run's beginning, its answer and its end are appends too.
  const appends = verbs.filter((verb) => verb === "append").length;
  expect(appends).toBeLessThanOrEqual(2 * 30 + 4);
  // Its tokens are set aside now and then.
  expect(verbs.length).toBeLessThan(3 * 30);
});

test("it leaves two entries, of few bytes beside the result's own", async () => {
  const { entries } = await runOf(30);
  const turn = ofKind(entries, "assistant").at(-2);
  const read = ofKind(entries, "tool_finished").at(-1);
  if (turn === undefined || read === undefined) throw new Error("nothing was read");
  const bytes = bytesOf({ ...turn, ms: 0 }) + bytesOf({ ...read, ms: 0, text: "" });
  expect(bytes).toBeLessThanOrEqual(130);
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
