import { describe, expect, test } from "vitest";
import * as z from "zod";
import { readEnvelope } from "../../../src/adapters/slack/entrance.ts";
import { submitSchema } from "../../../src/adapters/slack/forms.ts";
import { pressSchema } from "../../../src/adapters/slack/interactions.ts";
import { eventSchema } from "../../../src/adapters/slack/read-message.ts";
import { publicRecords } from "../../public-data.ts";
import { formOf, readBy, unexcused, unrecorded } from "../form.ts";
import { answering, BUTTON, post, scene, WHY } from "./scene.ts";

const bodySchema = z.looseObject({
  type: z.string().default(""),
  event: z.looseObject({ type: z.string(), subtype: z.string().optional() }).optional(),
});
type Body = z.infer<typeof bodySchema>;

const recorded = z
  .array(z.object({ body: bodySchema }))
  .parse(publicRecords("payloads/slack.ndjson"))
  .map(({ body }) => body);

/** An event goes in an envelope, the same for all; interactions have none. */
function partsOf({ event, ...rest }: Body): [kind: string, value: unknown][] {
  if (event === undefined) return [[rest.type, rest]];
  const isPlain = event.subtype === undefined || event.subtype === "" || event.type !== "message";
  const kind = isPlain ? event.type : `${event.type}/${event.subtype}`;
  return [
    ["envelope", rest],
    [kind, event],
  ];
}

const records = recorded.flatMap(partsOf);

/** Blocks are the same wherever they stand. */
const form = (values: readonly (readonly [kind: string, value: unknown])[]) =>
  formOf(values, (key) => (key === "blocks" ? key : undefined));

/** Everything that a workspace sends, of each kind once at least. */
async function everything(): Promise<Body[]> {
  const { slack, ana, ops, client } = await scene();
  const bodies: Body[] = [];
  const { url } = await answering((text) => {
    const body = bodySchema.parse(JSON.parse(new URLSearchParams(text).get("payload") ?? text));
    if (body.type !== "url_verification") bodies.push(body);
    return { status: 200, headers: {}, body: body.type === "url_verification" ? text : "" };
  });
  await slack.deliverTo(url);
  const files = [{ name: "a.txt", mimetype: "text/plain", content: "a" }];
  const root = slack.say(ana, ops, "is <https://a.test|web> well? <!here>", { mention: true });
  slack.say(ana, ops, "see", { thread: root, mention: true, files });
  slack.say(ana, ops, "all see", { thread: root, broadcast: true });
  slack.say(ana, slack.openDm(ana), "hello");
  const reply = slack.say(ana, ops, "no", { thread: root });
  slack.edit(ana, ops, reply, "yes");
  slack.remove(ana, ops, reply);
  const bob = slack.addUser({ name: "bob" });
  slack.join(ops, bob);
  slack.leave(ops, bob);
  const card = {
    channel: ops.id,
    thread_ts: root,
    text: "May I?",
    blocks: [{ type: "actions", elements: [BUTTON] }],
  };
  await slack.press(ana, ops, await post(client, card), BUTTON.action_id);
  const trigger_id = String(bodies.at(-1)?.["trigger_id"]);
  await client.views.open({ trigger_id, view: WHY });
  await slack.submit(ana, slack.views(ana).at(-1)?.id ?? "", "so");
  await client.apiCall("chat.postEphemeral", { ...card, user: ana.id });
  await slack.press(ana, ops, slack.ephemerals(ana).at(-1)?.ts ?? "", BUTTON.action_id);
  const session = { channel_id: ops.id, thread_ts: root, status: "processing" };
  await client.apiCall("agents.sessions.setStatus", session);
  await slack.stopSession(ana, ops, root);
  slack.remove(ana, ops, root);
  await slack.idle();
  return bodies;
}

const TYPES = "https://github.com/slackapi/node-slack-sdk/blob/main/packages/types/src/events";
const REFERENCE = "https://docs.slack.dev/reference";

/** What no record shows, and where Slack does. */
const DOCUMENTED = {
  agent_session_stopped: `${REFERENCE}/events/agent_session_stopped`,
  "app_mention.files": `${TYPES}/app.ts`,
  "blocks[].element": `${REFERENCE}/block-kit/blocks/input-block`,
  "blocks[].elements[].elements[]": `${REFERENCE}/block-kit/blocks/rich-text-block`,
  "blocks[].label": `${REFERENCE}/block-kit/blocks/input-block`,
  "view_submission.view.blocks": `${REFERENCE}/interaction-payloads/view-interactions-payload`,
  "view_submission.view.state.values": `${REFERENCE}/interaction-payloads/view-interactions-payload`,
};

describe.skipIf(recorded.length === 0)("what Slack's own SDKs show that it sends", () => {
  test("has every field that the fake sends, with its type", async () => {
    const fields = unrecorded(form((await everything()).flatMap(partsOf)), form(records));
    expect(unexcused(fields, Object.keys(DOCUMENTED))).toEqual([]);
  });

  const messages = ["app_mention", "message", "message/file_share", "message/thread_broadcast"];
  test.each([
    ["mentions and messages", eventSchema, messages, []],
    ["presses", pressSchema, ["block_actions"], []],
    ["forms", submitSchema, ["view_submission"], ["read.view.state.values"]],
  ])("has every field that is read of %s", (_, schema, kinds, documented) => {
    const values = records.filter(([kind]) => kinds.includes(kind));
    const fields = unrecorded(
      readBy("read", schema),
      form(values.map(([, value]) => ["read", value])),
      { any: true },
    );
    expect(unexcused(fields, documented)).toEqual([]);
  });

  test("has every field that says whom it is for", () => {
    const [read, there] = [new Set<string>(), new Set<string>()];
    function watched(value: unknown, path = ""): unknown {
      if (Array.isArray(value)) return value.map((each) => watched(each, path));
      if (typeof value !== "object" || value === null) return value;
      return new Proxy(value, {
        get(fields, name) {
          const field = `${path}.${String(name)}`;
          const found: unknown = Reflect.get(fields, name);
          read.add(field);
          if (found !== undefined && found !== null) there.add(field);
          return watched(found, field);
        },
      });
    }
    for (const body of recorded) readEnvelope(watched(body));
    expect(read.size).toBeGreaterThan(10);
    // Of the request that asks whether the address is ours, which no SDK's tests hold.
    expect([...read].filter((field) => !there.has(field))).toEqual([".challenge"]);
  });
});
