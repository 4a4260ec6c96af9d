import { webApi } from "@slack/bolt";
import { describe, expect, test } from "vitest";
import { BUTTON, clientFor, post, refusal, rich, scene, section, socketApp, WHY } from "./scene.ts";
import { eventually, until } from "../../until.ts";

const TS = "1700000000.000100";
describe("who may call", () => {
  test.each([
    [undefined, "not_authed"],
    ["xoxb-other", "invalid_auth"],
    ["xapp-fake-app-token", "not_allowed_token_type"],
  ])("with the token %s a call is refused as %s", async (token, error) => {
    const { slack } = await scene();
    expect(await refusal(clientFor(slack, token).users.info({ user: "U1" }))).toBe(error);
  });

  test("a revoked token, an unknown method, a missing scope", async () => {
    const { slack, ana, client } = await scene({ scopes: ["chat:write"] });
    expect(await refusal(client.apiCall("chat.shout"))).toBe("unknown_method");
    const problem: unknown = await client.users.info({ user: ana.id }).catch((reason) => reason);
    expect(problem).toMatchObject({
      data: { error: "missing_scope", needed: "users:read", provided: "chat:write" },
    });
    const { response_metadata: metadata } = await client.auth.test();
    expect(metadata?.scopes).toEqual(["chat:write"]);
    slack.tokenState = "token_revoked";
    expect(await refusal(client.auth.test())).toBe("token_revoked");
  });
});

describe("messages", () => {
  test("a post needs a channel the bot may write to, and words", async () => {
    const { slack, ana, client } = await scene();
    const far = slack.addChannel({ name: "far", members: [ana], bot: false });
    const hidden = slack.addChannel({
      name: "hidden",
      isPrivate: true,
      members: [ana],
      bot: false,
    });
    const old = slack.addChannel({ name: "old", members: [ana] });
    slack.archive(old);
    const to = (channel: string, text = "hi") => refusal(post(client, { channel, text }));
    expect(await to("C0NONE")).toBe("channel_not_found");
    expect(await to(hidden.id)).toBe("channel_not_found");
    expect(await to(far.id)).toBe("not_in_channel");
    expect(await to(old.id)).toBe("is_archived");
    expect(await to(slack.openDm(ana).id, " ")).toBe("no_text");
    expect(await to(slack.botUser.id)).toBe("cannot_dm_bot");
    await post(client, { channel: ana.id, text: "to you" });
    expect(slack.messages(slack.openDm(ana))).toMatchObject([{ text: "to you" }]);
  });

  test("a reply to a message that is gone lands in the channel, as in Slack", async () => {
    const { slack, ana, ops, client } = await scene();
    const root = slack.say(ana, ops, "hi");
    slack.remove(ana, ops, root);
    const ts = await post(client, { channel: ops.id, text: "an answer", thread_ts: root });
    expect(slack.messages(ops)).toMatchObject([{ ts, text: "an answer" }]);
    expect(slack.messages(ops)[0]).not.toHaveProperty("thread_ts");
    const odd = post(client, { channel: ops.id, text: "an answer", thread_ts: "0" });
    expect(await refusal(odd)).toBe("invalid_thread_ts");
  });

  test("an update replaces text and blocks, keeps metadata, and only of the bot's own messages", async () => {
    const { slack, ana, ops, client } = await scene();
    const channel = ops.id;
    const metadata = { event_type: "watchkeeper", event_payload: { id: "d1" } };
    const ts = await post(client, { channel, text: "one", blocks: [section("One")], metadata });
    await client.chat.update({ channel, ts, text: "two" });
    expect(slack.messages(ops).map((message) => slack.textOf(message))).toEqual(["two"]);
    expect(slack.messages(ops)[0]).toMatchObject({ metadata, edited: { user: "U0BOT" } });
    const theirs = slack.say(ana, ops, "mine");
    const change = (of: string, text = "x") =>
      refusal(client.chat.update({ channel, ts: of, text }));
    expect(await change(theirs)).toBe("cant_update_message");
    expect(await change(TS)).toBe("message_not_found");
    expect(await change(ts, "x".repeat(4_001))).toBe("msg_too_long");
    expect(await refusal(client.chat.delete({ channel, ts: theirs }))).toBe("cant_delete_message");
    await client.chat.delete({ channel, ts });
    expect(await refusal(client.chat.delete({ channel, ts }))).toBe("message_not_found");
  });

  test("metadata is given back only where it is asked for", async () => {
    const { ops, client } = await scene();
    const channel = ops.id;
    const metadata = { event_type: "watchkeeper", event_payload: { id: "d1" } };
    const ts = await post(client, { channel, text: "one", metadata });
    const plain = await client.conversations.replies({ channel, ts });
    const full = await client.conversations.replies({ channel, ts, include_all_metadata: true });
    expect(plain.messages?.[0]).not.toHaveProperty("metadata");
    expect(full.messages?.[0]).toMatchObject({ metadata });
    const bad = post(client, { channel, text: "one", metadata: { event_type: "x" } });
    expect(await refusal(bad)).toBe("invalid_metadata_schema");
  });

  test("an ephemeral message reaches one person, who must be there", async () => {
    const { slack, ana, ops, client } = await scene();
    const bob = slack.addUser({ name: "bob" });
    const whisper = (user: string) =>
      client.chat.postEphemeral({ channel: ops.id, user, text: "psst" });
    await whisper(ana.id);
    expect(slack.ephemerals(ana)).toMatchObject([{ text: "psst", channel: ops.id }]);
    expect(await refusal(whisper(bob.id))).toBe("user_not_in_channel");
    expect(slack.messages(ops)).toEqual([]);
  });

  test("what notifies people is counted, in text and in blocks", async () => {
    const { slack, ana, ops, client } = await scene();
    const channel = ops.id;
    await post(client, { channel, text: "&lt;!channel&gt; is fine" });
    await post(client, { channel, text: "x", blocks: [rich({ type: "text", text: "<!here>" })] });
    expect(slack.pings).toEqual([]);
    await post(client, { channel, text: "x", blocks: [section("<!channel>")] });
    await post(client, { channel, text: `<@${ana.id}>` });
    await post(client, {
      channel,
      text: "x",
      blocks: [rich({ type: "broadcast", range: "here" })],
    });
    expect(slack.pings.map(({ what }) => what)).toEqual(["<!channel>", `<@${ana.id}>`, "<!here>"]);
  });
});

describe("reading", () => {
  test("replies come in pages, the root first and once", async () => {
    const { slack, ana, ops, client } = await scene();
    const root = slack.say(ana, ops, "root");
    const replies = Array.from({ length: 5 }, (_, at) =>
      slack.say(ana, ops, `${at}`, { thread: root }),
    );
    const seen: (string | undefined)[] = [];
    let pages = 0;
    const asked = { channel: ops.id, ts: root, limit: 4 };
    for await (const page of client.paginate("conversations.replies", asked)) {
      pages += 1;
      const { messages = [] } = page as webApi.ConversationsRepliesResponse;
      seen.push(...messages.map(({ ts }) => ts));
    }
    expect([pages, seen]).toEqual([2, [root, ...replies]]);
    const late = await client.conversations.replies({
      channel: ops.id,
      ts: root,
      oldest: replies[3] ?? "",
    });
    expect(late.messages?.map(({ ts }) => ts)).toEqual([root, replies[4]]);
    const none = client.conversations.replies({ channel: ops.id, ts: TS });
    expect(await refusal(none)).toBe("thread_not_found");
  });

  test("a removed root with replies leaves a tombstone", async () => {
    const { slack, ana, ops, client } = await scene();
    const root = slack.say(ana, ops, "root");
    const reply = slack.say(ana, ops, "reply", { thread: root });
    slack.remove(ana, ops, root);
    expect(slack.messages(ops).map(({ ts }) => ts)).toEqual([reply]);
    const { messages } = await client.conversations.replies({ channel: ops.id, ts: root });
    expect(messages).toMatchObject([{ subtype: "tombstone" }, { text: "reply" }]);
  });

  test("people are what they are", async () => {
    const { slack, ana, client } = await scene();
    const about = async (standing: Parameters<typeof slack.addUser>[0]["standing"]) => {
      const { id } = slack.addUser({ name: "x", ...(standing !== undefined && { standing }) });
      return (await client.users.info({ user: id })).user;
    };
    expect(await about("guest")).toMatchObject({ is_restricted: true, is_ultra_restricted: false });
    expect(await about("ultra guest")).toMatchObject({
      is_restricted: true,
      is_ultra_restricted: true,
    });
    expect(await about("bot")).toMatchObject({ is_bot: true });
    expect(await about("deactivated")).toMatchObject({ deleted: true });
    expect(await about("stranger")).toMatchObject({ is_stranger: true, team_id: "T0AWAY" });
    expect(await about("external")).toMatchObject({ is_restricted: false, team_id: "T0AWAY" });
    expect((await client.users.info({ user: ana.id })).user).toMatchObject({
      tz: "Europe/Madrid",
      tz_offset: 3_600,
    });
    expect(await refusal(client.users.info({ user: "U0NONE" }))).toBe("user_not_found");
  });

  test("members come in pages, and a private channel is unknown from outside", async () => {
    const { slack, ana, client } = await scene();
    const crowd = Array.from({ length: 5 }, () => slack.addUser({ name: "x" }));
    const big = slack.addChannel({ name: "big", members: crowd });
    const first = await client.conversations.members({ channel: big.id, limit: 4 });
    const cursor = first.response_metadata?.next_cursor ?? "";
    const rest = await client.conversations.members({ channel: big.id, limit: 4, cursor });
    expect([...(first.members ?? []), ...(rest.members ?? [])]).toHaveLength(6);
    const hidden = slack.addChannel({
      name: "hidden",
      isPrivate: true,
      members: [ana],
      bot: false,
    });
    expect(await refusal(client.conversations.info({ channel: hidden.id }))).toBe(
      "channel_not_found",
    );
    slack.addGroup("S0SRE", [ana]);
    expect((await client.usergroups.users.list({ usergroup: "S0SRE" })).users).toEqual([ana.id]);
    expect(await refusal(client.usergroups.users.list({ usergroup: "S0NONE" }))).toBe(
      "no_such_subteam",
    );
  });
});

describe("forms and triggers", () => {
  test("a trigger opens one form", async () => {
    const { slack, ana, ops, client } = await scene();
    const app = await socketApp(slack);
    const triggers: string[] = [];
    app.action("approve:a1", async ({ ack, body }) => {
      await ack();
      if (body.type === "block_actions") triggers.push(body.trigger_id);
    });
    const ts = await post(client, {
      channel: ops.id,
      text: "x",
      blocks: [{ type: "actions", elements: [BUTTON] }],
    });
    await slack.press(ana, ops, ts, "approve:a1");
    await slack.press(ana, ops, ts, "approve:a1");
    await eventually(() => expect(triggers).toHaveLength(2));
    const open = (trigger_id = "", view = WHY) => refusal(client.views.open({ trigger_id, view }));
    expect(await open(triggers[0])).toBe("it was not refused");
    expect(await open(triggers[0])).toBe("exchanged_trigger_id");
    expect(await open("1.2.3")).toBe("invalid_trigger_id");
    const { submit: _submit, ...silent } = WHY;
    expect(await open(triggers[1], silent as typeof WHY)).toBe("invalid_arguments");
  });
});

describe("trouble on demand", () => {
  test("a method fails as often as it was told to, and the calls are written down", async () => {
    const { slack, ops, client } = await scene();
    const channel = ops.id;
    slack.fail("chat.postMessage", { error: "restricted_action", times: 2 });
    expect(await refusal(post(client, { channel, text: "1" }))).toBe("restricted_action");
    expect(await refusal(post(client, { channel, text: "2" }))).toBe("restricted_action");
    await post(client, { channel, text: "3" });
    slack.fail("chat.postMessage", { status: 429, retryAfter: 7 });
    const limited: unknown = await post(client, { channel, text: "4" }).catch((reason) => reason);
    expect(limited).toBeInstanceOf(webApi.WebAPIRateLimitedError);
    expect(limited).toMatchObject({ retryAfter: 7 });
    slack.fail("*", { status: 503 });
    expect(await refusal(post(client, { channel, text: "5" }))).toBe("WebAPIHTTPError");
    slack.fail("*", { cut: true });
    expect(await refusal(post(client, { channel, text: "6" }))).toBe("WebAPIRequestError");
    slack.fail("*", { cutAfterCarryingOut: true });
    expect(await refusal(post(client, { channel, text: "7" }))).toBe("WebAPIRequestError");
    expect(slack.messages(ops).map(({ text }) => text)).toEqual(["3", "7"]);
    expect(slack.calls.map(({ status }) => status)).toEqual([200, 200, 200, 429, 503, 0, 0]);
  });

  test("a call that is never answered times out", async () => {
    const { slack } = await scene();
    const options = { slackApiUrl: slack.apiUrl, timeout: 30, retryConfig: { retries: 0 } };
    const logLevel = webApi.LogLevel.ERROR;
    const client = new webApi.WebClient(slack.botToken, { ...options, logLevel });
    slack.fail("auth.test", { timeout: true });
    expect(await refusal(client.auth.test())).toBe("WebAPIRequestError");
  });
});

describe("files", () => {
  test("what a person attaches is behind the token; without it there is a page to sign in on", async () => {
    const { slack, ana, ops } = await scene();
    const file = { name: "log.txt", mimetype: "text/plain", content: "disk full" };
    slack.say(ana, ops, "see", { files: [file] });
    const [message] = slack.messages(ops);
    expect(message).toMatchObject({ subtype: "file_share", files: [{ name: "log.txt", size: 9 }] });
    const url = String(message?.files?.[0]?.["url_private"]);
    const headers = { authorization: `Bearer ${slack.botToken}` };
    expect(await (await fetch(url, { headers })).text()).toBe("disk full");
    const outside = await fetch(url);
    expect([outside.status, outside.headers.get("content-type")]).toEqual([200, "text/html"]);
  });
});

test("a stream takes chunks of the right form from its app while it is open, and nothing else meanwhile", async () => {
  const { slack, ana, ops, client } = await scene({ streamMs: 200 });
  const root = slack.say(ana, ops, "hi");
  const ask = (method: string, args: Record<string, unknown>) =>
    refusal(client.apiCall(method, { channel: ops.id, thread_ts: root, ...args }));
  const task = { type: "task_update", id: "t1", title: "Looking", status: "in_progress" };
  const reader = { recipient_user_id: ana.id, recipient_team_id: slack.team.id };
  expect(await ask("chat.startStream", {})).toBe("missing_recipient_user_id");
  const { recipient_team_id: _team, ...half } = reader;
  expect(await ask("chat.startStream", half)).toBe("missing_recipient_team_id");
  const both = { ...reader, chunks: [task], markdown_text: "a" };
  expect(await ask("chat.startStream", both)).toBe("cannot_provide_both_markdown_text_and_chunks");
  const direct = { ...reader, channel: slack.openDm(ana).id, chunks: [task] };
  expect(await ask("chat.startStream", direct)).toBe("invalid_arguments");
  const long = { ...reader, chunks: [{ ...task, title: "x".repeat(257) }] };
  expect(await ask("chat.startStream", long)).toBe("invalid_chunks");
  const many = Array.from({ length: 51 }, (_, at) => ({ ...task, id: `t${at}` }));
  expect(await ask("chat.startStream", { ...reader, chunks: many })).toBe("msg_blocks_too_many");
  const { ts } = await client.chat.startStream({
    channel: ops.id,
    thread_ts: root,
    ...reader,
    chunks: [{ ...task, type: "task_update", status: "in_progress" }],
  });
  expect(await ask("chat.update", { ts, text: "a" })).toBe("streaming_state_conflict");
  expect(await ask("chat.delete", { ts })).toBe("cant_delete_message");
  expect(await ask("chat.appendStream", { ts, markdown_text: "a" })).toBe(
    "streaming_mode_mismatch",
  );
  expect(await ask("chat.appendStream", { ts: root, chunks: [task] })).toBe(
    "message_not_owned_by_app",
  );
  expect(slack.stoppedStreams).toEqual([]);
  await until(() => slack.openStreams(ops, root).length === 0);
  for (const method of ["chat.appendStream", "chat.stopStream"])
    expect(await ask(method, { ts, chunks: [task] })).toBe("message_not_in_streaming_state");
  expect(await ask("chat.update", { ts, text: "a" })).not.toBe("streaming_state_conflict");
});
