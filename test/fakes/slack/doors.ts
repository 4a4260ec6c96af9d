import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import { blockProblems } from "./blocks.ts";
import type { Delivery } from "./delivery.ts";
import type { FakePeople } from "./people.ts";
import { bodyOf } from "./requests.ts";
import type { Acknowledgement, Data, Ref } from "./types.ts";
import { findMessage, idOf, shownMessage, type World } from "./world.ts";

/** https://docs.slack.dev/interactivity/handling-user-interaction#message_responses */
const MAX_USES = 5;
const LIFE_MS = 30 * 60_000;

const reply = z.strictObject({
  response_type: z.enum(["ephemeral", "in_channel"]).optional(),
  replace_original: z.boolean().optional(),
  text: z.string().min(1).max(40_000),
  blocks: z.array(z.record(z.string(), z.unknown())).default([]),
});

/** Shows the answer to who asked. Returns what is wrong with it. */
function showReply(world: World, user: string, answer: unknown): string | undefined {
  const read = reply.safeParse(answer);
  if (!read.success) return "invalid_payload";
  if (blockProblems(read.data.blocks, 50).length > 0) return "invalid_blocks";
  world.replies.push({ user, text: read.data.text, blocks: read.data.blocks });
  return undefined;
}

/** A request to a response URL: good five times, for half an hour. */
export async function takeReply(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = world.responseUrls.get(request.url ?? "");
  const body = (await bodyOf(request)).toString();
  const refuse = (status: number, text: string) => {
    response.writeHead(status);
    response.end(text);
  };
  if (url === undefined || Date.now() - url.at > LIFE_MS) return refuse(404, "expired_url");
  if (url.uses === MAX_USES) return refuse(404, "used_url");
  url.uses += 1;
  const problem = showReply(world, url.user, JSON.parse(body));
  if (problem !== undefined) return refuse(400, problem);
  response.end("ok");
}

export interface FakeDoors {
  command(user: Ref, channel: Ref, text: string): Promise<Acknowledgement>;
  shortcut(user: Ref, channel: Ref, ts: string, callback: string): Promise<Acknowledgement>;
  openHome(user: Ref): Promise<Acknowledgement>;
  invite(inviter: Ref, channel: Ref): Promise<Acknowledgement>;
}

/** What people do besides writing and pressing. */
export function createDoors(world: World, people: FakePeople, delivery: Delivery): FakeDoors {
  function responseUrl(user: string): string {
    const path = `/commands/${world.team.id}/${world.nextId("R")}`;
    world.responseUrls.set(path, { user, at: Date.now(), uses: 0 });
    return world.origin + path;
  }
  return {
    async command(who, where, text) {
      const by = people.user(who);
      const place = people.channel(where);
      if (!place.members.has(by.id)) throw new Error(`${by.name} is not in ${place.name}`);
      const { trigger_id, token, api_app_id } = people.interaction("command", by);
      const outcome = await delivery.interaction({
        token,
        team_id: world.team.id,
        team_domain: world.team.domain,
        channel_id: place.id,
        channel_name: place.name,
        user_id: by.id,
        user_name: by.name,
        command: "/wk",
        text,
        api_app_id,
        is_enterprise_install: "false",
        response_url: responseUrl(by.id),
        trigger_id,
      });
      if (!outcome.acknowledged) return outcome;
      const problem = showReply(world, by.id, outcome.payload);
      if (problem === undefined) return outcome;
      return { acknowledged: false, reason: problem, attempts: 1 };
    },
    shortcut(who, where, ts, callback) {
      const by = people.user(who);
      const place = people.channel(where);
      const message = findMessage(world, place.id, ts);
      if (message === undefined) throw new Error(`no message ${ts} in ${place.id}`);
      return delivery.interaction({
        ...people.interaction("message_action", by),
        callback_id: callback,
        action_ts: world.nextTs(),
        response_url: responseUrl(by.id),
        channel: { id: place.id, name: place.name },
        message_ts: ts,
        message: shownMessage(world, message),
      });
    },
    openHome(who) {
      const event: Data = {
        type: "app_home_opened",
        user: idOf(who),
        channel: "D0HOME",
        tab: "home",
        event_ts: world.nextTs(),
      };
      return delivery.event(event);
    },
    invite(inviter, where) {
      const place = people.channel(where);
      place.members.add(world.bot.id);
      return delivery.event({
        type: "member_joined_channel",
        user: world.bot.id,
        channel: place.id,
        channel_type: place.kind === "channel" ? "C" : "G",
        team: world.team.id,
        inviter: idOf(inviter),
        event_ts: world.nextTs(),
      });
    },
  };
}
