import type { Logger } from "pino";
import type { Adapter, Tenants } from "../adapters/adapter.ts";
import type { AlertInbox, Inbox } from "../adapters/inbox.ts";
import type { Queries } from "../adapters/queries.ts";
import type { Overview } from "../adapters/overview.ts";
import type { Reading } from "../commands/reading.ts";
import type { Decision } from "../approvals/policy.ts";
import type { Effect } from "../core/entry.ts";
import { createPersonOf } from "../core/people.ts";
import type { Config } from "../config/config.ts";
import { createRoutes } from "../core/routes.ts";
import { settingsOf } from "../core/settings.ts";
import { createLinkRule } from "../core/links.ts";
import { createEncoder } from "../security/encoder.ts";
import type { HttpRoute } from "../core/http-route.ts";
import { type JournalKey, transportOf } from "../core/journal-key.ts";
import type { Ledger } from "../incidents/incident.ts";
import type { Journal, Stoppable } from "../journal/journal.ts";
import { redis } from "../journal/redis/store.ts";
import { chosenStore } from "../journal/stores.ts";
import { createNetwork } from "../net/dial.ts";
import { createDispatcher } from "../tools/dispatch.ts";
import { createExec, createLaunch } from "../tools/process.ts";
import { memory as memoryTools } from "../tools/memory/integration.ts";
import { network } from "../tools/network/integration.ts";
import type { Tool } from "../tools/tool.ts";
import type { BullmqOptions } from "../wakeups/bullmq.ts";
import { createInProcessWakeups } from "../wakeups/in-process.ts";
import { createIntake, type Intake } from "../wakeups/intake.ts";
import type { Lane, Wakeups } from "../wakeups/wakeups.ts";
import type { KeyHandler } from "../worker/key-handler.ts";
import { Thread } from "../thread/state.ts";
import type { ThreadParts } from "../worker/thread/parts.ts";
import { decideByRules } from "../worker/thread/permission/permission.ts";
import { createThreadHandler } from "../worker/thread/thread-handler.ts";
import { whyNotPrepared } from "../queries/edits.ts";
import { createQueries } from "../queries/queries.ts";
import { createFreezes } from "../team/freezes.ts";
import { createOps } from "../team/ops.ts";
import { createToolForms } from "../team/tool-forms.ts";
import { ALERTS } from "../alerts/handler.ts";
import { alertLinkRule } from "./alert-link-rule.ts";
import { createAlertThreads, isChat, openAlerts } from "./alerts.ts";
import { createApprovals } from "./approvals.ts";
import { createGoalReports } from "./goal-reports.ts";
import { goalsPart } from "../config/goals.ts";
import { createDigests, type Digests } from "./digests.ts";
import { openEvents, type Watching } from "./events.ts";
import { createOpsAdapter } from "./ops-adapter.ts";
import { openModels } from "./models.ts";
import { knownModel } from "../models/known.ts";
import { lend, type Lending, type Lent } from "./lend.ts";
import { routed } from "./mirrors.ts";
import { createOverview } from "./overview.ts";
import { followedInbox } from "./pins.ts";
import { openSecrets } from "./secrets.ts";
import { createTenants } from "./tenants.ts";
import { placeIn, withRoutes } from "./thread-places.ts";
import { createToolbox } from "./toolbox.ts";
import {
  agentFileProblems,
  loadToolset,
  problemsOf,
  skillProblemText,
  type Toolset,
} from "./toolset.ts";
import { createWorker, type Worker } from "../worker/worker.ts";

/** A lease's life unless renewed, which happens every third of it: after it another process may take over what a dead one left. */
export const LEASE_MS = 6_000;

/** Until then the status line is enough; who waits longer wants to see what is being done. */
const SHOW_AFTER_MS = 15_000;

interface Forecast {
  effect: Effect;
  decision: Decision["kind"];
}

/** The joined parts of one process, ready to be driven by an adapter. */
export interface Bot {
  inbox: Inbox;
  /** Where alerts among other bots' messages go. */
  alerts: AlertInbox;
  /** Takes an event, while no work is begun. */
  receive: Intake["receive"];
  queries: Queries;
  overview: Overview;
  tenants: Tenants;
  ledger: Ledger;
  /** What every outgoing text passes: no control characters, no held secrets. */
  encode(text: string): string;
  journal: Journal;
  tools: readonly Tool[];
  /** Where monitoring systems send alerts. @throws BotError CONFIG_INVALID */
  alertRoutes(): Promise<HttpRoute[]>;
  /** Where figures of this process can be read. */
  metricsRoutes: readonly HttpRoute[];
  /** Where is said whether it can work. */
  healthRoute: HttpRoute;
  /**
   * What the rules say of a typed command by this full member in this channel; undefined where it is no call of a tool. Only a
   * forecast: what counts is said again when the call is made.
   */
  forecast(text: string, account: string, channel: string): Promise<Forecast | undefined>;
  /** Begins to work on what is due in these adapters' threads, each from when it has a view of them. */
  start(...adapters: Adapter[]): void;
  /** Ends everything and closes the store, within little more than the drain time. The same again is one stop. */
  stop(): Promise<void>;
}

async function createWakeups(
  { wakeups, values }: Config,
  options: Omit<BullmqOptions, "address">,
): Promise<Wakeups> {
  const { address } = settingsOf(redis, values);
  if (address === undefined || wakeups === "in-process") return createInProcessWakeups(options);
  const { createBullmqWakeups } = await import("../wakeups/bullmq.ts");
  return createBullmqWakeups({ ...options, address });
}

/** The models, and the operations channel, which hears of them. */
function openOps(
  { ops: channel, model }: Config,
  { log, journal, wake }: Pick<Lending, "journal" | "wake"> & { log: Logger },
) {
  const ops = createOps({ journal, channel, wake });
  return [ops, openModels(model, { log, ops })] as const;
}

function logWarnings(log: Logger, config: Config, toolset: Toolset): void {
  const { problems, warnings, live, agentFile } = toolset;
  for (const warning of warnings) log.warn(warning);
  for (const problem of problems) log[problem.loaded ? "info" : "warn"](skillProblemText(problem));
  for (const text of [...problemsOf(live), ...agentFileProblems(config, agentFile)]) log.warn(text);
}

function logTrouble(log: Logger, error: unknown, key: JournalKey | undefined): void {
  if (key !== undefined)
    log.error({ err: error, key }, "work on a thread failed; it is tried again");
  else log.error({ err: error }, "wake-ups have trouble; what is due is looked for every second");
}

/** Has the journals of these adapters worked on, and those of alerts where there are channels for them. */
function takeIn(
  served: readonly Adapter[],
  { adapters, encode, wake }: Pick<Lending, "encode" | "wake"> & { adapters: Map<string, Adapter> },
  threads: ThreadParts,
  handlers: Map<string, KeyHandler>,
  others: readonly Pick<Digests, "handlers">[],
): void {
  const all = [createOpsAdapter((name) => adapters.get(name)), ...served];
  for (const adapter of all.map((each) => withRoutes(each, threads.routeOf))) {
    adapters.set(adapter.transport, adapter);
    handlers.set(adapter.transport, createThreadHandler(threads, adapter));
  }
  const alerts = createAlertThreads({ adapters, encode, wake }, threads.ops);
  if (served.some(isChat)) handlers.set(ALERTS, alerts);
  for (const [kind, handler] of others.flatMap((each) => each.handlers()))
    handlers.set(kind, handler);
}

/** The store is not left open when the tools cannot be made. */
async function loadTools(
  config: Config,
  log: Logger,
  journal: Journal,
  lent: Lent,
): Promise<Toolset> {
  try {
    const toolForms = createToolForms(journal);
    const secrets = openSecrets(config, journal);
    const team = { forms: () => toolForms, secrets: () => secrets };
    const toolset = await loadToolset(config, { ...lent, ...team, launch: createLaunch() });
    logWarnings(log, config, toolset);
    return toolset;
  } catch (error) {
    await journal.close();
    throw error;
  }
}

async function forecast(
  threads: ThreadParts,
  reading: Reading,
  account: string,
  channel: string,
): Promise<Forecast | undefined> {
  if (reading.kind !== "command") return undefined;
  const call = threads.run.direct(reading.command, new Thread());
  if (call.kind !== "call") return undefined;
  const requesters = [{ account, membership: "member" as const, groups: [] }];
  const { kind: decision } = await decideByRules(threads, call, {
    requesters,
    channels: [channel],
  });
  return { effect: threads.dispatcher.effectOf(call.tool, call.args), decision };
}

/** What the configuration lets happen and be seen in threads. */
function policyOf(config: Config, lent: Lent) {
  const { approvals, access, links, people, timezone, values } = config;
  const [mayLink, personOf] = [createLinkRule(links.allow), createPersonOf(people)];
  const mayLinkAlert = alertLinkRule(config);
  const { recall, keep } = settingsOf(memoryTools, values);
  const memory = { memory: lent.memory(), recall, keep };
  const ledger = lent.ledger();
  const { folder } = settingsOf(goalsPart, values);
  const reports = folder === undefined ? {} : { reports: createGoalReports(folder) };
  const policy = { policy: approvals, access, mayLink, mayLinkAlert, personOf, timezone };
  return { ...policy, ...reports, memory, ledger, network: settingsOf(network, values).allow };
}

/** Ends the work, then what shows it, then everything else, and closes the store. */
async function endAll(
  worker: Pick<Worker, "stop">,
  watching: Pick<Watching, "drain" | "stop">,
  {
    config,
    adapters,
    parts,
    ending,
    journal,
  }: Pick<Lending, "config" | "adapters" | "ending" | "journal"> & { parts: readonly Stoppable[] },
): Promise<void> {
  watching.drain();
  await worker.stop(config.drainMs);
  // Until now they could still show what was owed; what they took meanwhile is in the journal.
  await Promise.allSettled([...adapters.values()].map(async (adapter) => adapter.stop?.()));
  for (const each of [...parts, watching]) await each.stop();
  ending.abort();
  await journal.close();
}

interface AssembleOptions {
  /** This machine is the asker's own, so its tools may connect to loopback and private networks. */
  local: boolean;
  /** Puts tools of the same names in place of the program's own, such as ones that answer what they once did. Default: its own. */
  changeTools?: (tools: readonly Tool[]) => readonly Tool[];
}

function changed(toolset: Toolset, change: (tools: readonly Tool[]) => readonly Tool[]): Toolset {
  const { tools, found, fixed } = toolset;
  return { ...toolset, tools: change(tools), found: change(found), fixed: change(fixed) };
}

/**
 * Joins the parts. Nothing runs until `start`.
 * @throws BotError CONFIG_INVALID when policy names what does not exist, and what the store throws
 */
export async function assemble(
  config: Config,
  log: Logger,
  { local, changeTools = (tools) => tools }: AssembleOptions,
): Promise<Bot> {
  const journal = await chosenStore(config.values).open({ warn: (text) => log.warn(text) });
  const late = () => ({ dispatcher, worker, wakeups, queries });
  const { events, ...watching } = await openEvents(config, log, journal, late);
  const encoder = createEncoder(config.secrets);
  const { encode } = encoder;
  const [freezes, ending, intake] = [createFreezes(journal), new AbortController(), createIntake()];
  const outgoing = createNetwork({ ...settingsOf(network, config.values), local });
  const wake = (key: JournalKey, lane?: Lane) => wakeups.wake(key, 0, lane);
  /** By the first part of the keys of their journals. */
  const [adapters, handlers] = [new Map<string, Adapter>(), new Map<string, KeyHandler>()];
  const [ops, models] = openOps(config, { log, journal, wake });
  const approvals = () => createApprovals({ journal, ...entrance, adapters, frozen });
  const base = { journal, events, encode, wake, config, adapters };
  const held = { ...base, freezes, outgoing, ending, approvals };
  const lent = lend(held, () => tools);
  const toolset = changed(await loadTools(config, log, journal, lent), changeTools);
  const digests = await createDigests({ ...held, handoffs: lent.shifts, ops, log });
  const toolbox = createToolbox(config, toolset, { ...held, ...digests, models, log, encoder });
  const { tools, run, read, status, frozen } = toolbox;
  const overview = createOverview(config, lent, { journal, status, encode });
  const wakeups = await createWakeups(config, {
    due: () => worker.due(config.host),
    isShared: (kind) => handlers.get(kind)?.isShared !== false,
    served: () => handlers.keys(),
    onError: (error, key) => logTrouble(log, error, key),
    intake,
  });
  const [{ host }, exec, placeOf] = [config, createExec({ encoder }), placeIn(adapters, journal)];
  const dispatcher = createDispatcher({ tools, host, exec, network: outgoing, encoder, events });
  const routeOf = createRoutes(config.model.routes);
  const threads: ThreadParts = {
    journal,
    dispatcher,
    events,
    ...policyOf(config, lent),
    freezes,
    ops,
    run,
    encoder,
    models,
    routeOf,
    priceOf: (id) => knownModel(id, config.model.models).price,
    log,
    leaseMs: LEASE_MS,
    showAfterMs: SHOW_AFTER_MS,
    wakeAt: (key, at) => wakeups.wake(key, at),
    adapterOf: (transport) => adapters.get(transport),
  };
  const whyNot = whyNotPrepared(dispatcher, encode);
  const worker = createWorker(threads, (key) => handlers.get(transportOf(key)));
  const inbox = followedInbox({ journal, read, encoder, wake, placeOf }, lent.ledger);
  const queries = createQueries(journal, tools, encode, { ...threads, whyNot });
  const entrance = routed({ inbox, queries }, config, journal);
  const started: Stoppable[] = [];
  let stopped: Promise<void> | undefined;
  return {
    ...entrance,
    ...watching.routes,
    ...(await openAlerts({ ...held, log, encoder })),
    receive: intake.receive,
    overview,
    tenants: createTenants(journal),
    ledger: lent.ledger(),
    encode,
    journal,
    tools,
    forecast: (text, account, channel) => forecast(threads, read(text), account, channel),
    start(...served) {
      takeIn(served, held, threads, handlers, [digests, lent.news]);
      started.push(wakeups.start(worker.work), toolbox.start(), digests.start());
      started.push(watching.start(served));
    },
    stop: () => (stopped ??= endAll(worker, watching, { ...held, parts: [...started, models] })),
  };
}
