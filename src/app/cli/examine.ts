import { pino } from "pino";
import { AGENT_FILE, type AgentFile, agentFileWords } from "../../agent/agent-file.ts";
import type { ChatAdapter, Vault } from "../../adapters/adapter.ts";
import { PLATFORMS } from "../../adapters/platforms.ts";
import type { Config } from "../../config/config.ts";
import { totalTokens } from "../../core/block.ts";
import { whyChanging } from "../../core/host-name.ts";
import { messageOf } from "../../core/errors.ts";
import { formatUtc } from "../../core/instant.ts";
import { settingsOf } from "../../core/settings.ts";
import { transportOf } from "../../core/journal-key.ts";
import { counted } from "../../core/text.ts";
import { chosenStore } from "../../journal/stores.ts";
import { PROBE } from "../../models/health.ts";
import { contextWindowOf, loadModel, type ModelSettings } from "../../models/load.ts";
import { NO_MODEL } from "../../core/routes.ts";
import { chainOf, settingsFor } from "../models.ts";
import { loadDigests, nextLines } from "../digests.ts";
import { loadPlatforms, TRANSPORTS } from "../platforms.ts";
import { keptTenant } from "../tenants.ts";
import type { Network } from "../../net/dial.ts";
import { createEncoder } from "../../security/encoder.ts";
import { network as networkSettings } from "../../tools/network/integration.ts";
import { createDispatcher } from "../../tools/dispatch.ts";
import { createExec } from "../../tools/process.ts";
import type { RunOptions } from "../../tools/run-call.ts";
import { tokensOf } from "../../tools/find-tools.ts";
import { timeoutWords } from "../../tools/timeouts.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Secrets } from "../../team/secrets.ts";
import type { Toolset } from "../toolset.ts";
import type { CheckedPart } from "./checked-part.ts";
import type { CommandInput } from "./command.ts";
import { alertChannels, examineAlerts } from "./examine-alerts.ts";
import { examineOutgoing } from "./examine-outgoing.ts";
import { lookAtTools } from "./look-at-tools.ts";
import { commandLine } from "../../core/installation.ts";

type Input = Pick<CommandInput, "config" | "envFile">;

const MODEL_MS = 30_000;
/** A server of tools may be a program that is downloaded first. */
const PROOF_MS = 30_000;

/**
 * Looks at everything a start depends on, and goes on after what is broken.
 * @throws what a start throws for a configuration that it refuses
 */
export async function* examine({ config, envFile }: Input): AsyncIterable<CheckedPart> {
  const platforms = await loadPlatforms(config, pino({ level: "silent" }));
  yield* lookAtTools(config, (looked) => examineAll({ config, envFile }, { platforms, ...looked }));
}

interface Examined {
  platforms: Awaited<ReturnType<typeof loadPlatforms>>;
  toolset: Toolset;
  network: Network;
  secrets: Secrets;
}

async function* examineAll(
  { config, envFile }: Input,
  { platforms, toolset, network, secrets }: Examined,
): AsyncIterable<CheckedPart> {
  const { tools, live, unavailable, proofs, skills, problems, warnings, agentFile } = toolset;
  yield { state: "ok", subject: "node", text: process.version };
  yield envFile === undefined
    ? { state: "absent", subject: "environment", text: "no .env file was read" }
    : {
        state: "ok",
        subject: "environment",
        text: `${envFile} was read; variables set elsewhere take precedence`,
      };
  yield* examineOutgoing(config);
  yield* examineAgentFile(config, agentFile);
  const kept = new Map<string, string>();
  yield* examineStore(config, platforms, kept);
  yield* examineModels(config.model);
  const vault = { ...secrets, once: async () => false };
  yield* examinePlatforms(platforms, kept, vault);
  yield* examineChannels(config, platforms, vault);
  yield* examineAlerts(config, platforms);
  yield* examineReach(config);
  yield* examineTools(tools);
  yield { state: "ok", subject: "tools", text: sizeText(toolset) };
  const times = timeoutWords(tools);
  if (times !== undefined) yield { state: "ok", subject: "timeouts", text: times };
  yield* examineConnections(config, { tools, proofs, network });
  for (const text of warnings) yield { state: "absent", subject: "tools", text };
  for (const { name, why } of unavailable) yield { state: "absent", subject: name, text: why };
  const names = skills.map(({ name }) => name).join(", ");
  if (names !== "") yield { state: "ok", subject: "skills", text: names };
  for (const { at, text, loaded } of problems) {
    yield { state: loaded ? "ok" : "absent", subject: "skill", text: `${at}: ${text}` };
  }
  for (const { subject, problems: found } of live)
    for (const text of found) yield { state: "broken", subject, text };
}

/** Without a model nobody reads it. */
function* examineAgentFile({ model }: Config, file: AgentFile): Iterable<CheckedPart> {
  if (model.id === undefined) return;
  const words = agentFileWords(file, contextWindowOf(model.id, model));
  if (words === undefined) return;
  yield { state: words.isWhole ? "ok" : "absent", subject: AGENT_FILE, text: words.text };
}

/** In chat nobody sits at this machine, so its own network is closed until it is opened. */
function* examineReach({ platforms, values }: Config): Iterable<CheckedPart> {
  const { allow } = settingsOf(networkSettings, values);
  if (platforms.length === 0 || allow.length > 0) return;
  const text =
    "network.allow is empty: asked in chat, http_check and its like reach public addresses only. To open your own, write into watchkeeper.yaml: network: { allow: [10.0.0.0/8, localhost] }";
  yield { state: "absent", subject: "network", text };
}

/** Those that work in a line for each effect, the others by name. */
async function* examineTools(tools: readonly Tool[]): AsyncIterable<CheckedPart> {
  const working: Tool[] = [];
  for (const tool of tools) {
    const missing = await tool.unavailable?.();
    if (missing === undefined) working.push(tool);
    else yield { state: "absent", subject: tool.name, text: missing };
  }
  for (const [effect, some] of Map.groupBy(working, (tool) => tool.effect)) {
    const names = some.map(({ name }) => name).join(", ");
    yield { state: "ok", subject: effect, text: `${counted(some.length, "tool")}: ${names}` };
  }
}

/** What describing the tools takes of a model's window. */
function sizeText({ tools, found }: Toolset): string {
  const described = tools.filter((tool) => !found.includes(tool));
  const tokens = (some: readonly Tool[]) =>
    some.reduce((sum, tool) => sum + tokensOf(tool), 0).toLocaleString("en-US");
  const all = `${described.length} are described in each request, about ${tokens(described)} tokens`;
  if (found.length === 0) return all;
  return `${all}; ${found.length} more are found when needed, which saves about ${tokens(found)}`;
}

/** Makes the calls that prove each server; all of them at once, since one that is away takes its time. */
async function* examineConnections(
  { secrets, host, pages }: Config,
  { tools, proofs, network }: Pick<Toolset, "tools" | "proofs"> & { network: Network },
): AsyncIterable<CheckedPart> {
  const encoder = createEncoder(secrets);
  const dispatcher = createDispatcher({
    tools,
    host,
    exec: createExec({ encoder }),
    network,
    encoder,
  });
  const signal = AbortSignal.timeout(PROOF_MS);
  yield* await Promise.all(
    proofs.map(async ({ subject, tool, args }): Promise<CheckedPart> => {
      try {
        const { args: whole } = await dispatcher.prepare(tool, args, signal);
        const { outcome, text } = await dispatcher.run(tool, whole, {
          ...NOBODY,
          startedAt: Date.now(),
          signal,
        });
        const [said = ""] = text.split("\n");
        return { state: outcome === "ok" ? "ok" : "broken", subject, text: said };
      } catch (error) {
        return { state: "broken", subject, text: encoder.encode(messageOf(error)) };
      }
    }),
  );
  const targets = new Map(pages.map(({ to }) => [`${to.instance} ${to.service}`, to]));
  yield* await Promise.all(
    [...targets.values()].map(async (to): Promise<CheckedPart> => {
      const { ok, text } = await dispatcher.pages.examine(to, signal);
      return { state: ok ? "ok" : "broken", subject: "paging", text };
    }),
  );
}

/** Nobody asks, and what is said is not kept. */
const NOBODY: Omit<RunOptions, "signal" | "startedAt"> = {
  keep: async () => ({ id: "", bytes: 0 }),
  artifact: async () => new Uint8Array(),
  asker: {
    key: "doctor:here",
    call: "doctor",
    account: "",
    person: "",
    name: "doctor",
    timezone: async () => "UTC",
    audience: async () => undefined,
    tenants: async () => [],
    outside: async () => false,
    link: undefined,
  },
};

/** The model and those behind it; the first that answers is used now. */
async function* examineModels(config: Config["model"]): AsyncIterable<CheckedPart> {
  if (config.id === undefined) {
    const text =
      "none configured: direct commands and the checks of skills answer. Set ANTHROPIC_API_KEY, or MODEL and its key";
    yield { state: "absent", subject: "model", text };
  }
  const chain = chainOf(config);
  const routed = new Set(config.routes.map(({ model }) => model).filter((id) => id !== NO_MODEL));
  const looked = await Promise.all(chain.map((id) => examineModel(id, settingsFor(id, config))));
  const used = looked.findIndex(({ state }) => state === "ok");
  for (const [at, { state, text }] of looked.entries()) {
    const chosen = at === 0 && state === "ok" && config.isStandard ? "; MODEL chooses another" : "";
    const now = at === used && at > 0 ? `; it is used now, because ${chain[0]} doesn't answer` : "";
    yield { state, subject: at === 0 ? "model" : "fallback", text: `${text}${chosen}${now}` };
  }
  for (const id of [...routed].filter((each) => !chain.includes(each)))
    yield { ...(await examineModel(id, settingsFor(id, config))), subject: "route" };
}

/** Asks it for a word. */
async function examineModel(
  id: string,
  settings: ModelSettings,
): Promise<Pick<CheckedPart, "state" | "text">> {
  const began = performance.now();
  try {
    const model = await loadModel(id, settings);
    const { usage } = await model.generate(PROBE, { signal: AbortSignal.timeout(MODEL_MS) });
    const ms = Math.round(performance.now() - began);
    const text = `${model.id} answers in ${ms} ms (${totalTokens(usage)} tokens used)`;
    return { state: "ok", text };
  } catch (error) {
    return { state: "broken", text: messageOf(error) };
  }
}

async function* examinePlatforms(
  platforms: readonly ChatAdapter[],
  kept: ReadonlyMap<string, string>,
  vault: Vault,
): AsyncIterable<CheckedPart> {
  if (platforms.length === 0) {
    const names = PLATFORMS.map(({ title }) => title).join(", ");
    const text = `none configured (${names}): ${commandLine("")} opens a conversation in the terminal`;
    yield { state: "absent", subject: "platforms", text };
  }
  for (const { name, setUp } of PLATFORMS) {
    if (setUp === undefined || platforms.some(({ transport }) => transport === name)) continue;
    yield { state: "absent", subject: name, text: await setUp() };
  }
  for (const platform of platforms) {
    const subject = platform.transport;
    try {
      for (const { ok, weak, text } of await platform.examine(kept.get(subject), vault)) {
        yield { state: ok ? (weak === true ? "absent" : "ok") : "broken", subject, text };
      }
    } catch (error) {
      yield { state: "broken", subject, text: messageOf(error) };
    }
  }
}

/** Channels in which something is said by itself. */
async function* examineChannels(
  config: Config,
  platforms: readonly ChatAdapter[],
  vault: Vault,
): AsyncIterable<CheckedPart> {
  const digests = await loadDigests(config);
  for (const text of nextLines(digests, Date.now()))
    yield { state: "ok", subject: "digest", text: text.replace(/^Next digest: /, "next: ") };
  for (const { cron, zone, schedule } of digests)
    if (schedule.next(Date.now()) === undefined)
      yield { state: "broken", subject: "digest", text: `"${cron}" is never due in ${zone}.` };
  const { ops, incidentChannels } = config;
  const said = [...(ops === undefined ? [] : [ops]), ...incidentChannels, ...alertChannels(config)];
  for (const channel of new Set([...said, ...digests.map((each) => each.channel)])) {
    const platform = platforms.find(({ transport }) => transport === transportOf(channel));
    const why =
      platform === undefined
        ? `${channel} is on a platform that is not configured.`
        : await platform.examineChannel(channel, vault).catch(messageOf);
    if (why === undefined) yield { state: "ok", subject: "channel", text: `${channel} is open.` };
    else yield { state: "broken", subject: "channel", text: why };
  }
}

/** Notes in `kept` what the store has of whom each platform serves. */
async function* examineStore(
  { values, host }: Config,
  platforms: readonly ChatAdapter[],
  kept: Map<string, string>,
): AsyncIterable<CheckedPart> {
  const subject = "store";
  const weaknesses: string[] = [];
  try {
    const store = chosenStore(values);
    const lost = await store.whyLost?.();
    if (lost !== undefined) weaknesses.push(lost);
    const journal = await store.read({ warn: (text) => weaknesses.push(text) });
    try {
      const damage = await journal.check();
      let [threads, incidents] = [0, 0];
      for await (const { key } of journal.list()) {
        const kind = transportOf(key);
        if (TRANSPORTS.includes(kind)) threads += 1;
        else if (kind === "incident") incidents += 1;
      }
      for (const { transport } of platforms) {
        const tenant = await keptTenant(journal, transport);
        if (tenant !== undefined) kept.set(transport, tenant);
      }
      if (damage !== undefined) yield { state: "broken", subject, text: damage };
      else
        yield {
          state: "ok",
          subject,
          text: `${store.shown}, ${counted(threads, "thread")} and ${counted(incidents, "incident")}; readable, \`audit --verify\` checks the seals`,
        };
      for (const { host: name, beatAt, gone } of await journal.hosts()) {
        const text = `${name}, last seen at ${formatUtc(beatAt, "second")}`;
        yield { state: gone ? "absent" : "ok", subject: "host", text };
      }
    } finally {
      await journal.close();
    }
  } catch (error) {
    yield { state: "broken", subject, text: messageOf(error) };
  }
  for (const text of weaknesses) yield { state: "absent", subject, text };
  const changing = whyChanging(host);
  if (changing !== undefined) yield { state: "absent", subject: "host", text: changing };
}
