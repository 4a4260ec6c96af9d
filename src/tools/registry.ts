import { BotError } from "../core/errors.ts";
import { FIND_TOOLS, STAY_SILENT, USE_TOOL } from "../core/tool-spec.ts";
import { settingsOf, type SettingValues } from "../core/settings.ts";
import { withWrapper } from "./around.ts";
import { changes } from "./changes/integration.ts";
import { docker } from "./docker/integration.ts";
import { helpers } from "./delegate/integration.ts";
import { costs } from "./costs/integration.ts";
import { evals } from "./evals/integration.ts";
import { feedback } from "./feedback/integration.ts";
import { freeze } from "./freeze/integration.ts";
import { memory } from "./memory/integration.ts";
import { mirror } from "./mirror/integration.ts";
import { github } from "./github/integration.ts";
import { gitlab } from "./gitlab/integration.ts";
import { goals } from "./goals/integration.ts";
import { grafana } from "./grafana/integration.ts";
import { handoff } from "./handoff/integration.ts";
import { host } from "./host/integration.ts";
import { incidents } from "./incidents/integration.ts";
import { alertmanager } from "./alertmanager/integration.ts";
import { approvals } from "./approvals/integration.ts";
import type { Integration, LiveTools, Proof, ToolParts } from "./integration.ts";
import { kubernetes } from "./kubernetes/integration.ts";
import { logs } from "./logs/integration.ts";
import { mysql } from "./mysql/integration.ts";
import { mcp } from "./mcp/integration.ts";
import { network } from "./network/integration.ts";
import { packs } from "./packs/integration.ts";
import { people } from "./people/integration.ts";
import { pagerduty } from "./pagerduty/integration.ts";
import { postgres } from "./postgres/integration.ts";
import { prometheus } from "./prometheus/integration.ts";
import { rabbitmq } from "./rabbitmq/integration.ts";
import { redis } from "./redis/integration.ts";
import { sentry } from "./sentry/integration.ts";
import { skills } from "./skills/integration.ts";
import { ssh } from "./ssh/integration.ts";
import { thread } from "./thread/integration.ts";
import type { ChangeSource } from "./change.ts";
import type { Tool } from "./tool.ts";
import { web } from "./web/integration.ts";

/** Every integration, in the order that lists show their tools: one line for each folder. */
export const INTEGRATIONS: readonly Integration[] = [
  network,
  host,
  ssh,
  web,
  thread,
  helpers,
  goals,
  incidents,
  approvals,
  handoff,
  people,
  freeze,
  costs,
  feedback,
  mirror,
  memory,
  evals,
  skills,
  prometheus,
  alertmanager,
  logs,
  postgres,
  mysql,
  kubernetes,
  docker,
  rabbitmq,
  redis,
  github,
  gitlab,
  pagerduty,
  sentry,
  grafana,
  changes,
  packs,
  mcp,
];

function notLent(): never {
  throw new BotError("NOT_AVAILABLE", "The tools are only listed here.");
}

/** What is there where tools are only listed. */
export const NOTHING_LENT: ToolParts = {
  skills: [],
  ledger: notLent,
  variable: () => "",
  forms: notLent,
  tokens: notLent,
  feedback: notLent,
  freezing: notLent,
  mirroring: notLent,
  approvals: notLent,
  pastThreads: notLent,
  whoIs: notLent,
  goals: notLent,
  handoffs: notLent,
  saveEval: notLent,
  memory: notLent,
  secrets: notLent,
  launch: notLent,
  network: notLent,
  stopped: new AbortController().signal,
  warn: () => {},
};

interface Prepared {
  name: string;
  unavailable: string | undefined;
  tools(): ReturnType<Integration["tools"]>;
  live(): LiveTools | Promise<LiveTools> | undefined;
  proofs(): readonly Proof[] | Promise<readonly Proof[]>;
  changes(): ChangeSource | Promise<ChangeSource> | undefined;
}

/** Each integration with what it is given. Parts that are left out are not needed to list the tools. */
async function prepare(
  values: SettingValues,
  parts: Partial<ToolParts>,
): Promise<readonly Prepared[]> {
  let prepared: readonly Prepared[] = [];
  const changeSources = async () => {
    const available = prepared.filter((each) => each.unavailable === undefined);
    const sources = await Promise.all(available.map(async (each) => each.changes()));
    return sources.filter((each) => each !== undefined);
  };
  const lent = { ...NOTHING_LENT, changeSources, ...parts };
  prepared = await Promise.all(
    INTEGRATIONS.map(async (each): Promise<Prepared> => {
      const settings = settingsOf(each, values);
      return {
        name: each.name,
        unavailable: await each.unavailable?.(settings, lent),
        tools: async () =>
          withWrapper(await each.tools(settings, lent), each.around?.(settings, lent)),
        live: () => each.live?.(settings, lent),
        proofs: () => each.proofs?.(settings, lent) ?? [],
        changes: () => each.changes?.(settings, lent),
      };
    }),
  );
  return prepared;
}

/** The tools of the integrations that are available. @throws BotError CONFIG_INVALID when two have the same name */
export async function createTools(
  values: SettingValues = {},
  parts: Partial<ToolParts> = {},
): Promise<readonly Tool[]> {
  const available = (await prepare(values, parts)).filter((each) => each.unavailable === undefined);
  const tools = (await Promise.all(available.map(async ({ tools: of }) => of()))).flat();
  const names = new Set<string>([USE_TOOL, FIND_TOOLS, STAY_SILENT]);
  for (const { name } of tools) {
    if (names.has(name)) throw new BotError("CONFIG_INVALID", `Two tools are called ${name}.`);
    names.add(name);
  }
  return tools;
}

/** Where tools come from that change while the program runs. */
export async function openLiveTools(
  values: SettingValues,
  parts: Partial<ToolParts>,
): Promise<readonly LiveTools[]> {
  const available = (await prepare(values, parts)).filter((each) => each.unavailable === undefined);
  const opened = await Promise.all(available.map(async ({ live }) => live()));
  return opened.filter((each) => each !== undefined);
}

/** The other integrations, and why their tools are not offered. */
export async function unavailableIntegrations(
  values: SettingValues,
  parts: Partial<ToolParts>,
): Promise<{ name: string; why: string }[]> {
  return (await prepare(values, parts)).flatMap(({ name, unavailable }) =>
    unavailable === undefined ? [] : [{ name, why: unavailable }],
  );
}

/** What shows that the servers of the available integrations can be reached. */
export async function connectionProofs(
  values: SettingValues,
  parts: Partial<ToolParts>,
): Promise<readonly Proof[]> {
  const available = (await prepare(values, parts)).filter((each) => each.unavailable === undefined);
  return (await Promise.all(available.map(async ({ proofs }) => proofs()))).flat();
}
