import {
  DiscordAPIError,
  Events,
  LabelBuilder,
  MessageFlags,
  ModalBuilder,
  TextInputBuilder,
  TextInputStyle,
  type Interaction,
} from "discord.js";
import { describe, expect, test } from "vitest";
import { codeOf, heard, row, text, useDesk, v2 } from "./desk.ts";
import { eventually } from "../../until.ts";

const desk = useDesk();

const formWith = (component: object) => ({ custom_id: "a", title: "x", components: [component] });
const WHY = { type: 18, label: "l", component: { type: 4, style: 1, custom_id: "b" } };
const inLabel = (changes: object) =>
  formWith({ ...WHY, component: { ...WHY.component, ...changes } });
const CHOICE = { label: "x", value: "x" };

/** By https://discord.com/developers/docs/interactions/receiving-and-responding and /components/reference. */
describe("buttons and forms", () => {
  test("a press is answered in time, by one of the clients", async () => {
    const [first, second] = [await desk.login(), await desk.login()];
    const codes: unknown[] = [];
    const acknowledge = (interaction: Interaction): void => {
      if (!interaction.isButton()) return;
      void interaction.deferUpdate().catch((error: DiscordAPIError) => codes.push(error.code));
    };
    second.on(Events.InteractionCreate, acknowledge);
    const id = await desk.withButton(first, acknowledge);
    expect(desk.discord.buttonsOf(desk.discord.message(id) ?? expect.fail())).toEqual([
      { label: "go", customId: "go", style: "primary", disabled: false },
    ]);
    const outcome = await desk.discord.press(desk.ana, id, "go");
    expect(outcome).toMatchObject({ kind: "acked", how: "deferUpdate" });
    await eventually(() => expect(codes).toEqual([40060]));
    await expect(desk.discord.press(desk.ana, id, "stop")).rejects.toThrow("No button stop");
  });

  test("a press that nobody answers has failed, and its token is dead", async () => {
    await desk.reopen({ times: { responseMs: 30 } });
    let seen: Interaction | undefined;
    const id = await desk.withButton(await desk.login(), (interaction) => (seen = interaction));
    const outcome = await desk.discord.press(desk.ana, id, "go");
    expect(outcome.kind).toBe("failed");
    if (seen?.isButton() !== true) return expect.fail();
    expect(await codeOf(seen.deferUpdate())).toBe(10062);
    expect(seen).toMatchObject({ channelId: desk.channel.id, guildId: desk.guild.id });
    expect(seen.message.id).toBe(id);
    expect(seen.user.id).toBe(desk.ana.id);
  });

  test("a reply for one person is seen by that person alone, for as long as the token lives", async () => {
    await desk.reopen({ times: { tokenMs: 3_000 } });
    const client = await desk.login();
    const messages = heard(client);
    let late: Promise<unknown> | undefined;
    const id = await desk.withButton(client, (interaction) => {
      if (!interaction.isButton()) return;
      void (async () => {
        const flags = MessageFlags.Ephemeral | MessageFlags.IsComponentsV2;
        await interaction.reply({ flags, components: [text("only you")] });
        await interaction.followUp({ flags: MessageFlags.Ephemeral, content: "more" });
        await eventually(() =>
          expect(Date.now() - interaction.createdTimestamp).toBeGreaterThan(3_100),
        );
        late = codeOf(interaction.followUp({ flags: MessageFlags.Ephemeral, content: "too late" }));
      })();
    });
    expect(await desk.discord.press(desk.ana, id, "go")).toMatchObject({ how: "reply" });
    await eventually(() => expect(late).toBeDefined());
    expect(await late).toBe(50027);
    const seen = desk.discord.ephemerals(desk.ana).map((each) => desk.discord.textOf(each));
    expect(seen).toEqual(["only you", "more"]);
    expect(desk.discord.ephemerals(desk.discord.owner)).toEqual([]);
    expect(desk.discord.messages(desk.channel)).toHaveLength(1);
    expect(messages).toHaveLength(1);
  });

  test("what is not answered cannot be followed up", async () => {
    let early: unknown;
    const id = await desk.withButton(await desk.login(), (interaction) => {
      if (!interaction.isButton()) return;
      const path = `/webhooks/${interaction.applicationId}/${interaction.token}` as const;
      const body = { content: "early" };
      void (async () => {
        early = await codeOf(interaction.client.rest.post(path, { body, auth: false }));
        await interaction.deferUpdate();
      })();
    });
    await desk.discord.press(desk.ana, id, "go");
    expect(early).toBe(10015);
  });

  test("a form opens, holds people to its rules and is submitted", async () => {
    const client = await desk.login();
    const values: string[] = [];
    const reason = new TextInputBuilder()
      .setCustomId("reason")
      .setStyle(TextInputStyle.Paragraph)
      .setMaxLength(5)
      .setValue("why");
    const label = new LabelBuilder().setLabel("Reason").setTextInputComponent(reason);
    const modal = new ModalBuilder()
      .setCustomId("deny:a1")
      .setTitle("Deny")
      .addLabelComponents(label);
    const id = await desk.withButton(client, (interaction) => {
      if (interaction.isButton()) void interaction.showModal(modal);
      else if (interaction.isModalSubmit()) {
        values.push(interaction.customId, interaction.fields.getTextInputValue("reason"));
        void interaction.deferUpdate();
      }
    });
    expect(await desk.discord.press(desk.ana, id, "go")).toMatchObject({ how: "modal" });
    const [form] = desk.discord.modals(desk.ana);
    expect(form).toMatchObject({
      title: "Deny",
      inputs: [{ label: "Reason", value: "why", maxLength: 5 }],
    });
    if (form === undefined) return;
    await expect(desk.discord.submit(desk.ana, form, { reason: "too long" })).rejects.toThrow(
      "takes 1 to 5",
    );
    expect(await desk.discord.submit(desk.ana, form, { reason: "no" })).toMatchObject({
      how: "deferUpdate",
    });
    expect(values).toEqual(["deny:a1", "no"]);
    expect(desk.discord.modals(desk.ana)).toEqual([]);
  });

  test.for([
    ["a title of 46", { custom_id: "a", title: "x".repeat(46), components: [WHY] }],
    ["no components", { custom_id: "a", title: "x", components: [] }],
    ["a text, which it never sends", formWith({ type: 10, content: "x" })],
    ["nothing in a label", formWith({ type: 18, label: "l" })],
    ["what is no text input", inLabel({ type: 2, custom_id: "b" })],
    ["an input of no style", inLabel({ style: 3 })],
    ["a label in the input", inLabel({ label: "l" })],
    ["no length at all", inLabel({ max_length: 0 })],
    ["a select without options", inLabel({ type: 3, options: [] })],
    ["a select that asks for nothing", inLabel({ type: 3, options: [CHOICE], min_values: 0 })],
    ["a value over its own limit", inLabel({ max_length: 2, value: "abc" })],
    ["a label of 46", formWith({ ...WHY, label: "l".repeat(46) })],
  ] as const)("refuses a form with %s", async ([, data]) => {
    let refused: unknown;
    const id = await desk.withButton(await desk.login(), (interaction) => {
      if (!interaction.isButton()) return;
      const path = `/interactions/${interaction.id}/${interaction.token}/callback` as const;
      const body = { type: 9, data };
      void (async () => {
        refused = await codeOf(interaction.client.rest.post(path, { body, auth: false }));
        await interaction.deferUpdate();
      })();
    });
    await desk.discord.press(desk.ana, id, "go");
    expect(refused).toBe(50035);
  });

  test("works in a direct message too", async () => {
    const client = await desk.login();
    client.on(Events.InteractionCreate, (interaction) => {
      if (interaction.isButton()) void interaction.deferUpdate();
    });
    const sent = await client.users.send(desk.ana.id, {
      ...v2,
      components: [text("?"), row("go")],
    });
    expect(await desk.discord.press(desk.ana, sent.id, "go")).toMatchObject({ kind: "acked" });
    expect(desk.discord.dms(desk.ana)).toHaveLength(1);
  });
});
