import { expect, onTestFinished, test } from "vitest";
import type { Click } from "../../src/adapters/inbox.ts";
import type { Choice, Entry } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { digestStart } from "../../src/adapters/render/button-ids.ts";
import type { ModelResponse } from "../../src/models/model.ts";
import { createChat } from "../fakes/chat.ts";
import { openHost, type HostOptions } from "../fakes/host.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { fakeTool } from "../fakes/stage.ts";
import { until } from "../until.ts";

/** More than there are slots. */
const MANY = 200;

const threads = (name: string): JournalKey[] =>
  Array.from({ length: MANY }, (_, i): JournalKey => `test:${name}${i}`);

/** A whole process in which people write in many threads. Nothing is found by sweeping. */
async function open(options: HostOptions, chat = createChat()) {
  const host = await openHost(chat.adapter, { sweepMs: 60_000, ...options });
  onTestFinished(() => host.stop());
  let said = 0;
  const actor = { account: "test:ana", name: "ana" };
  const kindsIn = async (key: JournalKey) =>
    (await host.stage.journal.read(key)).map(({ kind }) => kind);
  return {
    ...host,
    chat,
    say: (key: JournalKey, text: string) =>
      host.inbox.post(key, `msg:${++said}`, { kind: "text", actor, text }),
    async click(key: JournalKey, choice: Choice) {
      const card = await host.queries.action(key, "a1");
      const click: Click = {
        kind: "click",
        action: "a1",
        revision: 1,
        choice,
        via: "button",
        digest: digestStart(card?.digest ?? ""),
      };
      await host.inbox.post(key, `click:${++said}`, { ...click, actor });
    },
    stop: (key: JournalKey) => host.inbox.post(key, `stop:${++said}`, { kind: "stop", actor }),
    /** Resolves when each of the threads has an entry of that kind. */
    async all(keys: readonly JournalKey[], kind: Entry["kind"]) {
      for (const key of keys) await until(async () => (await kindsIn(key)).includes(kind));
    },
    kindsIn,
  };
}

/** A model that never answers, but heeds a Stop. */
function hangingModel() {
  let asked = 0;
  const model = {
    ...scriptedModel([]),
    async generate(...[, { signal }]: Parameters<ReturnType<typeof scriptedModel>["generate"]>) {
      asked += 1;
      const { promise, reject } = Promise.withResolvers<ModelResponse>();
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    },
  };
  return { model, asked: () => asked };
}

test("while the model hangs in 200 threads, commands, approvals and Stop work in 200 others and in those", async () => {
  const { model, asked } = hangingModel();
  const act = fakeTool({ name: "act", effect: "write" });
  const look = fakeTool({ name: "look" });
  const { say, click, stop, all } = await open({ model, tools: [look, act] });
  const [hanging, others] = [threads("hangs"), threads("works")];
  for (const key of hanging) await say(key, "why is web slow?");
  await until(() => asked() === MANY);
  for (const key of others) await say(key, "run look name=web");
  await all(others, "run_ended");
  expect(look.runs).toHaveLength(MANY);
  for (const key of others) await say(key, "run act name=web");
  await all(others, "action_proposed");
  for (const key of others) await click(key, { kind: "approve" });
  await all(others, "tool_started");
  await until(() => act.runs.length === MANY);
  // Where it hangs a command is run all the same, and a Stop ends it.
  await say("test:hangs0", "run look name=db");
  await until(() => look.runs.includes("db"));
  for (const key of hanging) await stop(key);
  await all(hanging, "run_ended");
});

test("while a tool runs in 200 threads, a mention in the next one is answered, and each of them after it", async () => {
  const over = Promise.withResolvers<void>();
  const slow = fakeTool({
    name: "slow",
    timeoutMs: 600_000,
    async run() {
      await over.promise;
      return { text: "done" };
    },
  });
  const model = scriptedModel([{ text: "It is well." }]);
  const { say, all, chat } = await open({ model, tools: [slow] });
  const busy = threads("busy");
  for (const key of busy) await say(key, "run slow name=web");
  await until(() => slow.runs.length === MANY);
  await say("test:next", "is web well?");
  await until(() => chat.answers().length > 0);
  expect(chat.answers()).toMatchObject([{ text: expect.stringContaining("It is well.") }]);
  over.resolve();
  await all(busy, "run_ended");
});

test("deliveries that hang in 200 threads keep no other from its answer, and are delivered when the platform is back", async () => {
  const back = Promise.withResolvers<void>();
  const chat = createChat();
  const { view } = chat.adapter;
  let hanging = 0;
  chat.adapter.view = (key) => {
    const there = view(key);
    if (there === undefined || !key.startsWith("test:hangs")) return there;
    return {
      ...there,
      async post(...asked) {
        hanging += 1;
        await back.promise;
        return there.post(...asked);
      },
    };
  };
  const { say, all, kindsIn } = await open({}, chat);
  const owed = threads("hangs");
  for (const key of owed) await say(key, "help");
  await until(() => hanging === MANY);
  await say("test:next", "help");
  await all(["test:next"], "delivered");
  expect(await kindsIn("test:hangs0")).not.toContain("delivered");
  back.resolve();
  await all(owed, "delivered");
  expect(chat.answers()).toHaveLength(MANY + 1);
});
