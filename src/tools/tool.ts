import type * as z from "zod";
import type { ArgumentKind } from "../core/canonical.ts";
import type { Encoder } from "../security/encoder.ts";
import type { Effect, JsonObject, Preview } from "../core/entry.ts";
import type { Viewer } from "../core/viewer.ts";
import type { ImageType } from "../core/file-type.ts";
import type { Finding, Gap } from "../core/finding.ts";
import type { AnsweredBy } from "../core/tool-spec.ts";
import type { Here } from "../core/instant.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { ReverseCall, ViewChange } from "../core/tool-call.ts";
import type { Dialed } from "../net/dial.ts";
import type { Scheme } from "../net/proxy.ts";
import type { Endpoint, HttpCall, HttpResponse } from "./http.ts";

/** What a finished process left behind. Output beyond `maxBytes` is dropped from the middle and counted. */
export interface ExecResult {
  /** Undefined when a signal ended it. */
  exitCode: number | undefined;
  signal: string | undefined;
  stdout: string;
  stderr: string;
  /** Bytes of output that were dropped. */
  droppedBytes: number;
}

export interface ExecOptions {
  /** Bytes kept of stdout and of stderr, each. Default 256 KiB. */
  maxBytes?: number;
  /** Folder to run in. Default: an empty one. */
  cwd?: string;
  /** Ends the run with TIMEOUT. Without it only the call's own end does. */
  timeoutMs?: number;
  /** Variables besides PATH, LANG and HOME. */
  env?: Readonly<Record<string, string>>;
}

/** Who a call is made for, and from where. */
export interface Asker {
  /** The thread that asked. */
  key: JournalKey;
  /** The call's id, such as `r3.t1`: the thread has no other call of it. */
  call: string;
  /** The person whose words the call answers. */
  account: string;
  /** Who that is, whichever account they use. */
  person: string;
  name: string;
  /** All accounts that instruct the call's run: besides that person, others who joined it. */
  principals?: readonly string[];
  /** The accounts that approved the call; none where nobody had to. */
  approvers?: readonly string[];
  /** The IANA time zone that times without one are meant in. */
  timezone(): Promise<string>;
  /** Who may read the thread along (`Adapter.audience`): undefined for everyone, else the name of the private place. */
  audience(): Promise<string | undefined>;
  /** Whose public records may be shown to them here (`Adapter.tenants`). */
  tenants(): Promise<readonly string[] | "all">;
  /** What the call says comes from a model that has, or may have, read text from outside. */
  outside(): Promise<boolean>;
  /** The thread's address for people, where it has one. */
  link: string | undefined;
  /** A message of the thread by its post, as it stands now; undefined: its words are not known here. */
  said?(post: string): Promise<Quotable | undefined>;
}

/** A message of the thread that asks, whoever wrote it: it instructs nobody. */
export interface Quotable {
  /** Its post; of a message that shows another place's, that one's. */
  message: string;
  name: string;
  /** The person who wrote it; undefined: a bot or an app did. */
  account: string | undefined;
  /** When it was said, ms since 1970. */
  at: number;
  /** Undefined: it was taken away. */
  text: string | undefined;
  /** Its address for people. */
  link?: string;
}

/** An asker whose call is under way. */
export interface Asking extends Asker {
  /** When the call was started on the store's clock, ms since 1970: what "now" means in it, however often it is read back. */
  startedAt: number;
}

/** What a tool may use of the world, besides reading files. It ends with the call. */
export interface ToolContext {
  /** Aborted when the call is stopped or its time is up. */
  signal: AbortSignal;
  /**
   * Runs a program without a shell, in an environment made from scratch, without standard input; it and all its
   * descendants end with the call, also when this process is killed. Only for a tool that is `hostBound`.
   * @throws BotError COMMAND_UNKNOWN, ABORTED; TypeError for another tool
   */
  exec(argv: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /**
   * Connects to host and port after the network rules allowed the very address that is dialed. Only to a host that an
   * argument of kind `url` or `host` names (`Tool.kinds`), or that `permit` let the call go on to. Ends with the call, and earlier with a signal of its own.
   * @throws BotError ADDRESS_REFUSED, ADDRESS_UNKNOWN, CONNECTION_FAILED, ABORTED; TypeError for another host
   */
  dial(
    host: string,
    port: number,
    call?: { signal: AbortSignal; scheme?: Scheme | undefined },
  ): Promise<Dialed>;
  /**
   * Connects to one of the tool's endpoints, for a client that speaks its protocol. Ends with the call.
   * @throws as `dial`; TypeError for a name that the tool does not declare
   */
  connect(endpoint: string): Promise<Dialed>;
  /**
   * The addresses of such a host that may be connected to.
   * @throws BotError ADDRESS_REFUSED when there are only others; ADDRESS_UNKNOWN, ABORTED; TypeError for another host
   */
  resolve(host: string): Promise<readonly string[]>;
  /**
   * Makes an HTTP request by the same rules, whatever its status. Every redirect is permitted for itself; a credential is added
   * to what goes to its endpoint and to nothing else. A write whose connection broke throws ABORTED or TIMEOUT: it may have
   * happened.
   * @throws BotError ADDRESS_REFUSED, ADDRESS_UNKNOWN, CONNECTION_FAILED, INPUT_INVALID, TIMEOUT, ABORTED; TypeError for
   * another host or endpoint
   */
  http(call: HttpCall): Promise<HttpResponse>;
  /**
   * What raw text passes before it is cut, matched against what somebody asked for, or counted. A result's text as a
   * whole passes it anyway.
   */
  encoder: Encoder;
  /**
   * The bytes of an artifact of the thread that asked, of no other. Only while the tool is run.
   * @throws BotError ARTIFACT_UNKNOWN; NOT_AVAILABLE in a pin, preview, precheck or read-back
   */
  readArtifact(id: string): Promise<Uint8Array>;
  /** What of its result is kept beside an artifact, in bytes, where that is less than usual: its model's window is small. */
  maxBytes?: number | undefined;
  /**
   * Why the call may not go on with other arguments than those that were permitted, such as where a redirect leads;
   * undefined: it may. `changes`: the ones that are other. What would have to be asked about is refused: nobody was shown it.
   */
  permit(changes: JsonObject): Promise<string | undefined>;
  /** What a time without a date or a zone is meant by; only while the call is prepared. */
  here?: (() => Promise<Here>) | undefined;
  /** As of an asker; only while the call is prepared. */
  said?: Asker["said"] | undefined;
  /** Who sees the card; only while the call is prepared. */
  viewer?: (() => Promise<Viewer>) | undefined;
  /** The account of the person who typed the call as a command; undefined: a model or a rule asked. Only while the call is prepared. */
  typedBy?: string | undefined;
  /** There while the tool is run, and in a read-back by a worker that knows it; never in a pin, preview or precheck. */
  asker?: Asking | undefined;
}

/** An image that a result shows besides its text. */
export interface ToolImage {
  name: string;
  mediaType: ImageType;
  bytes: Uint8Array;
  /** What it shows, for whoever cannot see it. */
  alt?: string;
  /** People see it; a model is told by the text alone. */
  unseen?: true;
}

/** What a helper is to do (`run_started.task`), and in how many requests. */
interface HelperTask {
  text: string;
  context?: string;
  tools?: string[];
  steps?: number;
}

/** A question to the people of the thread. */
interface Question {
  text: string;
  /** Answers to choose from; none: they write one. */
  choices: string[];
}

export interface ToolOutput {
  text: string;
  /**
   * Kept as files of the thread, at most 10 of 5 MiB each; what is not the type it says is left out, and the text
   * says so.
   */
  images?: ToolImage[];
  /** What was found, the most likely cause first: a numbered list before the text, which does not repeat it. */
  findings?: readonly Finding[];
  /** What was found and the text tells of itself. */
  told?: readonly Finding[];
  /** What could not be seen, and what would help: said behind the text. */
  gaps?: readonly Gap[];
  /**
   * Of what was changed, the exact reverse: people are offered it once, on a card of its own. Its precheck has to refuse it
   * unless the world is as this call left it. Not kept where its texts hold a secret or no card could show it whole.
   */
  undo?: ReverseCall | undefined;
  /** Where the thread is shown from here on, or no more. */
  view?: ViewChange;
  /** True when the tool did its work and the work failed, such as a command that exits with 1. */
  failed?: boolean;
}

/** What a read-back saw. Only `done` is ever concluded from; the rest is evidence for a person. */
export interface Verdict {
  verdict: "done" | "not done" | "unknown";
  evidence: string;
  /** As a result has it, for a call whose result was lost; only with `done`. */
  undo?: ReverseCall | undefined;
}

export interface ToolPreview extends Preview {
  /** A diff, which the card has in the command's place, line by line. */
  diff?: string;
}

/**
 * One thing the bot can do. Its input is a zod schema, from which people's and models' arguments are checked and
 * described. It throws freely: the dispatcher turns whatever it throws into a result. A write that cannot tell whether
 * it happened throws BotError TIMEOUT or ABORTED: the outcome is then unknown, never "failed". A read that throws
 * CONNECTION_FAILED is tried again; `breaker.ts` says which errors count as the tool's own.
 */
export interface Tool<I = unknown> {
  readonly name: string;
  /** One or two sentences: what it tells or does, and when to use it. */
  readonly description: string;
  /** One line for people, as the README has it. Without it they see the description. */
  readonly summary?: string;
  readonly input: z.ZodType<I>;
  /** The worst that a call can do. */
  readonly effect: Effect;
  /** What a call with these arguments can do, where that is less. Asked through the dispatcher only (`effectOf`). */
  effectOf?(input: I): Effect;
  /** A call that takes longer is ended: a read as an error, a change as one whose outcome nobody knows. */
  readonly timeoutMs: number;
  /** The same in seconds, where `tools.timeouts` has set it. */
  readonly setTimeoutSeconds?: number;
  /**
   * Arguments that name a URL, a host, a path or a unit: rules then hold for every spelling of it, and what a call sends
   * there is asked about where nobody named the place.
   */
  readonly kinds?: Readonly<Record<string, ArgumentKind>>;
  /** The servers that the configuration names for it. Not for models: their addresses are no argument. */
  readonly endpoints?: Readonly<Record<string, Endpoint>>;
  /** A hash of what it does, where people change that: a call that was shown when it was another is asked about again. */
  readonly version?: string;
  /** Sentences that call it, such as `restart {{service}}` (`say.ts`). */
  readonly say?: readonly string[];
  /** How often it may be called; no limit of its own without. Hours are UTC's. */
  readonly limits?: { readonly perRun: number; readonly perPersonHour: number };
  /**
   * A write that changes only this program's own records: policy's default lets it run without asking. Rules apply to it,
   * and it is written down like any other.
   */
  readonly own?: true;
  /** It changes who may decide here: whoever asked for it may not approve it, unless a rule says so. */
  readonly byOthers?: true;
  /** It freezes or unfreezes: no freeze holds it, and no grant covers it. */
  readonly freezes?: true;
  /**
   * Of what cannot be brought back: the words that an approver has to type, such as the name of what it deletes. Left out: a press
   * is enough, unless a rule says otherwise.
   */
  confirm?(input: I): string | undefined;
  /**
   * Its results are this program's own words, its skills' or an answer of people's, never text from outside: reading them
   * makes a run no less trusted.
   */
  readonly ours?: true;
  /**
   * It tells nothing but what everybody who can reach the bot may know: also who may not instruct it otherwise, such as a
   * guest, is answered by it, as if they asked in a public place.
   */
  readonly open?: true;
  /** What people who gave the call themselves see of its result. Left out: its output. */
  readonly answeredBy?: AnsweredBy;
  /** It looks for what is wrong: where it found nothing, its result says so first. */
  readonly diagnoses?: true;
  /**
   * It acts on, or looks at, the very machine that it runs on. Its input then has `hostArgument` as `host`: only a process of
   * that machine pins, previews, checks, runs and reads it back.
   */
  readonly hostBound?: true;
  /**
   * What the call changes, such as `service nginx`: writes on the same resource never run side by side. Left out: all
   * such tools share one resource, "this machine".
   */
  resource?(input: I): string;
  /** The tool is not run at all: this is put to the people of the thread, and what they answer is its result. */
  question?(input: I): Question;
  /** Nor is this: a helper does it, a run of its own, whose report is the result. */
  delegates?(input: I): HelperTask;
  /** Why it cannot work on this machine, or undefined. */
  unavailable?(): Promise<string | undefined>;
  /**
   * The arguments as this machine reads them, such as the program that a link leads to, in every way in which a rule may
   * name it. None: there is no more to them than their spelling. Never throws.
   */
  meant?(input: I): Promise<I[]>;
  /** Fixes what the arguments point to (a digest, a start time), so that what is approved is what is run. */
  pin?(input: I, ctx: ToolContext): Promise<I>;
  /** What a call does, as people say it: the first line of its card. Without it: the words of its first `say`. */
  title?(input: I): string;
  /** What a read is about while it runs: `Checking http://web-1/health`. Without it: its title. */
  doing?(input: I): string;
  /** What the card shows of the consequences; required of everything that is not a read. */
  preview?(input: I, ctx: ToolContext): Promise<ToolPreview>;
  /**
   * Throws BotError PRECHECK_FAILED unless the world is as the action needs it; before asking and again before
   * acting.
   */
  precheck?(input: I, ctx: ToolContext): Promise<void>;
  /**
   * Reads back whether it happened: after a crash and after acting. `startedAt`: when it was dispatched, ms since
   * 1970.
   */
  verify?(input: I, ctx: ToolContext, startedAt: number): Promise<Verdict>;
  /** Looks a while after it was done whether what it was for has come about; people are told in its thread. */
  readonly verifyLater?: {
    readonly afterMs: number;
    check(input: I, ctx: ToolContext): Promise<Verdict>;
  };
  /**
   * Marks for people who look at its system that an action was done, by whichever tool; only there where the configuration asks
   * for it. It may be asked again for the same action, and then does nothing.
   */
  mark?(done: DoneAction, ctx: ToolContext): Promise<void>;
  /** Calls people to actions that wait for approval, where a rule says so. */
  readonly pager?: Pager;
  run(input: I, ctx: ToolContext): Promise<ToolOutput>;
}

/** A system that calls people. All of it but `whyNot` throws as its tools do. */
export interface Pager {
  /** Such as `PagerDuty`. */
  readonly title: string;
  /** Why its configuration cannot page there, or undefined. */
  whyNot(to: PageTarget): string | undefined;
  /** Pages once for each key: what is there already, open or over, is found. Gives what it is called there. */
  open(page: PageRequest, ctx: ToolContext): Promise<string>;
  /** Nobody is needed any more; where nothing is open there it does nothing. */
  close(page: Pick<PageRequest, "to" | "key"> & { why: string }, ctx: ToolContext): Promise<void>;
  /** Whom it would page and that it may, in words. Pages nobody. */
  examine(to: PageTarget, ctx: ToolContext): Promise<string>;
}

export interface PageTarget {
  readonly service: string;
  /** Which of several accounts. */
  readonly instance?: string | undefined;
}

/** Its texts hold no secrets. */
export interface PageRequest {
  readonly to: PageTarget;
  /** Of this page alone. */
  readonly key: string;
  readonly title: string;
  readonly details: string;
}

/** An action that was done, as others may be told of it. Its texts hold no secrets. */
export interface DoneAction {
  /** Of this action alone. */
  readonly id: string;
  readonly tool: string;
  /** What it changed, such as `service nginx`. */
  readonly resource: string;
  /** It took another one back. */
  readonly isUndo: boolean;
  /** The people who approved it; none: nobody had to. */
  readonly approvers: readonly string[];
  /** The thread's address for people, where it has one. */
  readonly link: string | undefined;
  /** When it was done, ms since 1970. */
  readonly at: number;
}

/** Lets TypeScript infer a tool's input from its schema. */
export function defineTool<I>(tool: Tool<I>): Tool<I> {
  return tool;
}
