import { expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import { createOutlook } from "../../src/adapters/shared/outlook.ts";
import { routed } from "../../src/app/mirrors.ts";
import type { Config } from "../../src/config/config.ts";
import { createQueries } from "../../src/queries/queries.ts";
import type { Choice } from "../../src/core/entry.ts";
import { type Chat, createChat } from "../fakes/chat.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { createStage, fakeTool, KEY, type Stage, type StageOptions } from "../fakes/stage.ts";

const VIEW = "other:place";
const SECOND = 1_000;

/** A thread in a chat with Ana and Bob that is shown in another with Dora; each can be away. */
async function mirrored(
  before: (stage: Stage) => Promise<void> = async () => {},
  options: StageOptions = {},
) {
  const away = { here: false, there: false };
  const refusing = (where: keyof typeof away) => () => {
    if (away[where]) throw new Error("503");
  };
  const chat = createChat({
    finds: true,
    links: true,
    place: "#ops",
    refuse: refusing("here"),
  });
  const closed = { there: false };
  const there = createChat({
    transport: "other",
    place: "#ops",
    finds: true,
    links: true,
    refuse(what) {
      refusing("there")();
      if (closed.there && what === "card")
        throw new BotError("PLATFORM_REFUSED", "It is archived.", { refused: "place" });
    },
    standings: { "other:dora": "member" },
  });
  const { people } = there.adapter;
  const { membership, everyone } = people;
  people.membership = async (...asked) => {
    refusing("there")();
    return membership(...asked);
  };
  people.everyone = async (key) => {
    refusing("there")();
    return everyone(key);
  };
  const clock = { now: 1_000_000 };
  const act = fakeTool({ name: "act", effect: "write" });
  const look = fakeTool({ name: "look" });
  const question = () => ({ text: "Which?", choices: ["one", "two"] });
  const tools = [act, look, fakeTool({ name: "ask", question })];
  const stage = await createStage({ tools, chat, other: there, now: () => clock.now, ...options });
  await stage.say("run look name=before");
  await before(stage);
  await stage.settle();
  const granted = await stage.journal.lease(KEY, 2_000);
  if (granted === undefined) throw new Error("not granted");
  const { last } = await stage.thread();
  await stage.journal.append(granted.lease, last, [
    { id: "view:x", kind: "view_added", view: VIEW, channel: "other:channel" },
  ]);
  await stage.journal.release(granted.lease, last + 1);
  await stage.settle();
  return {
    ...stage,
    act,
    there,
    away,
    closed,
    clock,
    async say(text: string, account?: string) {
      const id = await stage.say(text, account);
      await stage.settle();
      return id;
    },
    async press(choice: Choice, account: string, action = "a1") {
      await stage.click(action, choice, account);
      await stage.settle();
    },
    /** As when what was put off is due. */
    async later(ms = 6 * SECOND) {
      clock.now += ms;
      await stage.settle();
    },
  };
}

const incident = (last: number, status: "open" | "resolved") => ({
  id: `state:${last}`,
  kind: "incident_state" as const,
  incident: "inc1",
  last,
  title: "db",
  services: [],
  status,
  startedAt: 1,
  by: "ana",
  timeline: [],
});

/** What stands there of the thread's course, each in few words. */
const lines = ({ shown }: Chat) =>
  shown.map((item) => {
    if (item.kind === "quote") return `${item.said.name}: ${item.said.text}`;
    if (item.kind === "card") return `${item.card.action} ${item.card.phase}`;
    if (item.kind === "living") {
      const { kind, card } = item.living;
      return kind === "alerts" ? `${card.name} ${card.firing}` : `${card.id} ${card.status}`;
    }
    if (item.kind !== "say") return item.kind;
    const { message } = item;
    return message.kind === "notice"
      ? message.text
      : message.results.map(({ text }) => text).join();
  });

test("while one platform is away the other goes on, and then it is shown everything once, in order", async () => {
  const stage = await mirrored();
  const { chat, there, away, act } = stage;
  away.there = true;
  await stage.say("run look name=web");
  expect(lines(chat).at(-1)).toBe("did web");
  await stage.say("run act name=web");
  await stage.press({ kind: "approve" }, "test:bob");
  expect(act.runs).toEqual(["web"]);
  expect(chat.cards()[0]?.approvers).toBe("anyone in #ops on Test or #ops on Other");
  const shownHere = lines(chat).slice(1);
  expect(lines(there)).toEqual([]);
  away.there = false;
  away.here = true;
  await stage.later();
  expect(lines(there)).toEqual([
    "ana: run look name=web",
    "did web",
    "ana: run act name=web",
    ...shownHere.slice(1),
  ]);
  // The other way round: what is asked there is answered there, and here once it is back.
  await stage.say("run look name=db", "other:dora");
  expect(lines(there).at(-1)).toBe("did db");
  expect(lines(chat).slice(1)).toEqual(shownHere);
  away.here = false;
  await stage.later();
  await stage.later();
  expect(lines(chat).slice(1)).toEqual([...shownHere, "other:dora: run look name=db", "did db"]);
});

test.each([
  ["between the two deliveries", 0],
  ["when one is shown and not yet written down", 1],
])("a worker that is killed %s has both shown once by the next", async (_, unwritten) => {
  const stage = await mirrored();
  const { chat, there, journal, clock } = stage;
  const { append } = journal;
  let isKilled = false;
  journal.append = async (...asked) => {
    const isShown = asked[2].some(
      (draft) => draft.kind === "delivered" && draft.entry === "ended:r2",
    );
    if (isKilled || (isShown && unwritten > 0)) throw new Error("killed");
    isKilled = isShown;
    return append(...asked);
  };
  await expect(stage.say("run look name=web")).rejects.toThrow("killed");
  journal.append = append;
  clock.now += 5 * SECOND;
  await stage.settle();
  expect(lines(chat)).toEqual(["did before", "did web"]);
  expect(lines(there)).toEqual(["ana: run look name=web", "did web"]);
});

test("a question is answered, a run stopped and a card's form opened and sent from the other place", async () => {
  const stage = await mirrored();
  const { chat, there, act } = stage;
  await stage.say("run ask name=x");
  expect(lines(there)).toContain("Which?");
  await stage.press({ kind: "answer", text: "two" }, "other:dora", "r2.t1");
  expect(lines(chat).some((line) => line.includes("two"))).toBe(true);
  await stage.say("run act name=web", "other:dora");
  await stage.press({ kind: "edit", args: { name: "db" } }, "other:dora");
  for (const each of [chat, there])
    expect(each.cards().at(-1)).toMatchObject({ phase: "open", args: { name: "db" } });
  await stage.say("stop", "other:dora");
  for (const each of [chat, there]) expect(each.cards().at(-1)?.phase).not.toBe("open");
  expect(act.runs).toEqual([]);
});

test("what is edited or taken back in the other place is so here, and what was taken back before is not shown", async () => {
  const stage = await mirrored();
  const { chat, there, away } = stage;
  const actor = { account: "other:dora", name: "dora" };
  const said = await stage.say("it is web-1", "other:dora");
  await stage.post({ id: `${said}:edit:2`, kind: "edited", actor, of: said, text: "it is web-2" });
  await stage.settle();
  expect(lines(chat)).toContain("other:dora: it is web-2");
  await stage.post({ id: `${said}:removed`, kind: "removed", of: said });
  await stage.settle();
  expect(lines(chat).some((line) => line.includes("it is"))).toBe(false);
  away.there = true;
  const here = await stage.say("secret");
  await stage.post({ id: `${here}:removed`, kind: "removed", of: here });
  away.there = false;
  await stage.later();
  expect(lines(there).some((line) => line.includes("secret"))).toBe(false);
});

test("the other place's platform finds what waits, what was said and the incident there, by the place", async () => {
  const stage = await mirrored();
  const plain = createQueries(stage.journal, [], (text) => text);
  const inbox = { post: async () => {} };
  const platforms = ["slack", "discord"] as unknown as Config["platforms"];
  const { queries } = routed({ inbox, queries: plain }, { platforms }, stage.journal);
  await stage.say("run act name=web", "other:dora");
  await stage.post(incident(1, "open"));
  const lookOut = createOutlook({
    prefixes: ["other:"],
    tenants: async () => [],
    people: stage.there.adapter.people,
    isPublic: async () => false,
    queries: { ...queries, recent: async (prefix) => queries.recent(prefix, 0) },
    overview: { incidents: async () => [] },
  });
  const { cards } = await lookOut("other:dora");
  expect(cards.map(({ key, action }) => [key, action])).toEqual([[VIEW, "a1"]]);
  expect(await queries.incident(VIEW)).toMatchObject({ id: "inc1" });
  expect(await queries.isPosted(VIEW, "msg:2")).toBe(true);
  expect(await queries.isPosted(VIEW, "msg:9")).toBe(false);
});

test("an incident's card stands in both places and follows it in both", async () => {
  const stage = await mirrored();
  const { chat, there } = stage;
  await stage.post(incident(1, "open"));
  await stage.settle();
  await stage.post(incident(2, "resolved"));
  await stage.settle();
  for (const each of [chat, there])
    expect(lines(each).filter((line) => line.startsWith("inc1"))).toEqual(["inc1 resolved"]);
  const shown = (await stage.entries()).flatMap((entry) =>
    entry.kind === "delivered" && entry.entry.startsWith("inc1") ? [entry.view] : [],
  );
  expect(new Set(shown)).toEqual(new Set(["main", VIEW]));
});

test("an incident that was over before is the past there, until it is opened again", async () => {
  const stage = await mirrored(async ({ post }) => post(incident(1, "resolved")));
  const { chat, there } = stage;
  const cards = (each: Chat) => lines(each).filter((line) => line.startsWith("inc1"));
  expect([cards(chat), cards(there)]).toEqual([["inc1 resolved"], []]);
  await stage.post(incident(2, "open"));
  await stage.settle();
  expect([cards(chat), cards(there)]).toEqual([["inc1 open"], ["inc1 open"]]);
});

test("what expired is asked again from the other place, and both cards say so in both", async () => {
  const stage = await mirrored();
  const { chat, there, act } = stage;
  await stage.say("run act name=web");
  await stage.later(25 * 60 * 60 * SECOND);
  await stage.press({ kind: "repeat" }, "other:dora");
  for (const each of [chat, there])
    expect(each.cards()).toMatchObject([
      { action: "a1", phase: "expired", repeat: { state: "asked" } },
      { action: "a2", phase: "open" },
    ]);
  await stage.press({ kind: "approve" }, "test:bob", "a2");
  expect(act.runs).toEqual(["web"]);
  for (const each of [chat, there]) expect(each.cards().at(-1)).toMatchObject({ phase: "done" });
});

test("a long thread has one summary in each place, which leads to its own newest answer", async () => {
  const answers = Array.from({ length: 5 }, () => ({ text: "INCONCLUSIVE: nothing is known." }));
  const stage = await mirrored(undefined, { model: scriptedModel(answers) });
  for (const name of ["a", "b", "c", "d"]) await stage.say(`why is ${name} slow?`, "other:dora");
  await stage.later(2 * 60 * SECOND);
  await stage.say("why is e slow?");
  await stage.later(2 * 60 * SECOND);
  for (const [each, host] of [
    [stage.chat, "https://test/"],
    [stage.there, "https://other/"],
  ] as const) {
    const summaries = each.notices().filter(({ text }) => text.includes(host));
    expect(summaries).toHaveLength(1);
    const newest = each.shown.findLast(
      (item) => item.kind === "say" && item.message.kind === "answer",
    );
    expect(summaries[0]?.text).toContain(`${host}${newest?.ref}`);
  }
});

test("a card that the other place refuses is told to the operations channel, and decided where it is shown", async () => {
  const stage = await mirrored(undefined, { ops: "other:ops" });
  const { chat, there, act, closed } = stage;
  closed.there = true;
  await stage.say("run act name=web");
  const told = (await stage.journal.read("ops:other:ops")).flatMap((entry) =>
    entry.kind === "alarm" ? [entry.text] : [],
  );
  expect(told).toEqual([expect.stringContaining("the card of a1")]);
  expect([chat.cards().length, there.cards().length]).toEqual([1, 0]);
  // Who has not seen it does not approve it.
  await stage.say("approve a1", "other:dora");
  expect(act.runs).toEqual([]);
  await stage.press({ kind: "approve" }, "test:bob");
  expect(act.runs).toEqual(["web"]);
  expect(lines(there).at(-1)).toBe("did web");
});
