import { rootOf } from "./threads.ts";
import type { Methods } from "./method.ts";
import type { Data } from "./types.ts";
import { invalid, Refusal, writableChannel, type FakeStatus, type World } from "./world.ts";

const STATUSES = ["active", "processing", "suspended", "closed"];

/** Sets a thread's session, and makes it if there is none. @throws Refusal invalid_arguments */
export function setStatus(
  world: World,
  channel: string,
  thread: string,
  status: string,
  title?: string,
): void {
  if (!STATUSES.includes(status)) throw invalid(`status must be one of ${STATUSES.join(", ")}`);
  if (!world.settings.agent) return;
  const key = `${channel} ${thread}`;
  const session = world.sessions.get(key);
  if (session === undefined) world.sessions.set(key, { channel, thread, status, title });
  else session.status = status;
  world.statuses.push({ kind: "session", channel, thread, status, at: world.now() });
}

/** An assistant's status clears itself two minutes after it was set (document of the method), or by a message. */
const STATUS_LIFE_MS = 120_000;

function isShown({ kind, status }: FakeStatus): boolean {
  return kind === "assistant" && status !== "";
}

/** Clears the assistant's status in a thread because a message came. */
export function clearStatus(world: World, channel: string, thread: string | undefined): void {
  const last = world.statuses.findLast(
    (set) => set.kind === "assistant" && set.channel === channel && set.thread === thread,
  );
  if (last !== undefined && isShown(last)) {
    world.statuses.push({ ...last, status: "", at: world.now() });
  }
}

/** Clears what has stood for too long. */
export function clearOldStatuses(world: World): void {
  for (const set of world.statuses.filter(isShown)) {
    const { channel, thread, at } = set;
    const isLatest = !world.statuses.some(
      (other) =>
        other.kind === "assistant" &&
        other.channel === channel &&
        other.thread === thread &&
        other.at > at,
    );
    if (isLatest && world.now() - at > STATUS_LIFE_MS) clearStatus(world, channel, thread);
  }
}

/** Sessions of agents and the older status of assistants (https://docs.slack.dev/ai/agent-sessions). */
export function sessionMethods(world: World): Methods {
  return {
    "agents.sessions.setStatus": {
      tier: 3,
      scopes: ["chat:write"],
      run(args): Data {
        if (!world.settings.agent) throw new Refusal("not_allowed");
        const channel = writableChannel(world, args.need("channel_id"));
        const status = args.need("status");
        const root = rootOf(world, channel, args.need("thread_ts"), "thread_not_found");
        const title = args.text("title");
        if ((title?.length ?? 0) > 200) throw invalid("title must be at most 200 characters");
        const initiator = args.text("initiator_user_id");
        if (initiator !== undefined && !channel.members.has(initiator)) {
          throw new Refusal("user_not_in_channel");
        }
        setStatus(world, channel.id, root.ts, status, title);
        const warning = "missing_agent_session_stopped_event_subscription";
        if (status !== "processing" || world.settings.events.includes("agent_session_stopped")) {
          return { status, agent_status: status };
        }
        return { status, warning, response_metadata: { warnings: [warning] } };
      },
    },
    "agents.sessions.rename": {
      tier: 3,
      scopes: ["chat:write"],
      run(args): Data {
        const channel = writableChannel(world, args.need("channel_id"));
        const title = args.need("title");
        if (title.length > 200) throw invalid("title must be at most 200 characters");
        const session = world.sessions.get(`${channel.id} ${args.need("thread_ts")}`);
        if (session === undefined) throw new Refusal("session_not_found");
        session.title = title;
        return { title };
      },
    },
    "assistant.threads.setStatus": {
      tier: 3,
      scopes: ["assistant:write", "chat:write"],
      run(args): Data {
        const channel = writableChannel(world, args.need("channel_id"));
        const root = rootOf(world, channel, args.need("thread_ts"), "thread_not_found");
        const messages = args.json("loading_messages", "invalid_arguments") ?? [];
        if (!Array.isArray(messages) || messages.length > 10) {
          throw invalid("no more than 10 loading_messages");
        }
        const status = args.text("status") ?? "";
        const at = world.now();
        world.statuses.push({
          kind: "assistant",
          channel: channel.id,
          thread: root.ts,
          status,
          at,
        });
        return {};
      },
    },
  };
}
