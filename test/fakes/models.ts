import { createModels, type Models } from "../../src/models/chain.ts";
import type { ModelHealth } from "../../src/models/health.ts";
import type { Model } from "../../src/models/model.ts";

/** Nothing that fails is held against a model. */
const ALWAYS_WELL: ModelHealth = {
  outage: () => undefined,
  answered: () => {},
  failed: () => {},
  look: async () => {},
  stop: async () => {},
};

/** Models without any behind them, each asked whatever became of it before. */
export function modelsFrom(load: (id: string) => Promise<Model>): Models {
  return createModels({ chain: [], load, health: ALWAYS_WELL });
}
