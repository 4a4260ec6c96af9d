import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Adapter } from "../adapters/adapter.ts";
import { answerCommand } from "../commands/answers.ts";
import { readTyped } from "../commands/typed.ts";
import type { Config } from "../config/config.ts";
import { goalBudgetOf, goalsPart } from "../config/goals.ts";
import { settingsOf } from "../core/settings.ts";
import type { RunTerms } from "../core/run-terms.ts";
import type { Viewer } from "../core/viewer.ts";
import type { Journal, Stoppable } from "../journal/journal.ts";
import type { Models } from "../models/chain.ts";
import { knownModel, priceText } from "../models/known.ts";
import { contextWindowOf, modelProblem } from "../models/load.ts";
import { settingsFor } from "./models.ts";
import type { Encoder } from "../security/encoder.ts";
import { type Mode, termsFor } from "../thread/modes.ts";
import type { RunParts } from "../thread/surroundings.ts";
import { type Freezes, freezesSeen } from "../team/freezes.ts";
import { describeInput } from "../tools/input-schema.ts";
import { createChecking } from "./checks-parts.ts";
import { answerWithoutModel } from "./no-model.ts";
import { mostUsed } from "./skill-use.ts";
import { hasMoreSkills, reloadToolset, runTerms, type Toolset } from "./toolset.ts";

/** The modes of the runs that nothing asked for but what was said; helpers are found by the run that asked for them. */
const MODES: readonly Mode[] = [
  { kind: "main" },
  { kind: "goal" },
  { kind: "triage" },
  { kind: "chat" },
];

/** As often as tools can be changed during one run, for each of them. */
const MAX_EARLIER = 20 * MODES.length;

/** How soon a change is noticed. */
const RELOAD_MS = 2_000;

/** How soon a new week is noticed, in which others may be the most used skills. */
const REORDER_MS = 3_600_000;

interface ToolboxParts {
  log: Logger;
  /** What says which skills are used most. */
  journal: Pick<Journal, "read" | "list">;
  encoder: Encoder;
  freezes: Freezes;
  models: Pick<Models, "standing">;
  /** `status` says what there is to know of them. */
  adapters: ReadonlyMap<string, Pick<Adapter, "about">>;
  /** What else it says, a line each. */
  coming?(): string[];
}

function checkingOf(
  { model, verifyAfterMinutes: minutes }: Config,
  skills: () => Toolset["skills"],
  tools: Toolset["tools"],
) {
  const verifyAfterMs = minutes > 0 ? minutes * 60_000 : undefined;
  const { firstLook } = model;
  return createChecking({ skills, tools: () => tools, firstLook, verifyAfterMs });
}

/** What a goal begins with; undefined: goals are off. */
function goalTerms(values: Config["values"]): RunParts["goals"] {
  const { enabled, budget, replan } = settingsOf(goalsPart, values);
  if (!enabled) return undefined;
  const every = replan === "every" ? 1 : replan === "on_change" ? 0 : replan;
  return { budget: goalBudgetOf(budget), replan: every };
}

/** What runs with these terms can begin with. */
function prefixesOf(terms: RunTerms): Set<string> {
  return new Set(MODES.flatMap((mode) => termsFor(terms, mode)?.prefix ?? []));
}

/** Orders skills now and whenever a new week may have begun. */
function startOrdering(reorder: () => Promise<void>, log: Logger): { stop(): void } {
  const order = () => {
    reorder().catch((error: unknown) =>
      log.error({ err: error }, "how often skills are used could not be read"),
    );
  };
  const timer = setInterval(order, REORDER_MS);
  timer.unref();
  order();
  return { stop: () => clearInterval(timer) };
}

/** The tools as they are now, which people may change while the program runs, and how what people say is answered by them. */
export function createToolbox(
  config: Config,
  first: Toolset,
  { log, encoder, freezes, models, adapters, coming = () => [], journal }: ToolboxParts,
) {
  let toolset = first;
  let used: readonly string[] = [];
  let terms = runTerms(config, first);
  /** One list for everybody who looks something up in it. */
  const tools = [...first.tools];
  /** By their prefixes: a run that is under way goes on as it began. */
  const earlier = new LRUCache<string, RunTerms>({ max: MAX_EARLIER });
  learnSecrets();

  function learnSecrets(): void {
    for (const secret of toolset.live.flatMap(({ secrets }) => secrets)) encoder.learn(secret);
  }

  function renew(): void {
    if (terms !== undefined) for (const prefix of prefixesOf(terms)) earlier.set(prefix, terms);
    terms = runTerms(config, toolset, used);
  }

  /** Describes the skills that were used most. */
  async function reorder(): Promise<void> {
    if (terms === undefined || !hasMoreSkills(config, toolset)) return;
    used = await mostUsed(journal);
    renew();
  }

  async function reload(): Promise<void> {
    const next = await reloadToolset(config, toolset, (text) => log.warn(text));
    learnSecrets();
    if (next === undefined) return;
    toolset = next;
    tools.splice(0, tools.length, ...next.tools);
    renew();
    log.info("changed tools, skills or agent.md were loaded");
  }

  const status = () => {
    const chats = [...adapters.values()].flatMap((each) => each.about?.() ?? []);
    const connections = [...chats, ...coming()];
    const { standing } = models;
    return { tools, terms, host: config.host, standing, connections };
  };
  const frozen = (viewer: Viewer) => freezesSeen(freezes.known(Date.now()), viewer, encoder.encode);
  const run: RunParts = {
    direct: (command, thread, frozenNow) =>
      answerCommand(command, thread, {
        ...status(),
        modelProblem: (id) => modelProblem(id, config.model),
        priceOf: (id) => priceText(knownModel(id, config.model.models).price),
        frozen: frozenNow,
      }),
    checks: checkingOf(config, () => toolset.skills, tools),
    plain: (text) => answerWithoutModel(text, tools, describeInput, first.unavailable),
    get terms() {
      return terms;
    },
    termsOf: (prefix) => earlier.get(prefix),
    goals: goalTerms(config.values),
    windowOf: (id) => contextWindowOf(id, settingsFor(id, config.model)),
  };

  return {
    tools,
    run,
    status,
    /** What is frozen now, a sentence each, as far as the viewer may see it. */
    frozen,
    /** What a typed text is, to these tools. */
    read: (text: string) => readTyped(text, tools),
    reload,
    reorder,
    /** Looks every few seconds whether something was changed or frozen. */
    start(): Stoppable {
      const looking = freezes.start();
      const ordering = startOrdering(reorder, log);
      const reloading = startReloading(reload, log);
      return {
        async stop() {
          reloading.abort();
          ordering.stop();
          await looking.stop();
          await Promise.all(toolset.live.map(async (each) => each.close?.()));
        },
      };
    },
  };
}

/** Looks again and again until it is aborted. What goes wrong is logged. */
function startReloading(reload: () => Promise<void>, log: Logger): AbortController {
  const ended = new AbortController();
  const next = () => {
    if (ended.signal.aborted) return;
    const timer = setTimeout(() => {
      reload()
        .catch((error: unknown) => log.error({ err: error }, "tools could not be looked at again"))
        .finally(next);
    }, RELOAD_MS);
    timer.unref();
  };
  next();
  return ended;
}
