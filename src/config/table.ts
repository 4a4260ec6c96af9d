import * as z from "zod";
import { agentPart } from "./agent.ts";
import { alertsPart } from "./alerts.ts";
import { PLATFORMS } from "../adapters/platforms.ts";
import {
  type Setting,
  settingsIn,
  type SettingsPart,
  type SettingValues,
} from "../core/settings.ts";
import { issueText, mistakeText } from "../core/zod-issues.ts";
import { STORES } from "../journal/stores.ts";
import { PROVIDERS } from "../models/load.ts";
import { INTEGRATIONS } from "../tools/registry.ts";
import { digestsPart } from "./digests.ts";
import { goalsPart } from "./goals.ts";
import { mcpServerPart } from "./mcp-server.ts";
import { modelPart, policyPart, processPart, wakeupsPart } from "./program.ts";
import { outgoingPart } from "./outgoing.ts";
import { toolsPart } from "./tools.ts";
import { watchingPart } from "./watching.ts";

/** The one table of settings: every part of the program that has some, in the order in which the pages list them. */
export const PARTS: readonly SettingsPart[] = [
  modelPart,
  ...PROVIDERS,
  ...STORES,
  wakeupsPart,
  ...PLATFORMS,
  policyPart,
  agentPart,
  toolsPart,
  ...INTEGRATIONS,
  alertsPart,
  digestsPart,
  goalsPart,
  mcpServerPart,
  processPart,
  watchingPart,
  outgoingPart,
];

/** Every setting, once: parts may share a variable, declared by the same schema. */
export const SETTINGS: readonly Setting[] = [
  ...new Map(PARTS.flatMap(settingsIn).map((setting) => [setting.name, setting])).values(),
];

/** `watchkeeper.yaml`. */
export const fileSchema = z.strictObject(fileShape());

/** A section such as `logs` is there for its keys; a key without a dot stands at the top. */
function fileShape(): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {};
  const sections: Record<string, Record<string, z.ZodType>> = {};
  for (const { name, source, schema } of SETTINGS) {
    const [section = "", key] = name.split(".");
    if (source === "yaml" && key === undefined) shape[section] = schema;
    else if (source === "yaml" && key !== undefined) {
      sections[section] = { ...sections[section], [key]: schema };
      shape[section] = z.strictObject(sections[section]).prefault({});
    }
  }
  return shape;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "";
}

/** What the variables say. Each mistake is added to `mistakes` with the variable's name and never its value. */
export function readVariables(env: Environment, mistakes: string[]): SettingValues {
  const values: Record<string, unknown> = {};
  for (const { name, schema } of SETTINGS.filter(({ source }) => source === "env")) {
    const text = env[name];
    const { data, error } = schema.safeParse(isSet(text) ? text : undefined);
    values[name] = data;
    for (const issue of error?.issues ?? [])
      mistakes.push(mistakeText(name, issueText(issue, false)));
  }
  return values;
}

export function fileValues(file: Readonly<Record<string, unknown>>): SettingValues {
  const keys = SETTINGS.filter(({ source }) => source === "yaml").map(({ name }) => name);
  return Object.fromEntries(keys.map((name) => [name, valueAt(file, name.split("."))]));
}

function valueAt(file: unknown, path: readonly string[]): unknown {
  const inside = (value: unknown, key: string): unknown =>
    typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return path.reduce(inside, file);
}
