import { rootOf } from "./threads.ts";
import type { Methods } from "./method.ts";
import type { Data } from "./types.ts";
import { invalid, Refusal, writableChannel, type World } from "./world.ts";

const STATUSES = ["active", "processing", "suspended", "closed"];

/** https://docs.slack.dev/reference/methods/assistant.threads.setStatus */
const MAX_LOADING = 10;
/** https://docs.slack.dev/reference/methods/agents.sessions.rename */
const MAX_TITLE = 200;
const LINE_MS = 120_000;

/** The words of a thread's status: gone after two minutes, and with the app's next message there. */
export function statusLine(world: World, channel: string, thread: string): string {
  const { text, at } = world.statusLines.get(`${channel} ${thread}`) ?? { text: "", at: 0 };
  const isStale =
    Date.now() - at >= LINE_MS ||
    world.messages.some(
      ({ thread_ts, user, ts }) =>
        thread_ts === thread && user === world.bot.id && Number(ts) * 1_000 > at,
    );
  return isStale ? "" : text;
}

/** Sessions of agents (https://docs.slack.dev/ai/agent-sessions). */
export function sessionMethods(world: World): Methods {
  return {
    "assistant.threads.setStatus": {
      scopes: ["chat:write"],
      run(args): Data {
        if (!world.settings.agent) throw new Refusal("not_allowed");
        const channel = writableChannel(world, args.need("channel_id"));
        const root = rootOf(world, channel, args.need("thread_ts"), "thread_not_found");
        const messages = args.json("loading_messages", "invalid_arguments") ?? [];
        if (!Array.isArray(messages) || messages.length > MAX_LOADING)
          throw invalid(`loading_messages must hold at most ${MAX_LOADING}`);
        const text = args.text("status") ?? "";
        world.statusLines.set(`${channel.id} ${root.ts}`, { text, at: Date.now() });
        return {};
      },
    },
    "agents.sessions.rename": {
      scopes: ["chat:write"],
      run(args): Data {
        if (!world.settings.agent) throw new Refusal("not_allowed");
        const channel = writableChannel(world, args.need("channel_id"));
        const title = args.need("title");
        const root = rootOf(world, channel, args.need("thread_ts"), "thread_not_found");
        if (title.length > MAX_TITLE)
          throw invalid(`title must have at most ${MAX_TITLE} characters`);
        world.titles.set(`${channel.id} ${root.ts}`, title);
        return { title };
      },
    },
    "agents.sessions.setStatus": {
      scopes: ["chat:write"],
      run(args): Data {
        if (!world.settings.agent) throw new Refusal("not_allowed");
        const channel = writableChannel(world, args.need("channel_id"));
        const status = args.need("status");
        const root = rootOf(world, channel, args.need("thread_ts"), "thread_not_found");
        if (!STATUSES.includes(status)) {
          throw invalid(`status must be one of ${STATUSES.join(", ")}`);
        }
        world.sessions.set(`${channel.id} ${root.ts}`, status);
        const warning = "missing_agent_session_stopped_event_subscription";
        if (status !== "processing" || world.settings.events.includes("agent_session_stopped")) {
          return { status, agent_status: status };
        }
        return { status, warning, response_metadata: { warnings: [warning] } };
      },
    },
  };
}
