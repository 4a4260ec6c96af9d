import { BotError } from "../core/errors.ts";
import { settingsOf, type SettingValues } from "../core/settings.ts";
import { host } from "./host/integration.ts";
import { incidents } from "./incidents/integration.ts";
import { alertmanager } from "./alertmanager/integration.ts";
import type { Integration, Proof, ToolParts } from "./integration.ts";
import { kubernetes } from "./kubernetes/integration.ts";
import { network } from "./network/integration.ts";
import { postgres } from "./postgres/integration.ts";
import { prometheus } from "./prometheus/integration.ts";
import { rabbitmq } from "./rabbitmq/integration.ts";
import { redis } from "./redis/integration.ts";
import { skills } from "./skills/integration.ts";
import { thread } from "./thread/integration.ts";
import type { Tool } from "./tool.ts";

/** Every integration, in the order that lists show their tools: one line for each folder. */
export const INTEGRATIONS: readonly Integration[] = [
  network,
  host,
  thread,
  incidents,
  skills,
  prometheus,
  alertmanager,
  postgres,
  kubernetes,
  rabbitmq,
  redis,
];

function noLedger(): never {
  throw new BotError("NOT_AVAILABLE", "There is no record of incidents here.");
}

/** Each integration with what it is given. Parts that are left out are not needed to list the tools. */
function prepare(values: SettingValues, parts: Partial<ToolParts>) {
  const lent = { skills: [], ledger: noLedger, variable: () => "", ...parts };
  return INTEGRATIONS.map((each) => {
    const settings = settingsOf(each, values);
    return {
      name: each.name,
      unavailable: each.unavailable?.(settings, lent),
      tools: () => each.tools(settings, lent),
      proofs: () => each.proofs?.(settings, lent) ?? [],
    };
  });
}

/** The tools of the integrations that are available. */
export function createTools(
  values: SettingValues = {},
  parts: Partial<ToolParts> = {},
): readonly Tool[] {
  return prepare(values, parts).flatMap(({ unavailable, tools }) =>
    unavailable === undefined ? tools() : [],
  );
}

/** The other integrations, and why their tools are not offered. */
export function unavailableIntegrations(
  values: SettingValues,
  parts: Partial<ToolParts>,
): { name: string; why: string }[] {
  return prepare(values, parts).flatMap(({ name, unavailable }) =>
    unavailable === undefined ? [] : [{ name, why: unavailable }],
  );
}

/** What shows that the servers of the available integrations can be reached. */
export function connectionProofs(
  values: SettingValues,
  parts: Partial<ToolParts>,
): readonly Proof[] {
  return prepare(values, parts).flatMap(({ unavailable, proofs }) =>
    unavailable === undefined ? proofs() : [],
  );
}
