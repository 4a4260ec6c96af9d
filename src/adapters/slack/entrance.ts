import * as z from "zod";
import { isBotError } from "../../core/errors.ts";
import { isRecord } from "../../core/json.ts";
import { dropNulls } from "../shared/payload.ts";
import type { QuietLog } from "../shared/quiet-log.ts";
import type { Doors } from "./doors.ts";
import { ADD_TO_INCIDENT } from "./shortcuts.ts";
import type { Messages } from "./messages.ts";
import type { Interactions } from "./interactions.ts";
import type { Reactions } from "./reactions.ts";
import type { Take } from "./receiver.ts";

const text = z.string().optional().catch(undefined);

/** The fields of a payload that say what it is, which app it is for and which workspace it came from. */
interface Envelope {
  type: string | undefined;
  command: string | undefined;
  challenge: string | undefined;
  app: string | undefined;
  hasOutsiders: boolean;
  /** Of an event. */
  event: { type: string } | undefined;
  /** Where a button was pressed: below a message, or on a Home tab. */
  view: { type: string | undefined; callback: string | undefined };
  /** The workspaces that it may have come through, as `teamsOf`. */
  teams: string[];
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
const hasType = (value: unknown): value is { type: string } =>
  isRecord(value) && typeof value["type"] === "string";
const fieldsOf = (value: unknown) => (isRecord(value) ? value : {});

/** By hand: each event pays for it before it is acknowledged. */
export function readEnvelope(body: unknown): Envelope | undefined {
  if (!isRecord(body)) return undefined;
  const { type, command, challenge, api_app_id: app, is_ext_shared_channel: hasOutsiders } = body;
  const view = fieldsOf(body["view"]);
  const { event } = body;
  return {
    type: textOf(type),
    command: textOf(command),
    challenge: textOf(challenge),
    app: textOf(app),
    hasOutsiders: hasOutsiders === true,
    event: hasType(event) ? event : undefined,
    view: { type: textOf(view["type"]), callback: textOf(view["callback_id"]) },
    teams: teamsOf(body, hasType(event)),
  };
}

/** Who takes what comes through a workspace. */
export interface Entered {
  messages: Messages;
  interactions: Interactions;
  doors: Doors;
  reactions: Reactions;
  /** The app that the bot is, where it is known. */
  app(): string | undefined;
  onDropped(): Promise<void>;
  /** Slack says that the app was taken out of it. */
  onRemoved(event: string): Promise<void>;
}

export interface EntranceParts {
  /** The first of these workspaces that is served. */
  find(teams: readonly string[]): Promise<Entered | undefined>;
  /** Of a channel that workspaces share, the one whose it is to take this. */
  sharing(said: SharedEvent): Promise<Entered | undefined>;
  quietly: QuietLog;
}

/**
 * Checks everything that Slack sends, over HTTP or Socket Mode. What comes from another workspace, is for another app or has an
 * unknown form is acknowledged, so that Slack does not send it again, and logged; it goes no further.
 */
export function createEntrance(parts: EntranceParts): Take {
  const { quietly } = parts;

  return async (raw) => {
    dropNulls(raw);
    const read = readEnvelope(raw);
    if (read === undefined) {
      quietly("dropped what Slack sent: it is not an object", "request");
      return undefined;
    }
    if (read.type === "url_verification") return { challenge: read.challenge ?? "" };
    const what = read.event?.type ?? read.type ?? "no type";
    try {
      const entered = await parts.find(read.teams);
      const foreign = whyForeign(read, entered);
      if (entered === undefined || foreign !== undefined) {
        quietly("a request was refused", foreign ?? what);
        return undefined;
      }
      const shared = read.hasOutsiders ? trySharedEvent(read.event) : undefined;
      const taker = (shared && (await parts.sharing(shared))) ?? entered;
      return await route(read, raw, { ...taker, quietly });
    } catch (error) {
      if (isBotError(error)) {
        quietly("it could not be taken and is not acknowledged", what, error);
        throw error;
      }
      // It could not be read the second time either.
      quietly("what Slack sent cannot be read and was dropped", what, error);
      return undefined;
    }
  };
}

/** What is said in a thread, by which the workspace is found that has it. */
export interface SharedEvent {
  channel: string;
  root: string;
  text: string;
}

const said = z.object({ ts: text, thread_ts: text, text });
const sharedEvent = said.extend({
  channel: z.string(),
  message: said.optional().catch(undefined),
  previous_message: said.optional().catch(undefined),
});

function trySharedEvent(event: unknown): SharedEvent | undefined {
  const read = sharedEvent.safeParse(event).data;
  const words = read?.message ?? read?.previous_message ?? read;
  const root = words?.thread_ts ?? words?.ts;
  if (read === undefined || root === undefined) return undefined;
  return { channel: read.channel, root, text: words?.text ?? "" };
}

/**
 * Why it is not for this bot. Only the workspace through which it came counts, never that of whoever wrote it: in a shared
 * channel people of other companies write too.
 */
function whyForeign(
  { app: named, teams }: Envelope,
  entered: Entered | undefined,
): string | undefined {
  if (entered === undefined)
    return `it is of no workspace that is served (${[...new Set(teams)].join(", ") || "none named"})`;
  const own = entered.app();
  if (own === undefined || named === undefined || named === own) return undefined;
  return `it is for the app ${named}, and this is ${own}`;
}

/**
 * The workspaces that a payload may have come through. For an event: its channel's workspace, which may be another company's if
 * the channel is shared, and the workspace of the installation that gets the event, which Slack's own libraries go by. The event's
 * context counts where no installation is named. The surest is first: of an event its channel's own, so that a shared channel is
 * one place where both are served, and of a press that of the message or the window, which are ours.
 */
function teamsOf(body: Record<string, unknown>, isEvent: boolean): string[] {
  const { team_id, context_team_id, authorizations, team, message, view } = body;
  if (!isEvent) {
    const pressed = [fieldsOf(message)["team"], fieldsOf(view)["app_installed_team_id"]];
    return textsIn([...pressed, fieldsOf(team)["id"], team_id]);
  }
  const given: unknown[] = Array.isArray(authorizations) ? authorizations : [];
  const installed = textsIn(given.map((each) => fieldsOf(each)["team_id"]));
  return textsIn([team_id, ...(installed.length > 0 ? installed : [context_team_id])]);
}

const textsIn = (values: readonly unknown[]) => values.filter((each) => typeof each === "string");

async function route(
  read: Envelope,
  body: unknown,
  parts: Entered & { quietly: QuietLog },
): Promise<unknown> {
  const { interactions, doors, quietly } = parts;
  if (read.command !== undefined) return doors.commands.take(body);
  const { type = "no type" } = read;
  switch (type) {
    case "event_callback":
      return hear(read.event, parts);
    case "block_actions":
      // Home has only links, which Slack's client opens.
      if (read.view.type === "home") return undefined;
      await interactions.press(body);
      return undefined;
    case "message_action":
      await doors.shortcuts.use(body);
      return undefined;
    case "view_submission":
      if (read.view.callback === ADD_TO_INCIDENT) return doors.shortcuts.choose(body);
      return interactions.submit(body);
    case "app_rate_limited":
      return parts.onDropped();
    case "block_suggestion":
    case "dialog_suggestion":
      quietly("a list was asked for that this bot does not have", type);
      return { options: [] };
    default:
      quietly("something was sent that this bot has no use for", type);
      return undefined;
  }
}

async function hear(
  event: Envelope["event"],
  parts: Entered & { quietly: QuietLog },
): Promise<undefined> {
  const { messages, interactions, doors, reactions, quietly } = parts;
  const type = event?.type ?? "no type";
  switch (type) {
    case "app_mention":
    case "message":
      await messages.hear(event);
      return;
    case "agent_session_stopped":
      await interactions.stop(event);
      return;
    case "reaction_added":
    case "reaction_removed":
      await reactions.take(event);
      return;
    case "app_home_opened":
      doors.home.open(event);
      return;
    case "member_joined_channel":
      doors.hello.join(event);
      return;
    case "app_uninstalled":
    case "tokens_revoked":
      await parts.onRemoved(type);
      return;
    default:
      quietly("an event came that this bot has no use for", type);
  }
}
