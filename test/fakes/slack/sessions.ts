import { rootOf } from "./threads.ts";
import type { Methods } from "./method.ts";
import type { Data } from "./types.ts";
import { invalid, Refusal, writableChannel, type World } from "./world.ts";

const STATUSES = ["active", "processing", "suspended", "closed"];

/** Sessions of agents (https://docs.slack.dev/ai/agent-sessions). */
export function sessionMethods(world: World): Methods {
  return {
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
