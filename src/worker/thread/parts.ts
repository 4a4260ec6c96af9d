import type { Adapter } from "../../adapters/adapter.ts";
import type { AccessPolicy } from "../../approvals/access.ts";
import type { LinkRule } from "../../core/links.ts";
import type { ApprovalPolicy } from "../../approvals/policy-form.ts";
import type { Effect, JsonObject } from "../../core/entry.ts";
import type { Money } from "../../core/money.ts";
import type { HostBeat } from "../../core/host-beat.ts";
import type { Reservation } from "../../journal/journal.ts";
import type { Ledger } from "../../incidents/incident.ts";
import type { Memory } from "../../memory/memory.ts";
import type { RecallPolicy } from "../../memory/policy.ts";
import type { Models } from "../../models/chain.ts";
import type { Price } from "../../models/known.ts";
import type { Freezes } from "../../team/freezes.ts";
import type { Ops } from "../../team/ops.ts";
import type { Encoder } from "../../security/encoder.ts";
import type { RouteOf } from "../../core/routes.ts";
import type { RunParts } from "../../thread/surroundings.ts";
import type { Thread } from "../../thread/state.ts";
import type { Dispatcher } from "../../tools/dispatch.ts";
import type { Action } from "../../thread/action.ts";
import type { LearningStep, StepOf } from "../../thread/steps.ts";
import type { JournalContext, WorkerParts } from "../key-handler.ts";
import type { Conversation } from "./conversation.ts";

/** What threads are worked on with, besides what every kind of journal needs. */
export interface ThreadParts extends WorkerParts {
  dispatcher: Dispatcher;
  policy: ApprovalPolicy;
  /** Addresses that the configuration lets people click; undefined: none. */
  mayLink?: LinkRule;
  /** The same for addresses that alerts name, on their messages. Default: as `mayLink`. */
  mayLinkAlert?: LinkRule;
  /** `network.allow`: hosts that the configuration knows. Default: none. */
  network?: readonly string[];
  access: AccessPolicy;
  freezes: Freezes;
  /** What is kept of threads and told to runs; `keep`: how useful it has to be. Default: nothing. */
  memory?: { readonly memory: Memory; readonly recall: RecallPolicy; readonly keep: number };
  /** Where the reports of goals are written too. Default: nowhere. */
  reports?: { write(name: string, text: string): Promise<void> };
  /** A goal's lease is given back between two tasks once it was held for so long. Default: 30 s. */
  restAfterMs?: number;
  /** The records of incidents, which are told what happens in their threads. Default: nothing is told. */
  ledger?: Pick<Ledger, "happened">;
  /** Default: there is no operations channel. */
  ops?: Ops;
  run: RunParts;
  encoder: Encoder;
  models: Models;
  /** What `model.routes` says of places. Default: nothing. */
  routeOf?: RouteOf | undefined;
  /** What a model costs; undefined: nobody knows. Default: no money is counted. */
  priceOf?(model: string): Price | undefined;
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

/** Whose part of the day something is used of. */
interface Payers {
  readonly people: readonly string[];
  readonly place: string | undefined;
}

/** Tokens of one day that were set aside for a run's next requests, and what of them was used. */
export interface Allowance {
  readonly day: string;
  /** When the day ends, ms since 1970. */
  readonly until: number;
  readonly askers: readonly string[];
  left: number;
  used: number;
  /** What that cost. */
  money: Money;
  payers: Payers;
  /** What of the day's money is set aside, where that has a limit. */
  deposit: Reservation | undefined;
  /** Groups of counters, each of which is charged all that is used; what is set aside is added as it is. */
  readonly charged: Reservation[][];
}

export interface ThreadContext extends JournalContext<Conversation> {
  readonly parts: ThreadParts;
  readonly adapter: Adapter;
  /** `state`, by its own name. */
  readonly thread: Thread;
  /** By run, tokens of the day that are set aside for its next requests. */
  readonly allowances: Map<string, Allowance>;
  /** Ids of entries of ours that are still to be shown, each with the views in which it was tried. */
  readonly tried: Map<string, Set<string>>;
  /** When the lease was taken, on the worker's own monotonic clock, and whether a task of a goal was judged under it. */
  readonly takenAt: number;
  isTaskJudged: boolean;
  /** The thread's own channel (`Adapter.channel`), once it was looked up. */
  channel: string | undefined;
  /** The machines that the store has heard of, and when it was asked, on this worker's own monotonic clock. */
  hosts: { at: number; heard: ReadonlyMap<string, HostBeat> } | undefined;
}

/** Writes down what was learned; in the loop, so that nothing else is written meanwhile. */
export type Conclusion = () => Promise<void>;

/** Learns what a step needs. A failure that it throws ends the lease. */
export type Learn<D extends LearningStep["do"]> = (
  ctx: ThreadContext,
  step: StepOf<D>,
  signal: AbortSignal,
) => Promise<Conclusion>;

export interface Wanted {
  /** The run that it is of: those who instruct it ask for the call. */
  run: string;
  call: string;
  tool: string;
  /** As they are known so far: asked for, checked, pinned or edited. */
  args: JsonObject;
  /** What it was said to do when it was shown or started; left out: what the tool says of it now. */
  effect?: Effect | undefined;
  /** They are where a call leads that was permitted with these. */
  from?: JsonObject | undefined;
  /** The action that it is: who edited that asks for the call too. */
  action?: Pick<Action, "editors"> | undefined;
  editor?: string | undefined;
}
