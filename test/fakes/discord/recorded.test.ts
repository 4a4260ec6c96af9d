import { describe, expect, test } from "vitest";
import * as z from "zod";
import { message, pressed } from "../../../src/adapters/discord/payloads.ts";
import { publicRecords } from "../../public-data.ts";
import { eventually } from "../../until.ts";
import { formOf, isFields, readBy, unexcused, unrecorded } from "../form.ts";
import { useDesk } from "./desk.ts";

const recorded = z
  .array(z.object({ d: z.record(z.string(), z.unknown()) }))
  .parse(publicRecords("payloads/discord.ndjson"))
  .map(({ d }) => d);

/** Discord's documents show objects, not events: each kind has a field that no other has, and is the same wherever it stands. */
const KINDS = {
  interaction: "app_permissions",
  message: "mention_everyone",
  member: "premium_since",
  user: "username",
  guild: "verification_level",
  thread: "thread_metadata",
  channel: "last_message_id",
};

const kindOf = (_: string, value: unknown) =>
  isFields(value)
    ? Object.entries(KINDS).find(([, field]) => Object.hasOwn(value, field))?.[0]
    : undefined;

const desk = useDesk();

/** Every event that a session gets, of each kind once at least. */
async function everything(): Promise<unknown[]> {
  const { discord, guild, channel, ana } = desk;
  const events: { t: string; d: unknown }[] = [];
  const socket = new WebSocket(`${discord.apiUrl.replace("http", "ws")}?v=10&encoding=json`);
  socket.addEventListener("message", ({ data }) => {
    const { op, t, d } = z
      .object({ op: z.number(), t: z.string().nullable(), d: z.unknown() })
      .parse(JSON.parse(String(data)));
    const identify = { token: discord.token, intents: (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15) };
    if (op === 10) socket.send(JSON.stringify({ op: 2, d: identify }));
    if (t !== null) events.push({ t, d });
  });
  await discord.everyConnected();
  discord.addChannel(guild, { name: "more" });
  const file = { name: "a.png", type: "image/png", bytes: new Uint8Array([1]) };
  const first = discord.say(ana, channel, "look", { mention: true, attachments: [file] });
  discord.say(ana, channel, "again", { replyTo: first });
  discord.say(ana, discord.openDm(ana), "hello");
  const ask = (path: string, body: unknown) =>
    fetch(`${discord.apiUrl}/v10${path}`, {
      method: "POST",
      headers: { authorization: `Bot ${discord.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await ask(`/channels/${channel.id}/messages/${first}/threads`, { name: "look" });
  const button = { type: 2, style: 1, label: "Go", custom_id: "go" };
  const card = { content: "May I?", components: [{ type: 1, components: [button] }] };
  await ask(`/channels/${first}/messages`, card);
  const shown = discord.messages(discord.channel(first)).at(-1);
  const outcome = discord.press(ana, shown?.id ?? "", "go");
  await eventually(() => expect(events.at(-1)?.t).toBe("INTERACTION_CREATE"));
  const { id, token } = z.object({ id: z.string(), token: z.string() }).parse(events.at(-1)?.d);
  const input = { type: 4, custom_id: "text", style: 1 };
  const components = [{ type: 18, label: "Why", component: input }];
  const modal = { custom_id: "why", title: "Why", components };
  await ask(`/interactions/${id}/${token}/callback`, { type: 9, data: modal });
  await outcome;
  const [open] = discord.modals(ana);
  const sent = open && discord.submit(ana, open, { text: "so" });
  await eventually(() =>
    expect(events.filter(({ t }) => t === "INTERACTION_CREATE")).toHaveLength(2),
  );
  discord.remove(first);
  await eventually(() => expect(events.at(-1)?.t).toBe("MESSAGE_DELETE"));
  socket.close();
  void sent;
  return events.map(({ d }) => d);
}

/** The form of all objects of these kinds, wherever they stand. */
function form(values: readonly unknown[]) {
  return formOf(
    values.map((value) => [kindOf("", value) ?? "", value]),
    kindOf,
  );
}

const DOCS = "https://discord.com/developers/docs";
const INTERACTION = `${DOCS}/interactions/receiving-and-responding#interaction-object`;

const under = (kind: string, names: string) => names.split(" ").map((name) => `${kind}.${name}`);

/** What no example shows, and where Discord lists it. */
const SENT = {
  [`${DOCS}/components/reference`]: under("message", "components[]"),
  [`${DOCS}/events/gateway-events#guild-create`]: [
    ...under("guild", "channels joined_at large member_count members members[] presences threads"),
    ...under("guild", "guild_scheduled_events soundboard_sounds stage_instances unavailable"),
    ...under("guild", "voice_states"),
  ],
  [`${DOCS}/events/gateway-events#message-create`]: under(
    "message",
    "channel_type guild_id member",
  ),
  [`${DOCS}/events/gateway-events#thread-create`]: under("thread", "newly_created"),
  [INTERACTION]: [
    ...under("interaction", "attachment_size_limit authorizing_integration_owners.0 guild message"),
    ...under("interaction.data", "component_type components custom_id"),
  ],
  [`${DOCS}/resources/channel#channel-object`]: [
    ...under("channel", "flags"),
    ...under("thread", "flags member permissions thread_metadata.create_timestamp"),
  ],
  [`${DOCS}/resources/guild#guild-member-object`]: under(
    "member",
    "communication_disabled_until flags",
  ),
  [`${DOCS}/resources/guild#guild-object`]: under(
    "guild",
    "nsfw_level premium_progress_bar_enabled stickers",
  ),
  [`${DOCS}/resources/message#message-object`]: under(
    "message",
    "attachments[] mentions[] referenced_message thread",
  ),
  [`${DOCS}/resources/user#user-object`]: under("user", "global_name"),
  [`${DOCS}/topics/permissions#role-object`]: under("guild", "roles[].flags"),
};

/** The same for what is read. */
const READ = {
  message: [
    ...under("message", "attachments[] author.bot author.global_name channel_type guild_id member"),
    ...under("message", "mention_roles[] mentions[] webhook_id"),
  ],
  interaction: [
    ...under("interaction", "channel.id data.components data.custom_id message"),
    ...under("interaction", "member.nick member.user.bot member.user.global_name user"),
  ],
};

describe.skipIf(recorded.length === 0)("what Discord's documents show", () => {
  test("has every field that the fake sends, with its type", async () => {
    const sent = (await everything()).filter((event) => kindOf("", event) !== undefined);
    const fields = unrecorded(form(sent), form(recorded));
    expect(unexcused(fields, Object.values(SENT).flat())).toEqual([]);
  });

  test.each([
    ["message", message],
    ["interaction", pressed],
  ] as const)("has every field that is read of a %s", (kind, schema) => {
    const examples: (readonly [string, unknown])[] = [];
    const visit = (value: unknown): void => {
      if (kindOf("", value) === kind) examples.push([kind, value]);
      if (typeof value === "object" && value !== null)
        for (const each of Object.values(value)) visit(each);
    };
    visit(recorded);
    const known = formOf(examples, () => undefined);
    const fields = unrecorded(readBy(kind, schema), known, { any: true });
    expect(unexcused(fields, READ[kind])).toEqual([]);
  });
});
