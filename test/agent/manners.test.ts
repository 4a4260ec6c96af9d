import { describe, expect, test } from "vitest";
import type { Address, Entry } from "../../src/core/entry.ts";
import { hear, noteInRoom, Room } from "../../src/thread/addressed.ts";
import { toneOf } from "../../src/thread/tone.ts";
import { call, lastAnswer, ofKind, talking, wordsIn } from "./talking.ts";
import type { Saying } from "../fakes/scripted-model.ts";

const SILENCE = { calls: [{ name: "stay_silent", args: {} }] };
const MENTION: Address = { bot: true };
const to = (name: string): Address => ({ others: [{ account: `test:${name}`, at: "start" }] });

describe("what words alone say", () => {
  test.each([
    [
      "chatter",
      [
        "thanks",
        "Thank you so much!",
        "thx 🙏",
        "haha",
        "lol",
        "LMAO 😂",
        "🎉🎉",
        ":tada:",
        "danke",
        "merci beaucoup",
        "ありがとう",
        "thanks @Ana",
        "thanks ana",
        "nice work everyone",
        "<3",
        "👀",
        "🇪🇸",
      ],
    ],
    ["thanks", ["ok thanks", "great, thank you!", "cool :tada:"]],
    [
      "ack",
      ["ok", "+1", "👍", "👍🏽", ":thumbsup:", "got it", "sounds good", "LGTM", "makes sense, ok"],
    ],
    ["consent", ["yes", "yep, go ahead", "no", "sure", "do it please", "ok proceed"]],
    [
      "request",
      [
        "why?",
        "thanks restart",
        "is web-1 slow",
        "check the disk",
        "and what about db-2",
        "please restart it",
        "the bot is wrong",
        "it is 1.42 there, why does it fail",
        "本当？",
      ],
    ],
    [
      undefined,
      [
        "p99 is falling",
        "thanks, but it still fails",
        "ok 500 errors again",
        "rolling back now",
        "see https://a/?q=1",
        "🆘",
        "❓",
        "same error here, going for lunch",
        "it is fine on db-2",
        "👍 on web-1",
      ],
    ],
  ] as const)("%s", (tone, texts) => {
    expect(texts.map((text) => [text, toneOf(text)])).toEqual(texts.map((text) => [text, tone]));
  });
});

/** A thread in which each line says by whom it is, and what it should be: `ana: text`. */
function heardIn(lines: readonly (readonly [who: string, text: string, address?: Address])[]) {
  const room = new Room();
  return lines.map(([who, text, address = {}], i) => {
    const seq = i + 1;
    if (who === "bot") {
      const answers = [...room.posts.keys()];
      noteInRoom(room, {
        kind: "run_started",
        run: `r${seq}`,
        answers,
        seq,
      } as unknown as Entry<"run_started">);
      noteInRoom(room, {
        kind: "run_ended",
        run: `r${seq}`,
        status: "completed",
        text,
        seq,
      } as unknown as Entry<"run_ended">);
      return "";
    }
    const tone = toneOf(text);
    const actor = { account: `test:${who}`, name: who };
    return hear(room, {
      kind: "message",
      id: `m${seq}`,
      seq,
      at: seq * 1_000,
      actor,
      text,
      address,
      ...(tone && { tone }),
    });
  });
}

describe("whom a line is for", () => {
  test.each<[string, Parameters<typeof heardIn>[0], string[]]>([
    [
      "one person is answered, also without a mention, but not thanked back",
      [
        ["ana", "is web well?", MENTION],
        ["bot", "It is."],
        ["ana", "and db"],
        ["ana", "p99 looks odd"],
        ["ana", "thanks!"],
        ["ana", "ok"],
      ],
      ["answer", "", "answer", "answer", "silent", "silent"],
    ],
    [
      "a second person's line without a mention is the model's to judge",
      [
        ["ana", "is web well?", MENTION],
        ["bot", "It is."],
        ["bob", "and db?"],
        ["bob", "deploying now"],
        ["ana", "hm, odd"],
      ],
      ["answer", "", "unsure", "unsure", "unsure"],
    ],
    [
      "what is said to somebody else, their reply, and how the two go on",
      [
        ["ana", "is web well?", MENTION],
        ["ana", "did you deploy?", to("bob")],
        ["cy", "p99 is falling"],
        ["bob", "yes, 1.42 at ten"],
        ["ana", "then it is that"],
        ["bob", "rolling back"],
        ["ana", "what does the error rate say?"],
      ],
      ["answer", "silent", "unsure", "silent", "silent", "silent", "unsure"],
    ],
    [
      "a third person's line ends what two said to each other",
      [
        ["ana", "did you deploy?", to("bob")],
        ["bob", "yes"],
        ["cy", "p99 is falling"],
        ["ana", "so it was that"],
      ],
      ["silent", "silent", "unsure", "unsure"],
    ],
    [
      "who was spoken to and speaks to the bot is heard",
      [
        ["ana", "help?", MENTION],
        ["ana", "can you take it?", to("bob")],
        ["bob", "what is wrong?", MENTION],
        ["bot", "db is down."],
        ["bob", "since noon it seems"],
      ],
      ["answer", "silent", "answer", "", "unsure"],
    ],
    [
      "names of people who wrote here count as typed, too",
      [
        ["bob", "hi", MENTION],
        ["ana", "bob: was that you?"],
        ["ana", "@bob, please look"],
        ["ana", "web: down"],
        ["ana", "bob, does that say anything to anyone?"],
      ],
      ["answer", "silent", "silent", "unsure", "unsure"],
    ],
    [
      "the bot's own question is answered by whom it asked, in whatever words",
      [
        ["cy", "hi", MENTION],
        ["bot", "Hello."],
        ["ana", "is web well?", MENTION],
        ["bot", "No. Shall I look at db too?"],
        ["cy", "ok"],
        ["ana", "ok"],
        ["ana", "thanks"],
      ],
      ["answer", "", "answer", "", "silent", "answer", "silent"],
    ],
    [
      "an answer that offers nothing awaits nothing",
      [
        ["cy", "hi", MENTION],
        ["ana", "is web well?", MENTION],
        ["bot", "I can't say, and bob did not reply."],
        ["ana", "nice"],
        ["ana", "and now?", MENTION],
        ["bot", "To go on, say which host."],
        ["ana", "nice"],
      ],
      ["answer", "answer", "", "silent", "answer", "", "answer"],
    ],
    [
      "a yes right after an answer may be to it; between people it is not",
      [
        ["cy", "hi", MENTION],
        ["ana", "is web well?", MENTION],
        ["bot", "It is."],
        ["bob", "yes"],
        ["bob", "yes"],
      ],
      ["answer", "answer", "", "unsure", "silent"],
    ],
    [
      "thanks with a mention need no words either, and a reply to a person is to them",
      [
        ["ana", "hi", MENTION],
        ["bob", "thanks!", MENTION],
        ["bob", "ok", MENTION],
        ["bob", "that was me", { others: [{ account: "test:ana", at: "reply" }] }],
      ],
      ["answer", "silent", "answer", "silent"],
    ],
    [
      "in a direct message everything is answered",
      [
        ["ana", "hi", { direct: true }],
        ["ana", "lol", { direct: true }],
        ["ana", "p99 looks odd", { direct: true }],
      ],
      ["answer", "silent", "answer"],
    ],
  ])("%s", (_name, lines, heard) => {
    expect(heardIn(lines)).toEqual(heard);
  });

  test("what an older version kept is to the bot", () => {
    const room = new Room();
    const said = { kind: "message" as const, seq: 1, at: 1 };
    const hears = ["ana", "bob"].map((name) =>
      hear(room, { ...said, id: name, actor: { account: name, name }, text: "thanks" }),
    );
    expect(hears).toEqual(["answer", "answer"]);
  });
});

/** A stage where people write as in a chat. */
async function chatting(script: readonly Saying[] | undefined) {
  const stage = await talking(script ?? []);
  let posts = 0;
  const write = async (name: string, text: string, address: Address = {}) => {
    const tone = toneOf(text);
    const actor = { account: `test:${name}`, name };
    const id = `line:${++posts}`;
    await stage.post({ id, kind: "message", actor, text, address, ...(tone && { tone }) });
    await stage.settle();
  };
  return { ...stage, write };
}

test("thanks, laughter, emoji and lines to others cost no model call and leave nothing behind", async () => {
  const { write, model, chat, entries } = await chatting([{ text: "All is well." }]);
  await write("ana", "is web well?", MENTION);
  await write("bob", "thanks!");
  await write("cy", "lol");
  await write("dan", "🎉");
  await write("ana", "thanks", MENTION);
  await write("ana", "did you see that?", to("bob"));
  await write("bob", "yes, odd");
  await write("ana", "never mind then");
  expect(model.requests).toHaveLength(1);
  expect(chat.answers()).toHaveLength(1);
  expect(ofKind(await entries(), "run_started")).toHaveLength(1);
});

test("a line that no rule settles is answered, or the model stays silent: then nobody sees anything, and the journal says so", async () => {
  const stage = await chatting([{ text: "All is well." }, SILENCE, { text: "db is well, too." }]);
  const { write, model, chat, entries } = stage;
  await write("ana", "is web well?", MENTION);
  const before = chat.deliveries.length;
  const begun = chat.progress.length;
  await write("bob", "deploying now");
  expect(chat.deliveries.length).toBe(before);
  expect(chat.progress.length).toBe(begun);
  expect(ofKind(await entries(), "run_ended").map(({ status }) => status)).toEqual([
    "completed",
    "silent",
  ]);
  await write("bob", "and db?");
  expect(lastAnswer(stage)).toBe("db is well, too.");
  expect(model.requests).toHaveLength(3);
  // What was said between people stays a quotation, also once its author asks something.
  const words = wordsIn(model.requests.at(-1));
  expect(words.find((line) => line.includes("deploying now"))).toMatch(/bob, quoted\]/);
  expect(words.find((line) => line.includes("and db?"))).toMatch(/bob\]/);
});

test("who is asked has to answer: silence is refused, as after a look", async () => {
  const asked = await chatting([SILENCE, { text: "It is well." }]);
  await asked.write("ana", "is web well?", MENTION);
  expect(lastAnswer(asked)).toBe("It is well.");
  // It is no check that anybody would look at.
  expect(asked.chat.answers().at(-1)?.results).toEqual([]);
  const looked = await chatting([
    { text: "Hi." },
    { calls: [call("look")] },
    SILENCE,
    { text: "LIKELY: well [T1]." },
  ]);
  await looked.write("ana", "hi", MENTION);
  await looked.write("bob", "is web well?");
  expect(lastAnswer(looked)).toContain("LIKELY");
});

test("an ok after a question of the bot's may need no answer: then a model is silent", async () => {
  const { write, model, chat } = await chatting([
    { text: "Hi." },
    { text: "It is well. Shall I look at db, too?" },
    SILENCE,
  ]);
  await write("bob", "hi", MENTION);
  await write("ana", "is web well?", MENTION);
  await write("ana", "nice");
  expect(model.requests).toHaveLength(3);
  expect(chat.answers()).toHaveLength(2);
});

test("of several people's lines that wait only who asks something instructs the run", async () => {
  const { write, post, settle, model, entries } = await chatting([
    { text: "Hi." },
    { text: "1.42, by cy." },
  ]);
  await write("ana", "hi", MENTION);
  const say = (name: string, text: string) => {
    const tone = toneOf(text);
    return post({
      id: `wait:${name}`,
      kind: "message",
      actor: { account: `test:${name}`, name },
      text,
      address: {},
      ...(tone && { tone }),
    });
  };
  await say("bob", "p99 is falling");
  await say("cy", "who deployed last?");
  await say("dan", "everything is down, I say");
  await settle();
  expect(ofKind(await entries(), "run_started").at(-1)?.principals).toEqual(["test:cy"]);
  const words = wordsIn(model.requests.at(-1)).filter((line) => / (?:bob|cy|dan)[,\]]/.test(line));
  expect(words.map((line) => line.includes(", quoted]"))).toEqual([true, false, true]);
});

test("others' lines that no rule settles never instruct the run that goes on: beside its card a model is silent, too", async () => {
  const { write, post, settle, model, entries } = await chatting([
    { calls: [call("act")] },
    SILENCE,
  ]);
  await write("ana", "restart web", MENTION);
  await post({
    id: "aside",
    kind: "message",
    actor: { account: "test:bob", name: "bob" },
    text: "redis is slow, too",
    address: {},
  });
  await settle();
  expect(ofKind(await entries(), "action_proposed")[0]?.barred).not.toContain("test:bob");
  expect(model.requests).toHaveLength(2);
  expect(ofKind(await entries(), "run_ended")).toMatchObject([{ run: "r2", status: "silent" }]);
  expect((await entries()).filter(({ kind }) => kind === "notice")).toHaveLength(0);
});

test("quiet: it speaks only when it is mentioned, until it is told to listen; both work as words and as presses", async () => {
  const stage = await chatting([
    { text: "Hi." },
    { text: "Here." },
    { text: "Yes." },
    { text: "Back." },
  ]);
  const { write, chat, say, settle, click, model, thread } = stage;
  await write("ana", "hi", MENTION);
  await write("bob", "and me?");
  await say("quiet", "test:bob");
  await settle();
  expect(lastAnswer(stage)).toMatch(/^Quiet: .*`listen`/);
  await write("cy", "what is going on?");
  expect(model.requests).toHaveLength(2);
  await write("cy", "what is going on?", MENTION);
  expect(lastAnswer(stage)).toBe("Yes.");
  const shown = chat.answers().length;
  await click("r4", { kind: "listen" }, "test:ana");
  await settle();
  await click("r4", { kind: "listen" }, "test:bob");
  await settle();
  expect(lastAnswer(stage)).toMatch(/^Listening/);
  expect(chat.answers()).toHaveLength(shown + 1);
  await write("bob", "and db?");
  expect(lastAnswer(stage)).toBe("Back.");
  expect((await thread()).room.quiet).toBe(false);
});
