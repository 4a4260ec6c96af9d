import { describe, expect, test } from "vitest";
import { codeOf, heard, row, text, useDesk, v2 } from "./desk.ts";
import { eventually } from "../../until.ts";

const desk = useDesk();

const X = { type: 10, content: "x" };
const gallery = (name: string, description = "words") => ({
  type: 12,
  items: [{ media: { url: `attachment://${name}` }, description }],
});
const inRow = (button: object) => ({
  type: 1,
  components: [{ type: 2, custom_id: "a", ...button }],
});

/** By https://discord.com/developers/docs/resources/message#create-message and /components/reference. */
describe("messages", () => {
  test("a conversation: sent, edited, read back, deleted", async () => {
    const client = await desk.login();
    const messages = heard(client);
    desk.discord.say(desk.ana, desk.channel, "first");
    const sent = await desk.textChannel(client).send({
      ...v2,
      components: [text("one"), row("a", "b")],
    });
    await sent.edit({ ...v2, components: [text("two")] });
    desk.discord.say(desk.ana, desk.channel, "answer", { replyTo: sent.id });
    await eventually(() => expect(messages).toHaveLength(3));
    expect(messages[2]?.mentions.repliedUser?.id).toBe(desk.discord.botUser.id);
    const fetched = await desk.textChannel(client).messages.fetch({ limit: 2 });
    expect([...fetched.keys()]).toEqual([messages[2]?.id, sent.id]);
    const shown = desk.discord.messages(desk.channel).map((each) => desk.discord.textOf(each));
    expect(shown).toEqual(["first", "two", "answer"]);
    await sent.delete();
    expect(await codeOf(sent.edit("gone"))).toBe(10008);
    expect(desk.discord.messages(desk.channel)).toHaveLength(2);
    expect(
      desk.discord.calls.filter((call) => call.method === "PATCH").map((call) => call.status),
    ).toEqual([200, 404]);
  });

  test("one nonce is one message while it is remembered", async () => {
    await desk.reopen({ times: { nonceMs: 400 } });
    const target = desk.textChannel(await desk.login());
    const once = { content: "done", nonce: "n".repeat(25), enforceNonce: true };
    const [first, second] = [await target.send(once), await target.send(once)];
    expect(second.id).toBe(first.id);
    expect(desk.discord.messages(desk.channel)).toHaveLength(1);
    await eventually(async () => expect((await target.send(once)).id).not.toBe(first.id));
    expect(await codeOf(target.send({ ...once, nonce: "n".repeat(26) }))).toBe(50035);
  });

  test.for([
    ["2 001 characters", { content: "x".repeat(2_001) }, 50035],
    ["nothing", { content: "  " }, 50006],
    ["a button under nothing", { components: [row("a")] }, 50006],
    ["text without the flag", { components: [text("a")] }, 50035],
    [
      "content beside components of version 2",
      { ...v2, content: "a", components: [text("a")] },
      50035,
    ],
    [
      "4 001 characters of text",
      { ...v2, components: [text("x".repeat(4_000)), text("x")] },
      50035,
    ],
    ["41 components", { ...v2, components: Array.from({ length: 41 }, () => text("x")) }, 50035],
    ["six buttons in a row", { ...v2, components: [row("1", "2", "3", "4", "5", "6")] }, 50035],
    ["the same button twice", { ...v2, components: [row("1"), row("1")] }, 50035],
    ["an empty text", { ...v2, components: [{ type: 10, content: " " }] }, 50035],
    [
      "a label of 81",
      {
        ...v2,
        components: [
          { type: 1, components: [{ type: 2, style: 1, custom_id: "a", label: "x".repeat(81) }] },
        ],
      },
      50035,
    ],
    [
      "a custom id of 101",
      {
        ...v2,
        components: [
          { type: 1, components: [{ type: 2, style: 1, custom_id: "x".repeat(101), label: "x" }] },
        ],
      },
      50035,
    ],
    ["a component that does not exist", { ...v2, components: [{ type: 99 }] }, 50035],
    ["a select, which it never sends", { ...v2, components: [inRow({ type: 5 })] }, 50035],
    ["a button of no style", { ...v2, components: [inRow({ label: "x", style: 7 })] }, 50035],
    ["a button without a label", { ...v2, components: [inRow({ style: 1 })] }, 50035],
    ["a row without buttons", { ...v2, components: [{ type: 1 }] }, 50035],
    ["a row of what is no button", { ...v2, components: [{ type: 1, components: [1] }] }, 50035],
    ["six rows without the flag", { content: "x", components: Array(6).fill(row("a")) }, 50035],
    ["components that are no list", { ...v2, components: {} }, 50035],
    ["a component that is no object", { ...v2, components: ["x"] }, 50035],
    [
      "a number given twice",
      {
        ...v2,
        components: [
          { ...X, id: 1 },
          { ...X, id: 1 },
        ],
      },
      50035,
    ],
    ["a gallery without the flag", { content: "x", components: [gallery("a.png")] }, 50035],
    ["a gallery of nothing", { ...v2, components: [{ type: 12, items: [] }] }, 50035],
    ["a gallery of a file that did not come", { ...v2, components: [gallery("a.png")] }, 50035],
    ["files that did not come", { content: "x", attachments: [{ id: 0, filename: "a" }] }, 50035],
    ["a content that is no text", { content: 1 }, 50035],
    ["flags that are no number", { content: "x", flags: "V2" }, 50035],
    ["embeds, which it never sends", { content: "x", embeds: [{ title: "x" }] }, 50035],
    [
      "a reply, which it never sends",
      { content: "x", message_reference: { message_id: "1" } },
      50035,
    ],
    ["mentions that are no object", { content: "x", allowed_mentions: [] }, 50035],
    ["mentions of no kind", { content: "x", allowed_mentions: { parse: ["all"] } }, 50035],
    ["101 mentions", { content: "x", allowed_mentions: { users: Array(101).fill("1") } }, 50035],
    [
      "mentions twice",
      { content: "x", allowed_mentions: { parse: ["users"], users: ["1"] } },
      50035,
    ],
  ] as const)("refuses %s", async ([, body, code]) => {
    const { rest } = await desk.login();
    const path = `/channels/${desk.channel.id}/messages` as const;
    // By REST, so that no builder of the client's refuses it first.
    const json: unknown = JSON.parse(JSON.stringify(body));
    expect(await codeOf(rest.post(path, { body: json }))).toBe(code);
    expect(desk.discord.messages(desk.channel)).toHaveLength(0);
  });

  test("shows the files that come with a message, and refuses those that no component shows", async () => {
    const { rest } = await desk.login();
    const path = `/channels/${desk.channel.id}/messages` as const;
    const files = [{ name: "a.png", data: Buffer.from("pixels"), contentType: "image/png" }];
    const attachments = [{ id: 0, filename: "a.png" }];
    const send = (components: object[], named: object[] = attachments) =>
      rest.post(path, { body: { ...v2, components, attachments: named }, files });
    await send([gallery("a.png")]);
    const [message] = desk.discord.messages(desk.channel);
    expect(message?.attachments).toMatchObject([{ name: "a.png", type: "image/png" }]);
    expect(desk.discord.textOf(message ?? expect.fail())).toBe("Image: words");
    expect(await codeOf(send([X]))).toBe(50035);
    expect(await codeOf(send([gallery("a.png", "x".repeat(1_025))]))).toBe(50035);
    expect(await codeOf(send([gallery("a.png")], [{ id: 0, filename: "b.png" }]))).toBe(50035);
  });

  test("takes everything at its limit, and breaks down over too many bytes", async () => {
    const target = desk.textChannel(await desk.login());
    const rows = ["1", "2", "3", "4", "5", "6"].map((each) =>
      row(...["a", "b", "c", "d", "e"].map((id) => each + id)),
    );
    const texts = [text("x".repeat(3_997)), text("x"), text("x"), text("x")];
    await target.send({ ...v2, components: [...texts, ...rows] });
    // 3 386 characters of three bytes are 10 158, and 12 for the display.
    await target.send({ ...v2, components: [text("漢".repeat(3_386))] });
    const error: unknown = await target
      .send({ ...v2, components: [text("漢".repeat(3_387))] })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 500 });
  });

  test("a message of version 2 stays one", async () => {
    const target = desk.textChannel(await desk.login());
    const sent = await target.send({ ...v2, components: [text("a")] });
    expect(await codeOf(sent.edit({ content: "plain" }))).toBe(50035);
    expect(await codeOf(sent.edit({ flags: 0 as never, components: [] }))).toBe(50035);
    const plain = await target.send("plain");
    expect(await codeOf(plain.edit({ ...v2, components: [text("a")] }))).toBe(50035);
    await plain.edit({ ...v2, content: null, components: [text("a")] });
    expect(desk.discord.textOf(desk.discord.messages(desk.channel)[1] ?? expect.fail())).toBe("a");
  });

  test("old messages are edited a few times, then no more", async () => {
    await desk.reopen({ times: { oldMs: 300 }, oldEdits: 1 });
    const client = await desk.login({ rest: { rejectOnRateLimit: () => true } });
    const sent = await desk.textChannel(client).send("a");
    await eventually(() => expect(Date.now() - sent.createdTimestamp).toBeGreaterThan(301));
    await sent.edit("b");
    await expect(sent.edit("c")).rejects.toMatchObject({ scope: "shared" });
    expect(desk.discord.calls.at(-1)).toMatchObject({ status: 429, code: 30046 });
  });

  test("notices every mention that notifies, also a hidden one", async () => {
    const target = desk.textChannel(await desk.login());
    const all = { parse: ["users", "roles", "everyone"] as const };
    const names = `\\<@${desk.ana.id}> \\@everyone <@&${desk.guild.id}>`;
    await target.send({ content: names });
    await target.send({ ...v2, components: [text(names)] });
    expect(desk.discord.pings).toEqual([]);
    await target.send({ ...v2, components: [text(names)], allowedMentions: all });
    expect(desk.discord.pings.map((each) => each.target)).toEqual([
      desk.ana.id,
      desk.guild.id,
      "everyone",
    ]);
    await target.send({
      content: `\`<@${desk.ana.id}>\` @here`,
      allowedMentions: { users: [desk.ana.id] },
    });
    expect(desk.discord.pings).toHaveLength(3);
    await desk
      .createClient()
      .rest.setToken(desk.discord.token)
      .post(`/channels/${desk.channel.id}/messages`, {
        body: { content: `<@${desk.ana.id}> without a word of allowed_mentions` },
      });
    expect(desk.discord.pings).toHaveLength(4);
  });

  test("serves what people attach", async () => {
    const messages = heard(await desk.login());
    const file = { name: "graph.png", type: "image/png", bytes: new Uint8Array([1, 2, 3]) };
    desk.discord.say(desk.ana, desk.channel, "", { attachments: [file] });
    await eventually(() => expect(messages).toHaveLength(1));
    const attached = messages[0]?.attachments.first();
    expect(attached).toMatchObject({ name: "graph.png", size: 3, contentType: "image/png" });
    const response = await fetch(attached?.url ?? "");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(file.bytes);
  });
});
