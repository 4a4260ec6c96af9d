import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { createRoutes } from "../core/routes.ts";
import { formatElapsed } from "../core/instant.ts";
import type { Stoppable } from "../journal/journal.ts";
import { createModels, type Models } from "../models/chain.ts";
import { reasonOf } from "../models/errors.ts";
import { createModelHealth, type Outage } from "../models/health.ts";
import { loadModel, type ModelSettings } from "../models/load.ts";
import type { Model } from "../models/model.ts";
import type { RetryingOptions } from "../models/retrying.ts";
import type { Ops } from "../team/ops.ts";

/** Where another model stands behind, nobody waits for one that is away as long as where nothing does. */
const WITH_OTHERS: RetryingOptions = { deadlineMs: 20_000, maxRetryAfterMs: 10_000 };

interface ModelParts {
  log: Pick<Logger, "info" | "warn">;
  ops: Ops;
  /** For tests. Default: `createModelHealth`'s own. */
  probing?: { firstProbeMs?: number; lookAgainMs?: number };
}

/** `model` and the models behind it, the first one first. */
export function chainOf({ id, fallbacks }: Pick<Config["model"], "id" | "fallbacks">): string[] {
  return id === undefined ? [] : [...new Set([id, ...fallbacks.map(({ model }) => model)])];
}

/** What a model of this id is made with: `contextWindow` is the configured one's, and one that stands behind has its own. */
export function settingsFor(id: string, config: Config["model"]): ModelSettings {
  if (id === config.id) return config;
  const own = config.fallbacks.find(({ model }) => model === id);
  if (own === undefined) return { ...config, contextWindow: undefined };
  const { values, models } = config;
  const { effort, thinking, contextWindow } = own;
  const wishes = { ...(effort && { effort }), ...(thinking && { thinking }) };
  return { values, models, contextWindow, ...wishes };
}

/** The configured models; each change of whether they answer is logged, and that none does is told the operations channel. */
export function openModels(
  config: Config["model"],
  { log, ops, probing }: ModelParts,
): Models & Stoppable {
  const chain = chainOf(config);
  const retries = chain.length > 1 ? WITH_OTHERS : {};
  const load = kept((id) => loadModel(id, settingsFor(id, config), retries));
  const probed = kept((id) => loadModel(id, settingsFor(id, config), { attempts: 1 }));
  /** Since when none answers, ms since 1970. */
  let noneSince: number | undefined;

  function noteChange(id: string, outage: Outage | undefined): void {
    if (outage === undefined) log.info({ model: id }, "the model answers again");
    else {
      const { code } = outage;
      log.warn({ model: id, code }, "the model does not answer; it is left alone until it does");
    }
    const outages = chain.map((each) => ({ each, outage: health.outage(each) }));
    const back = outages.find((one) => one.outage === undefined)?.each;
    if (back === undefined && noneSince === undefined) {
      noneSince = Date.now();
      const why = outages.flatMap(({ each, outage: of }) =>
        of ? `${each}: ${reasonOf(of.code)}` : [],
      );
      tell("down", `No AI model answers. ${why.join("; ")}. Commands still work; I keep trying.`);
    } else if (back !== undefined && noneSince !== undefined) {
      const elapsed = formatElapsed(Date.now() - noneSince);
      noneSince = undefined;
      tell("back", `${back} answers again, after ${elapsed} without any AI model.`);
    }
  }

  /** Several processes that see it within a minute are one message. */
  function tell(what: string, text: string): void {
    const id = `models ${what} ${Math.floor(Date.now() / 60_000)}`;
    ops.tell(id, text).catch((error: unknown) => {
      log.warn({ err: error }, "the operations channel could not be told of the models");
    });
  }

  const health = createModelHealth({ load: probed, onChange: noteChange, ...probing });
  const routeOf = createRoutes(config.routes);
  return { ...createModels({ chain, load, health, routeOf }), stop: health.stop };
}

function kept(load: (id: string) => Promise<Model>): (id: string) => Promise<Model> {
  const loaded = new Map<string, Promise<Model>>();
  return (id) => {
    const model = loaded.get(id) ?? load(id);
    loaded.set(id, model);
    return model;
  };
}
