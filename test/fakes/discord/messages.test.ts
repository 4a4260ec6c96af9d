import { describe, expect, test } from "vitest";
import { codeOf, heard, row, text, useDesk, v2 } from "./desk.ts";
import { eventually } from "../../until.ts";

const desk = useDesk();

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

  test("pages before, after and around a message", async () => {
    const client = await desk.login();
    const ids = Array.from({ length: 6 }, (_, index) =>
      desk.discord.say(desk.ana, desk.channel, `m${index}`),
    );
    const page = async (query: object): Promise<string[]> => {
      const found = await desk
        .textChannel(client)
        .messages.fetch({ limit: 2, cache: false, ...query });
      return found.map((each) => each.content);
    };
    expect(await page({ before: ids[3] })).toEqual(["m2", "m1"]);
    expect(await page({ after: ids[3] })).toEqual(["m5", "m4"]);
    expect(await page({ around: ids[3], limit: 3 })).toEqual(["m4", "m3", "m2"]);
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
    [
      "a container in a container",
      { ...v2, components: [{ type: 17, components: [{ type: 17, components: [] }] }] },
      50035,
    ],
    ["a component that does not exist", { ...v2, components: [{ type: 99 }] }, 50035],
    [
      "a row of two selects",
      {
        ...v2,
        components: [
          {
            type: 1,
            components: [
              { type: 5, custom_id: "a" },
              { type: 5, custom_id: "b" },
            ],
          },
        ],
      },
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
