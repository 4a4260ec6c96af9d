import { expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { JournalContext } from "../../src/worker/key-handler.ts";
import { createThreadHandler } from "../../src/worker/thread/thread-handler.ts";
import { progress } from "../../src/worker/thread/progress.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, KEY } from "../fakes/stage.ts";

test("a worker whose lease has run out shows no progress: another may have answered in that message", async () => {
  const stage = await createStage();
  await stage.say("help");
  const granted = await stage.journal.lease(KEY, 60_000);
  if (granted === undefined) throw new Error("no lease");
  const seen: unknown[] = [];
  const view = {
    ...stage.chat.adapter.view(KEY),
    progress: (update: unknown) => seen.push(update),
  };
  const handler = createThreadHandler(stage.parts, {
    ...stage.chat.adapter,
    view: () => view,
  } as never);
  const askedAt = performance.now() - 60_001;
  const ctx = new JournalContext(stage.parts, handler, granted, handler.empty(), askedAt);
  progress(Object.assign(ctx, handler.open(ctx)), "r1", { kind: "thinking", run: "r1", step: 1 });
  expect(seen).toEqual([]);
  await stage.journal.close();
});

test("while a platform cannot say who reads along, a tool is told so and not given another place", async () => {
  const chat = createChat();
  const away = new BotError("PLATFORM_UNREACHABLE", "away");
  const adapter = { ...chat.adapter, audience: async () => Promise.reject(away) };
  const ask = fakeTool({
    name: "ask",
    run: async (_, { asker }) => ({ text: `audience ${await asker?.audience()}` }),
  });
  const stage = await createStage({ tools: [ask], chat, adapter });
  await stage.say("run ask name=x");
  await stage.settle();
  expect(chat.answers().at(-1)?.results).toMatchObject([{ outcome: "error" }]);
  await stage.journal.close();
});

test("asking for an action of a thread does not make the thread known", async () => {
  const stage = await createStage();
  const queries = createQueries(stage.journal, [], (text) => text);
  expect(await queries.action("test:nowhere", "a1")).toBeUndefined();
  expect(await queries.isKnown("test:nowhere")).toBe(false);
  await stage.journal.close();
});

test("where people from elsewhere read along, nobody is shown what is public elsewhere", async () => {
  const seen = async (hasOutsiders: boolean) => {
    const chat = createChat();
    const adapter = { ...chat.adapter, hasOutsiders: async () => hasOutsiders };
    const ask = fakeTool({
      name: "ask",
      run: async (_, { asker }) => ({ text: `tenants ${JSON.stringify(await asker?.tenants())}` }),
    });
    const stage = await createStage({ tools: [ask], chat, adapter });
    await stage.say("run ask name=x");
    await stage.settle();
    await stage.journal.close();
    return JSON.stringify(chat.answers().at(-1)?.results);
  };
  expect(await seen(true)).toContain("tenants []");
  expect(await seen(false)).not.toContain("tenants []");
});
