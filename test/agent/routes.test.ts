import { expect, test } from "vitest";
import { withRoutes } from "../../src/app/thread-places.ts";
import { createRoutes } from "../../src/core/routes.ts";
import { createModels } from "../../src/models/chain.ts";
import { createEmbedding } from "../../src/memory/embedding.ts";
import type { MemoryIndex } from "../../src/memory/index-port.ts";
import type { Model } from "../../src/models/model.ts";
import { createChat } from "../fakes/chat.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";
import { lastAnswer } from "./talking.ts";

const USUAL = "cloud/usual";
const LOCAL = "local/own";
const well = {
  outage: () => undefined,
  answered: () => {},
  failed: () => {},
  look: async () => {},
};

/** A thread of a place with this route, and two models of which the usual one has another behind it. */
async function place(
  route: string | undefined,
  local: Model,
  usual: Model,
  more: StageOptions = {},
) {
  let now = route;
  const routeOf = () => now;
  const byId = new Map([local, usual].map((model) => [model.id, model]));
  const models = createModels({
    chain: [USUAL, "cloud/behind"],
    health: well,
    routeOf,
    load: async (id) => byId.get(id) ?? Promise.reject(new Error(`${id} was asked`)),
  });
  const stage = await createStage({ model: usual, models, ...more });
  stage.parts.routeOf = routeOf;
  return Object.assign(stage, { reroute: (to: string) => (now = to) });
}

const says = (id: string, ...texts: string[]) =>
  scriptedModel(
    texts.map((text) => ({ text })),
    id,
  );

test("nothing from a place without a model reaches one, whatever is said there", async () => {
  const [local, usual] = [says(LOCAL), says(USUAL)];
  const stage = await place("none", local, usual);
  for (const text of ["Is the shop up?", "model cloud/usual", "why is it slow?", "continue"]) {
    await stage.say(text);
    await stage.settle();
  }
  expect([local.requests, usual.requests]).toEqual([[], []]);
  expect(JSON.stringify(await stage.entries())).toContain("Nothing from here goes to a model");
});

test("a place's own model answers, and no other: neither one that people choose nor one behind", async () => {
  const failing: Model = {
    ...says(USUAL),
    generate: async () => Promise.reject(new Error("the usual model was asked")),
  };
  const local = says(LOCAL, "It is up.", "Still up.");
  const stage = await place(LOCAL, local, failing);
  await stage.say("Is the shop up?");
  await stage.settle();
  expect(lastAnswer(stage)).toContain("It is up.");
  await stage.say("model cloud/usual");
  await stage.settle();
  await stage.say("And now?");
  await stage.settle();
  expect(lastAnswer(stage)).toContain("Still up.");
  expect(local.left()).toBe(0);
  const begun = (await stage.entries()).flatMap((each) =>
    each.kind === "run_started" && each.talk ? [each.talk.model] : [],
  );
  expect(new Set(begun)).toEqual(new Set([LOCAL]));
});

test("a run that began before the place got its route is asked on by nobody", async () => {
  const look = fakeTool({ name: "look", effect: "read" });
  const usual = scriptedModel(
    [
      () => {
        stage.reroute("none");
        return { calls: [{ name: "look", args: { name: "web" } }] };
      },
    ],
    USUAL,
  );
  const stage = await place(undefined, says(LOCAL), usual, { tools: [look] });
  await stage.say("Is the shop up?");
  await stage.settle();
  expect(usual.requests).toHaveLength(1);
  const ends = (await stage.entries()).filter(({ kind }) => kind === "run_ended");
  expect(JSON.stringify(ends)).toContain("Nothing from here goes to a model");
});

test("a place's own model is asked also in a run that switched before", async () => {
  const models = createModels({
    chain: [USUAL, "cloud/behind"],
    health: well,
    routeOf: createRoutes([{ channels: "slack:T1:C7", model: LOCAL }]),
    load: async (id) => says(id, id),
  });
  const signal = new AbortController().signal;
  const request = {
    system: "",
    tools: [],
    turns: [],
    toolChoice: "auto",
    maxOutputTokens: 1,
  } as const;
  const ask = async (key: string) => {
    const asked = { own: USUAL, newest: "cloud/behind", requestTokens: 1, places: [key] };
    return (await models.generate(request, asked, { signal })).model;
  };
  expect(await ask("slack:T1:C7:1.1")).toBe(LOCAL);
  expect(await ask("slack:T1:C8:1.1")).toBe("cloud/behind");
});

test("what was remembered in such a place, and what is asked there, gets no vectors; all else does", async () => {
  const items = Array.from({ length: 200 }, (_, i) => ({
    id: `m-${i}`,
    journal: "memory:slack:T1:2026-11",
    seq: i,
    item: JSON.stringify({
      thread: i < 150 ? "slack:T1:C7:1.1" : "slack:T1:C8:1.1",
      what: { kind: "note", by: { account: "a", name: "A" }, text: `note ${i}` },
    }),
  }));
  const left = new Set(items);
  const index = {
    unembedded: async (limit: number) => [...left].slice(0, limit),
    embed: async (made: readonly { id: string }[]) => {
      for (const item of items) if (made.some(({ id }) => id === item.id)) left.delete(item);
    },
  } as unknown as MemoryIndex;
  const sent: string[] = [];
  const embedder = {
    id: "cloud/vectors",
    embed: async (texts: readonly string[]) => {
      sent.push(...texts);
      return texts.map(() => Float32Array.of(1));
    },
  };
  const routeOf = createRoutes([{ channels: "slack:T1:C7", model: "none" }]);
  const maySend = (thread?: string) => thread !== undefined && routeOf([thread]) === undefined;
  const embedding = createEmbedding({ embedder, index, maySend });
  await embedding.items();
  expect(sent).toHaveLength(50);
  expect(left.size).toBe(150);
  expect(await embedding.question("why?", "slack:T1:C7:2.2")).toBeUndefined();
  expect(await embedding.question("why?", undefined)).toBeUndefined();
  expect(sent.filter((text) => text === "why?")).toEqual([]);
  expect(await embedding.question("why?", "slack:T1:C8:2.2")).toBeDefined();
});

test("a place with a route counts as private, so that no other place's model is shown what was recorded there", async () => {
  const { adapter } = createChat();
  const open = Object.create(adapter, {
    audience: { value: async () => undefined },
    channel: { value: async (key: string) => key.split(":").slice(0, 3).join(":") },
  }) as typeof adapter;
  const routed = withRoutes(open, createRoutes([{ channels: "slack:T1:C7", model: "none" }]));
  expect(await routed.audience("slack:T1:C7:1.1")).toBe("slack:T1:C7");
  expect(await routed.audience("slack:T1:C8:1.1")).toBeUndefined();
  expect(routed.transport).toBe(adapter.transport);
});
