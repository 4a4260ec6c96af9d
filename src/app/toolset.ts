import { escalationWarnings } from "../approvals/escalation.ts";
import {
  type AgentFile,
  agentFileWords,
  fitAgentText,
  openAgentFile,
  withAgentText,
} from "../agent/agent-file.ts";
import { GOAL_PROMPT } from "../agent/goal-prompt.ts";
import { CHAT_PROMPT, HELPER_PROMPT, SYSTEM_PROMPT } from "../agent/prompt.ts";
import { type Agent, agentPart, gatesIn, keepsPlans } from "../config/agent.ts";
import { checkPages, checkPolicyNames, type Config } from "../config/config.ts";
import { GOAL_TOOLS } from "../core/goal.ts";
import { toolSpec } from "../tools/input-schema.ts";
import { estimateTokens } from "../core/block.ts";
import { BotError, messageOf } from "../core/errors.ts";
import { toolsPart } from "../config/tools.ts";
import { contextWindowOf } from "../models/load.ts";
import { settingsOf } from "../core/settings.ts";
import { shipped } from "../core/installation.ts";
import { createEncoder } from "../security/encoder.ts";
import { catalogText } from "../skills/catalog.ts";
import { checkProblems } from "./check-tools.ts";
import { openSkills, type SkillLibrary } from "../skills/load.ts";
import { readPrepared } from "../skills/prepared.ts";
import type { Skill, SkillProblem, Skills } from "../skills/skill.ts";
import { hashTerms, type RunTerms } from "../core/run-terms.ts";
import { createFindTools, ownTokens, toolsToFind, toolTerms } from "../tools/find-tools.ts";
import type { LiveTools, ToolParts } from "../tools/integration.ts";
import {
  connectionProofs,
  createTools,
  openLiveTools,
  unavailableIntegrations,
} from "../tools/registry.ts";
import { helpers } from "../tools/delegate/integration.ts";
import { createExec } from "../tools/process.ts";
import { outgoingOfGit } from "./outgoing.ts";
import { type GitSkills, type GitSource, openGitSkills } from "../tools/skills/git-skills.ts";
import { skills as skillIntegration } from "../tools/skills/integration.ts";
import { shortCredentials } from "../tools/http.ts";
import { createTimeouts } from "../tools/timeouts.ts";
import type { Tool } from "../tools/tool.ts";

/** What a configuration gives runs to work with. */
export interface Toolset extends Skills {
  /** Where the skills come from. */
  library: SkillLibrary;
  /** What the team wrote for every run. */
  agentFile: AgentFile;
  /** Sets the timeouts that are configured. */
  withTimeouts: ReturnType<typeof createTimeouts>;
  tools: readonly Tool[];
  /** Those that a model's requests do not describe: there would be too much to read. */
  found: readonly Tool[];
  /** Those of them that are part of the program. */
  fixed: readonly Tool[];
  /** Where the others come from. */
  live: readonly LiveTools[];
  /** The integrations whose tools are not offered, and why. */
  unavailable: Awaited<ReturnType<typeof unavailableIntegrations>>;
  /** What is not offered as it should be, a sentence each. */
  warnings: readonly string[];
  /** What shows that servers can be reached. */
  proofs: Awaited<ReturnType<typeof connectionProofs>>;
}

/**
 * Loads the skills, a configured folder's before the program's own of the same name, and makes the tools. `lent` is what they use
 * of the program; left out where none is run.
 * @throws BotError CONFIG_INVALID when policy names a tool or an argument that does not exist
 */
export async function loadToolset(
  config: Config,
  lent: Partial<Omit<ToolParts, "skills" | "variable" | "warn" | "platforms">> = {},
): Promise<Toolset> {
  const { secrets, values } = config;
  const { encode } = createEncoder(secrets);
  const { folders, git } = settingsOf(skillIntegration, values);
  const fetched = fetchedSkills(config, git);
  await fetched?.refresh([]);
  const places = {
    *[Symbol.iterator]() {
      yield shipped("skills");
      yield* fetched?.folders ?? [];
      yield* folders;
    },
  };
  const agentFile = openAgentFile(config.agentFile, encode);
  await agentFile.refresh();
  if (agentFile.problem !== undefined) {
    const text = `The configuration has a mistake:\n- ${encode(agentFile.problem)}`;
    throw new BotError("CONFIG_INVALID", text);
  }
  const prepared = readPrepared();
  const library = openSkills(places, encode, prepared && { folder: shipped("skills"), prepared });
  await library.refresh();
  const { skills, problems } = library;
  const variable = (name: string) => config.variables[name] ?? "";
  const anyVariable = (name: string) => config.variable(name);
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(encode(text));
  const parts = { ...lent, platforms: config.platforms, skills, variable, anyVariable, warn };
  const fixed = await createTools(values, parts);
  const opened = await openLiveTools(values, parts);
  const live = fetched === undefined ? opened : [fetched, ...opened];
  await refresh(fixed, live);
  const withTimeouts = createTimeouts(settingsOf(toolsPart, values).timeouts);
  const { tools, found } = listTools(config, { fixed, live, skills, agentFile, withTimeouts });
  checkPolicyNames(config, [...fixed, ...live.flatMap((each) => each.tools), ...tools]);
  checkPages(config, fixed);
  warnings.push(...shortSecrets(config, fixed), ...escalationWarnings(config.approvals.rules));
  const unavailable = await unavailableIntegrations(values, parts);
  // The others were checked before they were shipped; `skills check` looks at all of them.
  const changed = skills.filter(({ isAsShipped }) => isAsShipped !== true);
  for (const { at, text, isMistake } of checkProblems(changed, tools, unavailable))
    if (isMistake) warn(`skill ${at}: ${text}`);
  const offered = new Set(tools.map(({ name }) => name));
  const proofs = (await connectionProofs(values, parts)).filter(({ tool }) => offered.has(tool));
  return {
    library,
    agentFile,
    withTimeouts,
    skills,
    problems,
    tools,
    found,
    fixed,
    live,
    unavailable,
    proofs,
    warnings,
  };
}

/** What git gave is kept in the program's own folder; undefined: nothing is to be fetched. */
function fetchedSkills(
  { dataDir, secrets, values }: Config,
  git: readonly GitSkills[],
): GitSource | undefined {
  if (git.length === 0) return undefined;
  const exec = createExec({ encoder: createEncoder(secrets) });
  return openGitSkills(git, { dataDir, exec, ...outgoingOfGit(values) });
}

function listTools(
  config: Config,
  parts: Pick<Toolset, "fixed" | "live" | "skills" | "agentFile" | "withTimeouts">,
): Pick<Toolset, "tools" | "found"> {
  const { fixed, live, skills, agentFile, withTimeouts } = parts;
  const { id } = config.model;
  const every = [...fixed, ...live.flatMap((each) => each.tools)];
  // One system's short password takes its own tools away, and not the whole program.
  const all = withTimeouts(every.filter((tool) => shortCredentials(tool).length === 0));
  if (id === undefined) return { tools: all, found: [] };
  const contextWindow = contextWindowOf(id, config.model);
  const plans = keepsPlans(settingsOf(agentPart, config.values), contextWindow);
  const system = JSON.stringify(systemText(config, { skills, agentFile }, contextWindow));
  const taken = estimateTokens(system) + ownTokens(all, { plans });
  // What only runs of goals have is described in theirs.
  const common = all.filter((tool) => !isOfGoals(tool));
  const found = toolsToFind(common, contextWindow, taken);
  return { tools: found.length === 0 ? all : [...all, createFindTools(found)], found };
}

/** A sentence for each variable that holds too short a password or token, with the tools that it takes away. */
function shortSecrets({ values, variables }: Config, tools: readonly Tool[]): string[] {
  const set = Object.entries({ ...values, ...variables });
  const taken = Map.groupBy(
    tools.flatMap((tool) => shortCredentials(tool).map((secret) => ({ secret, tool: tool.name }))),
    ({ secret }) =>
      set.find(([, value]) => value === secret)?.[0] ?? "A password or token in watchkeeper.yaml",
  );
  return [...taken].map(([name, some]) => {
    const names = [...new Set(some.map(({ tool }) => tool))].join(", ");
    return `${name} is too short to be kept out of what people see: set one of at least 8 characters. Until then these are off: ${names}.`;
  });
}

/** What is wrong with tools that change, each with what it is about. */
export function problemsOf(live: readonly LiveTools[]): string[] {
  return live.flatMap(({ subject, problems }) => problems.map((text) => `${subject} ${text}`));
}

/** What is wrong with a skill, and in which file. */
export function skillProblemText({ at, text }: SkillProblem): string {
  return `skill ${at}: ${text}`;
}

/** What of the team's text is not used, and why. */
export function agentFileProblems(
  { model }: Pick<Config, "model">,
  { path, text, problem }: Pick<AgentFile, "path" | "text" | "problem">,
): string[] {
  if (problem !== undefined) return [`${problem} (what it was before stays in use)`];
  if (model.id === undefined) return [];
  const words = agentFileWords({ path, text }, contextWindowOf(model.id, model));
  return words === undefined || words.isWhole ? [] : [words.text];
}

/** True: some of the tools are others now. */
async function refresh(fixed: readonly Tool[], live: readonly LiveTools[]): Promise<boolean> {
  let isOther = false;
  let others = fixed;
  for (const each of live) {
    isOther = (await each.refresh(others)) || isOther;
    others = [...others, ...each.tools];
  }
  return isOther;
}

/**
 * The toolset with what people changed since; undefined: nothing. Tools that the rules no longer fit stay what they were: a rule
 * that is about an argument which is gone would silently cover nothing. `warn` is told.
 */
export async function reloadToolset(
  config: Config,
  last: Toolset,
  warn: (text: string) => void,
): Promise<Toolset | undefined> {
  const { fixed, live, library, agentFile } = last;
  const problemsNow = () => [
    ...problemsOf(live),
    ...library.problems.map(skillProblemText),
    ...agentFileProblems(config, agentFile),
  ];
  const said = new Set(problemsNow());
  const isToolOther = await refresh(fixed, live);
  // After them: a folder from git may have come.
  const isSkillOther = await library.refresh();
  const isOther = (await agentFile.refresh()) || isSkillOther || isToolOther;
  for (const text of problemsNow()) if (!said.has(text)) warn(text);
  if (!isOther) return undefined;
  const { tools, found } = listTools(config, { ...last, skills: library.skills });
  try {
    checkPolicyNames(config, tools);
    return { ...last, problems: library.problems, tools, found };
  } catch (error) {
    warn(`Tools were changed, and the rules do not fit them any more: ${messageOf(error)}`);
    const names = new Set(tools.map(({ name }) => name));
    return { ...last, tools: last.tools.filter(({ name }) => names.has(name)) };
  }
}

function allowedTerms(skills: readonly Skill[]): Pick<RunTerms, "allowed"> {
  const narrow = skills.flatMap(({ name, allowed }) =>
    allowed ? [[name, allowed.calls] as const] : [],
  );
  return narrow.length === 0 ? {} : { allowed: Object.fromEntries(narrow) };
}

/** What a skill requires and nothing here can do is not required. */
function gateTerms(agent: Agent, { skills, tools }: Toolset): Pick<RunTerms, "gates"> {
  const names = new Set(tools.map(({ name }) => name));
  const required = skills.map(
    ({ name, requires = [] }) => [name, requires.filter((tool) => names.has(tool))] as const,
  );
  const gates = gatesIn(agent, Object.fromEntries(required.filter(([, some]) => some.length > 0)));
  return gates === undefined ? {} : { gates };
}

/** Requests name more skills than they describe, so that it matters which are used most. */
export function hasMoreSkills({ values }: Config, { skills }: Pick<Toolset, "skills">): boolean {
  return skills.length > settingsOf(skillIntegration, values).described;
}

/** What helpers, runs that nobody asked for, and chats without tools are made of, where the configuration has them. */
function modesOf(
  values: Config["values"],
  { triage, chatOnly }: Agent,
  tools: readonly Tool[],
  teamText: string | undefined,
): Pick<RunTerms, "modes"> {
  const { helpers: isOn, depth, perRun } = settingsOf(helpers, values);
  const forGoals = tools.filter(isOfGoals);
  const reads = tools.filter(
    ({ effect, question, delegates }) => effect === "read" && (question ?? delegates) === undefined,
  );
  return {
    modes: {
      ...(isOn && { helper: { system: withAgentText(HELPER_PROMPT, teamText), depth, perRun } }),
      ...(forGoals.length > 0 && {
        goal: { system: withAgentText(GOAL_PROMPT, teamText), tools: forGoals.map(toolSpec) },
      }),
      ...(triage && { triage: { tools: reads.map(({ name }) => name) } }),
      ...(chatOnly.length > 0 && {
        chat: { system: withAgentText(CHAT_PROMPT, teamText), channels: chatOnly },
      }),
    },
  };
}

function isOfGoals({ name }: Pick<Tool, "name">): boolean {
  return Object.values<string>(GOAL_TOOLS).includes(name);
}

/** Of a window, what the list of skills may take. */
const CATALOG_SHARE = 1 / 32;

/** What of the team's text fits. */
function teamTextIn({ text }: Pick<AgentFile, "text">, contextWindow: number): string | undefined {
  return text === undefined ? undefined : fitAgentText(text, contextWindow).text;
}

/**
 * What a model reads before everything else: the prompt, below it the team's text, and the skills, of which a small window has
 * fewer.
 */
function systemText(
  { values }: Pick<Config, "values">,
  { skills, agentFile }: Pick<Toolset, "skills" | "agentFile">,
  contextWindow: number,
  mostUsed: readonly string[] = [],
): string {
  const prompt = withAgentText(SYSTEM_PROMPT, teamTextIn(agentFile, contextWindow));
  if (skills.length === 0) return prompt;
  const { described, pinned } = settingsOf(skillIntegration, values);
  const isShipped = ({ folder }: Skill) => folder.startsWith(shipped("skills"));
  const first = [...pinned, ...mostUsed];
  const maxTokens = contextWindow * CATALOG_SHARE;
  return `${prompt}\n\n${catalogText(skills, { described, first, isShipped, maxTokens })}`;
}

/** What every model's run is made of; undefined where no model is configured. `mostUsed`: skills by name, for the order in which they are described. */
export function runTerms(
  config: Config,
  toolset: Toolset,
  mostUsed: readonly string[] = [],
): RunTerms | undefined {
  const { model, budgets, values } = config;
  if (model.id === undefined) return undefined;
  const { tools, found, skills, agentFile } = toolset;
  const agent = settingsOf(agentPart, values);
  const contextWindow = contextWindowOf(model.id, model);
  return hashTerms({
    model: model.id,
    system: systemText(config, toolset, contextWindow, mostUsed),
    ...toolTerms(
      tools.filter((tool) => !isOfGoals(tool)),
      found,
      { plans: keepsPlans(agent, contextWindow) },
    ),
    ...allowedTerms(skills),
    ...gateTerms(agent, toolset),
    budget: {
      steps: budgets.stepsPerRun,
      tokens: budgets.tokensPerRun,
      minutes: budgets.minutesPerRun,
      ...(budgets.centsPerRun !== undefined && { cents: budgets.centsPerRun }),
    },
    maxOutputTokens: model.maxOutputTokens,
    tokensPerDay: budgets.tokensPerDay,
    shares: {
      person: budgets.tokensPerPersonDay,
      place: budgets.tokensPerPlaceDay,
      guest: budgets.tokensPerGuestDay,
    },
    cents: {
      all: budgets.centsPerDay,
      person: budgets.centsPerPersonDay,
      place: budgets.centsPerPlaceDay,
    },
    ...modesOf(values, agent, tools, teamTextIn(agentFile, contextWindow)),
    contextWindow,
  });
}
