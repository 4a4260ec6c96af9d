/** A JSON object whose form Slack decides. */
export type Data = Record<string, unknown>;

/** Something with an id, or the id. */
export type Ref = string | { readonly id: string };

/**
 * `external` is a full member of another workspace, met in a shared channel; a `stranger` is one who shares no channel with
 * the bot.
 */
export type FakeStanding =
  | "member"
  | "guest"
  | "ultra guest"
  | "bot"
  | "deactivated"
  | "external"
  | "stranger";

export interface FakeUser {
  readonly id: string;
  readonly name: string;
  readonly teamId: string;
  /** IANA, such as `Europe/Madrid`; undefined when the person has set none. */
  readonly tz: string | undefined;
  standing: FakeStanding;
}

export interface FakeChannel {
  readonly id: string;
  readonly name: string;
  readonly kind: "channel" | "group" | "im" | "mpim";
  readonly members: Set<string>;
  archived: boolean;
  /** With another company, or as it is invited. */
  sharing?: "shared" | "invited";
}

/** A message as it stands, in the form the Web API gives it; `channel` is the fake's own. */
export interface FakeMessage {
  type: "message";
  subtype?: string;
  channel: string;
  ts: string;
  thread_ts?: string;
  user: string;
  text: string;
  team: string;
  blocks?: Data[];
  attachments?: Data[];
  files?: Data[];
  metadata?: Data;
  edited?: { user: string; ts: string };
  bot_id?: string;
  bot_profile?: Data;
  client_msg_id?: string;
}

/** An open message (https://docs.slack.dev/reference/methods/chat.startStream), and what became of it. */
export interface FakeStream {
  readonly mode: string;
  readonly at: number;
  /** It takes chunks, or bare text: not both. */
  readonly isChunked: boolean;
  /** Undefined while it is open. */
  end: "app" | "user" | undefined;
}

/** What only one person sees. */
export interface FakeEphemeral {
  readonly ts: string;
  readonly channel: string;
  readonly thread_ts: string | undefined;
  readonly user: string;
  text: string;
  blocks: Data[];
}

/** A form a person has in front of them. */
export interface FakeView {
  readonly id: string;
  readonly user: string;
  /** As sent, with Slack's additions. */
  view: Data;
  /** Shown under the fields, by block id. */
  errors: Record<string, string>;
  /** False once submitted or closed. */
  open: boolean;
}

/** What only the person who typed a command was answered, at once or through its response URL. */
export interface FakeReply {
  readonly user: string;
  readonly text: string;
  readonly blocks: Data[];
}

/** What became of one event or interaction after all its attempts. */
export type Acknowledgement =
  | { acknowledged: true; payload: unknown; ms: number; attempts: number }
  | { acknowledged: false; reason: string; attempts: number };

/** One event or interaction, with every attempt to deliver it. */
export interface Delivered {
  readonly kind: "event" | "interaction";
  /** `app_mention`, `message`, `message_changed`, `block_actions`, … */
  readonly type: string;
  readonly eventId: string | undefined;
  /** The message it is about. */
  readonly ts: string | undefined;
  readonly attempts: { num: number; ms: number; outcome: string }[];
}

/** One request to the Web API. */
export interface Call {
  readonly method: string;
  /** Without the token; JSON arguments parsed. */
  readonly args: Data;
  readonly at: number;
  ms: number;
  /** 0 until answered, and for a response that was never sent. */
  status: number;
  result: Data | undefined;
}

/** What to do to the next `times` calls of a method instead of answering them properly. */
export type Fault = { times?: number } & (
  | { error: string; with?: Data }
  /** An HTTP status with a body that is no JSON; `retryAfter` in seconds. */
  | { status: number; retryAfter?: number }
  /** Never answered. */
  | { timeout: true }
  /** The connection is cut before anything happened. */
  | { cut: true }
  /** Carried out, but the response is lost. */
  | { cutAfterCarryingOut: true }
);

export interface FakeFile {
  readonly name: string;
  readonly mimetype: string;
  readonly content: string | Uint8Array;
}

export interface FakeSlackOptions {
  /** The workspace, where it is not the one of always. */
  team?: { id: string; domain: string; name: string };
  /** The bot token's. Default: every scope that a method or event of this fake asks for. */
  scopes?: readonly string[];
  /** Events the app is subscribed to. Default: mentions, messages everywhere, a session's Stop. */
  events?: readonly string[];
  /** Before the 1st, 2nd, 3rd retry of an event. Default 10, 50, 200; the real ones are about 0, 60 000, 300 000. */
  retryDelaysMs?: readonly number[];
  /** Within which an event or interaction must be acknowledged. Default: the real 3 000. */
  ackWithinMs?: number;
  /** Every event and interaction comes this many times, in an order drawn from the seed, over some 30 ms. */
  shuffle?: { copies: number; seed: number };
  /** Before each answer of the Web API. */
  latencyMs?: number;
  /** The Home tab is turned on. Default true. */
  home?: boolean;
  /** The app is declared an agent. Default true. */
  agent?: boolean;
  /** A stream is closed so long after its start. Default: the real 300 000. */
  streamMs?: number;
  /** Chooses which connection an envelope takes. */
  seed?: number;
}
