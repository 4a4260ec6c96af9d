import type { Adapter } from "../../adapters/adapter.ts";
import type { Transcript } from "../../agent/transcript.ts";
import type { AccessPolicy } from "../../approvals/access.ts";
import type { Heard } from "../../approvals/heard.ts";
import type { ApprovalPolicy } from "../../approvals/policy.ts";
import type { HostBeat } from "../../core/host-beat.ts";
import type { Model } from "../../models/model.ts";
import type { Encoder } from "../../security/encoder.ts";
import type { RunParts } from "../../thread/surroundings.ts";
import type { Thread } from "../../thread/state.ts";
import type { Dispatcher } from "../../tools/dispatch.ts";
import type { JournalContext, WorkerParts } from "../handler.ts";

/** What threads are worked on with, besides what every kind of journal needs. */
export interface ThreadParts extends WorkerParts {
  dispatcher: Dispatcher;
  policy: ApprovalPolicy;
  /** `network.allow`: hosts that the configuration knows. Default: none. */
  network?: readonly string[];
  access: AccessPolicy;
  run: RunParts;
  encoder: Encoder;
  /** A model by its id, made once. @throws BotError CONFIG_INVALID when there is no such model or no key for it */
  model(id: string): Promise<Model>;
  adapterOf(transport: string): Adapter | undefined;
  /** The zone that times without one are meant in; undefined: the asker's own, else UTC. */
  timezone: string | undefined;
  /** Who is behind an account. */
  personOf(account: string): string;
  /** A run that takes longer gets a message that shows its progress, a quicker one only its answer. In ms. */
  showAfterMs: number;
  /** How long one look-up of people on the platform may take, in ms. Default 10 s. */
  lookUpMs?: number;
}

/** One thread in one worker's hands. */
export interface ThreadContext extends JournalContext<Thread> {
  readonly parts: ThreadParts;
  readonly adapter: Adapter;
  /** `state`, by its own name. */
  readonly thread: Thread;
  /** The thread as its model is told it, once a model was asked. */
  transcript: Transcript | undefined;
  /** What came into the thread and from whom, once that mattered. */
  heardFrom: Heard | undefined;
  /** What of the entries in `wrote` it has tried to show: `<view> <id>`. */
  readonly tried: Set<string>;
  /** The machines that the store has heard of, and when it was asked, on this worker's own monotonic clock. */
  hosts: { at: number; heard: ReadonlyMap<string, HostBeat> } | undefined;
}

export function threadContext(
  ctx: JournalContext<Thread>,
  parts: ThreadParts,
  adapter: Adapter,
): ThreadContext {
  return {
    ...ctx,
    parts,
    adapter,
    thread: ctx.state,
    transcript: undefined,
    heardFrom: undefined,
    tried: new Set(),
    hosts: undefined,
  };
}
