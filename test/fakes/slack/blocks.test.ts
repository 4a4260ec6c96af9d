import { describe, expect, test } from "vitest";
import { BUTTON, post, refusal, rich, scene, section } from "./scene.ts";

describe("blocks", () => {
  const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
  const actions = (...elements: unknown[]) => ({ type: "actions", elements });
  test.each([
    ["50 blocks", many(50, { type: "divider" }), ""],
    ["51 blocks", many(51, { type: "divider" }), "no more than 50 items"],
    ["3 000 characters in a section", [section("x".repeat(3_000))], ""],
    ["3 001 characters in a section", [section("x".repeat(3_001))], "/blocks/0/text/text"],
    [
      "26 buttons",
      [actions(...many(26, 0).map((_, at) => ({ ...BUTTON, action_id: `b${at}` })))],
      "/blocks/0/elements",
    ],
    ["two buttons of one id", [actions(BUTTON, BUTTON)], "action_id approve:a1 already exists"],
    [
      "a label of 76",
      [actions({ ...BUTTON, text: { type: "plain_text", text: "x".repeat(76) } })],
      "/blocks/0/elements/0/text/text",
    ],
    [
      "a value of 2 001",
      [actions({ ...BUTTON, value: "x".repeat(2_001) })],
      "/blocks/0/elements/0/value",
    ],
    [
      "an action id of 256",
      [actions({ ...BUTTON, action_id: "x".repeat(256) })],
      "/blocks/0/elements/0/action_id",
    ],
    [
      "a style of another kind",
      [actions({ ...BUTTON, style: "plain" })],
      "/blocks/0/elements/0/style",
    ],
    ["a block of an unknown type", [{ type: "poem", text: "x" }], "/blocks/0/type"],
    ["a field that does not exist", [{ type: "divider", colour: "red" }], "colour"],
    [
      "an empty rich text",
      [rich({ type: "text", text: "" })],
      "/blocks/0/elements/0/elements/0/text",
    ],
    ["a rich section of nothing", [rich()], "/blocks/0/elements/0/elements"],
    [
      "rich text that is no rich element",
      [rich({ type: "mrkdwn", text: "x" })],
      "/blocks/0/elements/0/elements/0/type",
    ],
    [
      "a style in rich text that does not exist",
      [rich({ type: "text", text: "x", style: { big: true } })],
      "big",
    ],
    [
      "a date",
      [rich({ type: "date", timestamp: 1_700_000_000, format: "{ago}", fallback: "then" })],
      "",
    ],
    [
      "a date of an unknown form",
      [rich({ type: "date", timestamp: 1_700_000_000, format: "{soon}" })],
      "/format",
    ],
  ])("%s", async (_name, blocks, complaint) => {
    const { slack, ops, client } = await scene();
    const problem = await client
      .apiCall("chat.postMessage", { channel: ops.id, text: "x", blocks })
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(slack.messages(ops)).toHaveLength(complaint === "" ? 1 : 0);
    if (complaint === "") return;
    expect(problem).toMatchObject({ data: { error: "invalid_blocks" } });
    expect(JSON.stringify(problem)).toContain(complaint);
  });

  test("their sum has a limit of its own", async () => {
    const { ops, client } = await scene();
    const of = (length: number) =>
      refusal(
        post(client, {
          channel: ops.id,
          text: "x",
          blocks: many(length, section("x".repeat(3_000))),
        }),
      );
    expect(await of(4)).toBe("it was not refused");
    expect(await of(5)).toBe("msg_blocks_too_long");
    expect(await refusal(post(client, { channel: ops.id, text: "x", blocks: "[{" }))).toBe(
      "invalid_blocks_format",
    );
  });

  test("a person reads their text, of every kind", async () => {
    const { slack, ops, client } = await scene();
    const text = (value: string) => ({ type: "text", text: value });
    const item = (value: string) => ({ type: "rich_text_section", elements: [text(value)] });
    const blocks = [
      section("*Disk* is full"),
      {
        type: "rich_text",
        elements: [
          item("first"),
          { type: "rich_text_list", style: "bullet", elements: [item("a"), item("b")] },
          { type: "rich_text_preformatted", elements: [text("df -h\n<raw>")] },
        ],
      },
      { type: "actions", elements: [BUTTON] },
    ];
    await post(client, { channel: ops.id, text: "fallback", blocks });
    const [message] = slack.messages(ops);
    expect(message && slack.textOf(message)).toBe("*Disk* is full\nfirst\na\nb\ndf -h\n<raw>");
  });
});
