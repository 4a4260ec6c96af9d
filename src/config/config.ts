import { dirname, resolve } from "node:path";
import type * as z from "zod";
import { PLATFORMS } from "../adapters/platforms.ts";
import { AGENT_FILE } from "../agent/agent-file.ts";
import { toolsIn } from "../approvals/access.ts";
import { allowProblem } from "../approvals/matching.ts";
import { globMatches } from "../core/glob.ts";
import { pagesIn } from "../approvals/escalation.ts";
import { type NamedInPolicy, namedIn } from "../approvals/policy-form.ts";
import { BotError } from "../core/errors.ts";
import { platformName, transportOf } from "../core/journal-key.ts";
import { NO_MODEL } from "../core/routes.ts";
import { type Setting, settingsOf, type SettingValues } from "../core/settings.ts";
import { suggest, unknownName } from "../core/suggest.ts";
import { ONCE } from "../core/yaml-file.ts";
import { sqlite } from "../journal/sqlite/store.ts";
import type { ChosenStore } from "../journal/store.ts";
import { chosenStore } from "../journal/stores.ts";
import { knownModel } from "../models/known.ts";
import { contextWindowOf, standardModelId, tryModelId } from "../models/load.ts";
import { argumentNames } from "../tools/input-schema.ts";
import { NO_PAGER, pagerIn } from "../tools/pages.ts";
import type { PageTarget, Tool } from "../tools/tool.ts";
import { goalsPart } from "./goals.ts";
import { alertsPart } from "./alerts.ts";
import { type ConfigFile, readConfigFile } from "./file.ts";
import { withSmallLetters } from "./outgoing.ts";
import { modelPart, policyPart, processPart, usualOutput, wakeupsPart } from "./program.ts";
import { withFiles } from "./secret-files.ts";
import { secretsIn } from "./secrets.ts";
import { toolsPart } from "./tools.ts";
import { fileSchema, fileValues, isSet, PARTS, readVariables, SETTINGS } from "./table.ts";

type ShareOfDay = "tokensPerPersonDay" | "tokensPerPlaceDay" | "tokensPerGuestDay";

/** Everything that is set from outside. Frozen; holds secrets, so it is never logged or shown as a whole. */
export interface Config extends Readonly<Policy>, Readonly<Omit<Process, "noColor" | "port">> {
  /** Folder of the embedded store and the log; absolute. It may not exist yet. */
  readonly dataDir: string;
  readonly wakeups: ChosenStore["wakeups"];
  /** Where HTTP is served, if anything needs it. */
  readonly port: number;
  /** PORT is set: HTTP is served also where nothing needs it. */
  readonly isPortSet: boolean;
  /** The yaml that was read; absolute. Undefined: there is none, and the built-in policy holds. */
  readonly file: string | undefined;
  /** Where the team's text for every run may stand: beside the yaml, or where that would be; absolute. */
  readonly agentFile: string;
  readonly terminal: {
    /** False where NO_COLOR is set (no-color.org). */
    readonly color: boolean;
    /** True where TERM is `dumb`: lines are printed plainly, nothing is redrawn. */
    readonly dumb: boolean;
  };
  readonly model: Readonly<Omit<Model["terms"], "maxOutputTokens">> & {
    readonly maxOutputTokens: number;
    /** `<provider>/<name>`; what its provider needs is then set. Undefined: direct commands and skills' checks only. */
    readonly id: string | undefined;
    /** Nobody named it: its provider's key is set. */
    readonly isStandard: boolean;
    /** What the providers are set to, among others. */
    readonly values: SettingValues;
    /** What is said of models, by their ids. */
    readonly models: Model["models"];
  };
  /** What models may use up, tokens as the provider counts them; days are UTC. */
  /** Limits in cents are there where they are set. */
  readonly budgets: Readonly<Model["budgets"] & Record<ShareOfDay, number>>;
  /** The names of the chat platforms that are turned on. */
  readonly platforms: readonly string[];
  /** What every setting is set to, for `settingsOf`. */
  readonly values: SettingValues;
  /** The tools and arguments that `approvals`, `access` and `tools.timeouts` name, for `checkPolicyNames`; `at` such as `watchkeeper.yaml:7:14`. */
  readonly policyNames: readonly PolicyName[];
  /** The pager's services whose people `approvals` pages, for `checkPages`. */
  readonly pages: readonly Readonly<{ at: string; to: PageTarget }>[];
  /** What the variables hold that settings name (`SettingsPart.variables`). */
  readonly variables: Readonly<Record<string, string>>;
  /** What any variable holds that is no setting of ours: those are for what they are for. */
  variable(name: string): string | undefined;
  /** Values from the environment that no output may contain, with the variable each is from. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
}

type Model = z.infer<typeof modelPart.settings>;
type Policy = z.infer<typeof policyPart.settings>;
type Process = z.infer<typeof processPart.settings>;

interface PolicyName extends Readonly<Omit<NamedInPolicy, "path">> {
  readonly at: string;
}

/** Where HTTP is served when something needs it and PORT does not say. */
const DEFAULT_PORT = 3_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment and the yaml that WATCHKEEPER_CONFIG names, else `watchkeeper.yaml` in `cwd` (default: the
 * working directory) if there is one.
 * @throws BotError CONFIG_INVALID with every mistake in one message, a line each: the variable or `file:line:column`,
 * what is wrong and what is expected; values are never in it
 */
export async function loadConfig(
  given: Environment,
  { cwd = process.cwd() }: { cwd?: string } = {},
): Promise<Config> {
  const mistakes: string[] = [];
  const ours = SETTINGS.flatMap(({ name, source }) => (source === "env" ? name : []));
  const known = withFiles(withSmallLetters(given), ours, mistakes);
  const variables = readVariables(known, mistakes);
  mistakes.push(...misspelt(known));
  const { file: named = "" } = settingsOf(processPart, variables);
  const file = await readConfigFile(named, cwd, mistakes);
  const values = { ...variables, ...fileValues(file?.settings ?? fileSchema.parse({}, ONCE)) };
  const held = namedVariables(values);
  const env = withFiles(known, held, mistakes);
  mistakes.push(...checkParts(env, values, file), ...unset(env, held));
  refuse(mistakes);

  const { id, terms, models, budgets } = settingsOf(modelPart, values);
  const { port, noColor, ...own } = settingsOf(processPart, values);
  const policy = settingsOf(policyPart, values);
  const served = PLATFORMS.filter((platform) => platform.serves(settingsOf(platform, values)));
  const standard = standardModelId(values);
  const chosen = id === NO_MODEL ? undefined : (id ?? standard);
  const contextWindow =
    chosen === undefined ? terms.contextWindow : contextWindowOf(chosen, { ...terms, models });
  const config = {
    dataDir: resolve(cwd, settingsOf(sqlite, values).dataDir),
    wakeups: settingsOf(wakeupsPart, values).engine ?? chosenStore(values).wakeups,
    ...own,
    port: port ?? DEFAULT_PORT,
    isPortSet: port !== undefined,
    file: file?.path,
    agentFile: resolve(file === undefined ? cwd : dirname(file.path), AGENT_FILE),
    terminal: { color: noColor === undefined, dumb: env["TERM"] === "dumb" },
    ...policy,
    model: {
      id: chosen,
      isStandard: id === undefined && standard !== undefined,
      values,
      models,
      ...terms,
      maxOutputTokens: terms.maxOutputTokens ?? usualOutput(contextWindow),
    },
    budgets: budgetsOf(budgets),
    platforms: served.map(({ name }) => name),
    values,
    policyNames: [...policyNames(policy, file), ...timeoutNames(values, file)],
    pages: pagesIn(policy.approvals.rules).map(({ to, path }) => ({
      to,
      at: file?.at(["approvals", ...path]) ?? "",
    })),
    variables: Object.fromEntries(held.map((name) => [name, (env[name] ?? "").trim()])),
    variable: (name: string) => (isOurs(name) ? undefined : env[name]?.trim()),
    secrets: secretsIn(
      env,
      new Set([...held, ...SETTINGS.flatMap(({ name, secret }) => (secret ? name : []))]),
    ),
  };
  // No data: two configurations with the same settings are the same.
  Object.defineProperty(config, "variable", { enumerable: false });
  return freeze(config);
}

/** The variables that settings name as holding secrets. */
function namedVariables(values: SettingValues): string[] {
  return PARTS.flatMap((part) => part.variables?.(settingsOf(part, values)) ?? []);
}

function unset(env: Environment, names: readonly string[]): string[] {
  const missing = names.filter((name) => !isSet(env[name]));
  return missing.map((name) => `${name}: missing; watchkeeper.yaml says that it holds a secret`);
}

/** Kubernetes sets these in every container when a service has our name. */
const SERVICE_LINK = /^WATCHKEEPER_(?:PORT|SERVICE)(?:_|$)/;

/** Variables that begin as ours do and are close to one of them. */
function misspelt(env: Environment): string[] {
  const known = SETTINGS.flatMap(({ name }) => [name, `${name}_FILE`]);
  const strange = Object.keys(env).filter(
    (name) => name.startsWith("WATCHKEEPER_") && !SERVICE_LINK.test(name) && !known.includes(name),
  );
  return strange.flatMap((name) => {
    const meant = isSet(env[name]) ? suggest(name, known) : undefined;
    return meant === undefined ? [] : [`${name}: no such variable; did you mean ${meant}?`];
  });
}

function isOurs(name: string): boolean {
  return SETTINGS.some((setting) => setting.name === name && !setting.shared);
}

function sourceOf(name: string): Setting["source"] | undefined {
  return SETTINGS.find((setting) => setting.name === name)?.source;
}

function checkParts(
  env: Environment,
  values: SettingValues,
  file: ConfigFile | undefined,
): string[] {
  const isGiven = (name: string) =>
    sourceOf(name) === "env" ? isSet(env[name]) : values[name] !== undefined;
  const found = PARTS.flatMap((part) =>
    Object.entries(part.check?.(isGiven, settingsOf(part, values)) ?? {}),
  );
  const mistakes = found.map(([name, text]) => {
    const at = sourceOf(name) === "env" ? "" : `${file?.at(name.split(".")) ?? ""}: `;
    return `${at}${name}: ${text}`;
  });
  const { provider } = tryModelId(settingsOf(modelPart, values).id ?? "") ?? {};
  const missing = provider?.missing(settingsOf(provider, values));
  if (provider !== undefined && missing !== undefined && !isSet(env[missing])) {
    mistakes.push(`${missing}: missing; with MODEL=${provider.name}/<name> it is needed`);
  }
  mistakes.push(...checkFallbacks(values, file), ...checkRoutes(values, file));
  mistakes.push(...checkPrices(values, file), ...checkAlertChannels(values, file));
  return mistakes;
}

/** One that could not be asked would be noticed only when it is needed. */
function checkFallbacks(values: SettingValues, file: ConfigFile | undefined): string[] {
  const { id = standardModelId(values), terms } = settingsOf(modelPart, values);
  return terms.fallbacks.flatMap(({ model }, i) => {
    const { provider } = tryModelId(model) ?? {};
    const missing = provider?.missing(settingsOf(provider, values));
    const at = `${file?.at(["model", "fallbacks", i]) ?? ""}: model.fallbacks: ${model}`;
    if (missing !== undefined) return [`${at} needs ${missing}, which isn't set`];
    return id === undefined ? [`${at} stands behind MODEL, which isn't set`] : [];
  });
}

/** The same of the models that places have. */
function checkRoutes(values: SettingValues, file: ConfigFile | undefined): string[] {
  const { id = standardModelId(values), terms } = settingsOf(modelPart, values);
  return terms.routes.flatMap(({ model }, i) => {
    const { provider } = tryModelId(model) ?? {};
    const missing = provider?.missing(settingsOf(provider, values));
    const at = `${file?.at(["model", "routes", i, "model"]) ?? ""}: model.routes[${i}].model: ${model}`;
    if (missing !== undefined) return [`${at} needs ${missing}, which isn't set`];
    return id === undefined && model !== NO_MODEL
      ? [`${at} stands beside MODEL, which isn't set`]
      : [];
  });
}

/** A limit in cents cannot be kept of a model whose price nobody knows. */
function checkPrices(values: SettingValues, file: ConfigFile | undefined): string[] {
  const { id = standardModelId(values), terms, models, budgets } = settingsOf(modelPart, values);
  const goals = settingsOf(goalsPart, values);
  const limits: readonly (readonly [path: readonly PropertyKey[], cents: number | undefined])[] = [
    ...Object.entries(budgets).flatMap(([name, limit]) =>
      name.startsWith("cents") ? [[["budgets", name], limit] as const] : [],
    ),
    [["goals", "budget", "cents"], goals.budget.cents],
    ...goals.schedules.map(
      ({ budget }, i) => [["goals", "schedules", i, "budget", "cents"], budget.cents] as const,
    ),
  ];
  const set = limits.find(([, limit]) => limit !== undefined)?.[0];
  if (set === undefined || id === undefined || id === NO_MODEL) return [];
  const used = new Set([id, ...[...terms.fallbacks, ...terms.routes].map(({ model }) => model)]);
  const unpriced = [...used].filter(
    (each) => each !== NO_MODEL && knownModel(each, models).price === undefined,
  );
  return unpriced.map(
    (each) =>
      `${file?.at(set) ?? ""}: ${set.join(".")}: the price of ${each} is unknown; say it: \`models: { ${each}: { price: { input: …, output: … } } }\``,
  );
}

/** Where a chat is served, a route into another would keep its alerts and never tell of them. */
function checkAlertChannels(values: SettingValues, file: ConfigFile | undefined): string[] {
  const served = PLATFORMS.filter((platform) => platform.serves(settingsOf(platform, values)));
  if (served.length === 0) return [];
  return settingsOf(alertsPart, values).routes.flatMap(({ channel }, i) => {
    if (served.some(({ name }) => name === transportOf(channel))) return [];
    const at = file?.at(["alerts", "routes", i, "channel"]) ?? "";
    const names = served.map(({ name }) => platformName(`${name}:`)).join(" and ");
    return [
      `${at}: alerts.routes[${i}].channel is on ${platformName(channel)}, which is not configured; name a channel of ${names}, or set what ${platformName(channel)} needs`,
    ];
  });
}

function policyNames(
  { approvals, access }: Pick<Config, "approvals" | "access">,
  file: ConfigFile | undefined,
): PolicyName[] {
  const parts = { approvals: namedIn(approvals), access: toolsIn(access) };
  return Object.entries(parts).flatMap(([part, found]) =>
    found.map(({ path, ...named }) => ({ ...named, at: file?.at([part, ...path]) ?? "" })),
  );
}

/** The tools that `tools.timeouts` names. A pattern may be for tools that another replica has. */
function timeoutNames(values: SettingValues, file: ConfigFile | undefined): PolicyName[] {
  const names = Object.keys(settingsOf(toolsPart, values).timeouts);
  return names
    .filter((name) => !name.includes("*"))
    .map((name) => ({
      tools: [name],
      arg: undefined,
      at: file?.at(["tools", "timeouts", name]) ?? "",
    }));
}

/**
 * Checks that the tools and arguments named in `approvals`, `access` and `tools.timeouts` exist: a rule with a slip of the pen would silently cover
 * nothing. A glob must meet some tool, an argument must be one of some tool that its rule covers, an allowed URL must say
 * whose it is.
 * @throws BotError CONFIG_INVALID with every mistake and its line
 */
export function checkPolicyNames(config: Config, tools: readonly Tool[]): void {
  const names = tools.map((tool) => tool.name);
  const mistakes: string[] = [];
  for (const { tools: globs, arg, allows, at } of config.policyNames) {
    const covered = tools.filter(
      ({ name }) => globs.length === 0 || globs.some((glob) => globMatches(glob, name)),
    );
    if (arg === undefined) {
      if (covered.length === 0) mistakes.push(`${at}: ${globs.join()}: ${noTool(globs, names)}`);
    } else if (covered.length > 0) {
      const known = [...new Set(covered.flatMap((tool) => argumentNames(tool)))];
      if (!known.includes(arg)) mistakes.push(`${at}: argument ${arg}: ${unknownName(arg, known)}`);
      const problems = covered.map(({ kinds }) => allows && allowProblem(kinds?.[arg], allows));
      for (const problem of problems.filter((one) => one !== undefined && one !== false)) {
        mistakes.push(`${at}: argument ${arg}: ${problem}`);
      }
    }
  }
  refuse(mistakes);
}

/**
 * Checks that there is a pager which can page as `approvals` says: what fails only when nobody decides would be seen too late.
 * @throws BotError CONFIG_INVALID with every mistake and its line
 */
export function checkPages({ pages }: Pick<Config, "pages">, tools: readonly Tool[]): void {
  const pager = pagerIn(tools);
  const mistakes = pages.flatMap(({ at, to }) => {
    const why = pager === undefined ? NO_PAGER : pager.whyNot(to);
    return why === undefined ? [] : [`${at}: page: ${why}`];
  });
  refuse(mistakes);
}

function noTool(globs: readonly string[], names: readonly string[]): string {
  const meant = suggest(globs.join(), names);
  return `no tool has this name${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

function refuse(found: readonly string[]): void {
  const mistakes = [...new Set(found)].toSorted((a, b) => placeIn(a) - placeIn(b));
  if (mistakes.length === 0) return;
  const count = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`;
  const lines = mistakes.map((mistake) => `\n- ${mistake}`).join("");
  throw new BotError("CONFIG_INVALID", `The configuration has ${count}:${lines}`);
}

/** Where in the file a mistake is, as a number to sort by: line, then column; 0 for one that is not in the file. */
function placeIn(mistake: string): number {
  const [, line = 0, column = 0] = /^[^ ]+:(\d+):(\d+): /.exec(mistake) ?? [];
  return Number(line) * 1e6 + Number(column);
}

/** A tenth of the day for one person, half of it for one channel, a hundredth for one guest, unless they are set. */
function budgetsOf(set: Model["budgets"]): Config["budgets"] {
  const { tokensPerDay } = set;
  return {
    ...set,
    tokensPerPersonDay: set.tokensPerPersonDay ?? Math.floor(tokensPerDay / 10),
    tokensPerPlaceDay: set.tokensPerPlaceDay ?? Math.floor(tokensPerDay / 2),
    tokensPerGuestDay: set.tokensPerGuestDay ?? Math.floor(tokensPerDay / 100),
  };
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) freeze(inner);
  }
  return Object.freeze(value);
}
