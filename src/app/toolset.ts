import { join } from "node:path";
import { SYSTEM_PROMPT } from "../agent/prompt.ts";
import { checkPolicyNames, type Config } from "../config/config.ts";
import type { Ledger } from "../incidents/incident.ts";
import { contextWindowOf } from "../models/load.ts";
import { settingsOf } from "../core/settings.ts";
import { createEncoder } from "../security/encoder.ts";
import { catalogText } from "../skills/catalog.ts";
import { loadSkills, type Skills } from "../skills/load.ts";
import { hashTerms, type RunTerms } from "../core/run-terms.ts";
import { createFindTools, toolsToFind, toolTerms } from "../tools/find-tools.ts";
import { connectionProofs, createTools, unavailableIntegrations } from "../tools/registry.ts";
import { skills as skillIntegration } from "../tools/skills/integration.ts";
import type { Tool } from "../tools/tool.ts";

const OWN_SKILLS = join(import.meta.dirname, "../../skills");

/** What a configuration gives runs to work with. */
export interface Toolset extends Skills {
  tools: readonly Tool[];
  /** Those that a model's requests do not describe: there would be too much to read. */
  found: readonly Tool[];
  /** The integrations whose tools are not offered, and why. */
  unavailable: Awaited<ReturnType<typeof unavailableIntegrations>>;
  /** What shows that servers can be reached. */
  proofs: Awaited<ReturnType<typeof connectionProofs>>;
}

/**
 * Loads the skills, a configured folder's before the program's own of the same name, and makes the tools. `ledger` is asked
 * when a tool needs it; left out where none is run.
 * @throws BotError CONFIG_INVALID when policy names a tool or an argument that does not exist
 */
export async function loadToolset(config: Config, ledger?: () => Ledger): Promise<Toolset> {
  const { secrets, values } = config;
  const { encode } = createEncoder(secrets);
  const { folders } = settingsOf(skillIntegration, values);
  const { skills, problems } = await loadSkills([OWN_SKILLS, ...folders], encode);
  const variable = (name: string) => config.variables[name] ?? "";
  const parts = { skills, variable, ...(ledger && { ledger }) };
  const all = await createTools(values, parts);
  const { id } = config.model;
  const found = id === undefined ? [] : toolsToFind(all, contextWindowOf(id, config.model));
  const tools = found.length === 0 ? all : [...all, createFindTools(found)];
  checkPolicyNames(config, tools);
  const unavailable = await unavailableIntegrations(values, parts);
  const proofs = await connectionProofs(values, parts);
  return { skills, problems, tools, found, unavailable, proofs };
}

/** What every model's run is made of; undefined where no model is configured. */
export function runTerms(
  { model, budgets }: Config,
  { tools, found, skills }: Toolset,
): RunTerms | undefined {
  if (model.id === undefined) return undefined;
  return hashTerms({
    model: model.id,
    system: skills.length === 0 ? SYSTEM_PROMPT : `${SYSTEM_PROMPT}\n\n${catalogText(skills)}`,
    ...toolTerms(tools, found),
    budget: {
      steps: budgets.stepsPerRun,
      tokens: budgets.tokensPerRun,
      minutes: budgets.minutesPerRun,
    },
    maxOutputTokens: model.maxOutputTokens,
    tokensPerDay: budgets.tokensPerDay,
    shares: {
      person: budgets.tokensPerPersonDay,
      place: budgets.tokensPerPlaceDay,
      guest: budgets.tokensPerGuestDay,
    },
    contextWindow: contextWindowOf(model.id, model),
  });
}
