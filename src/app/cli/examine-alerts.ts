import type { ChatAdapter } from "../../adapters/adapter.ts";
import { ALERTS } from "../../alerts/handler.ts";
import { alertsPart } from "../../config/alerts.ts";
import { AlertsState, foldAlerts } from "../../alerts/state.ts";
import type { Config } from "../../config/config.ts";
import { messageOf } from "../../core/errors.ts";
import { formatUtc } from "../../core/instant.ts";
import { settingsOf } from "../../core/settings.ts";
import { counted } from "../../core/text.ts";
import type { JournalReader } from "../../journal/journal.ts";
import { chosenStore } from "../../journal/stores.ts";
import { readRefusals, refusalsFile } from "../alert-refusals.ts";
import { alertSources, maintenanceOf, vouchedFor } from "../alerts.ts";
import type { CheckedPart } from "./checked-part.ts";

const subject = "alerts";

/** The channels that routes of alerts name. */
export function alertChannels({ values }: Pick<Config, "values">): string[] {
  return settingsOf(alertsPart, values).routes.map(({ channel }) => channel);
}

/** Whether alerts come in by HTTP, what was refused of them, and what waits for its thread. */
export async function* examineAlerts(
  config: Config,
  platforms: readonly ChatAdapter[],
): AsyncIterable<CheckedPart> {
  const { token, routes, maintenance } = settingsOf(alertsPart, config.values);
  const broken = (text: string): CheckedPart => ({ state: "broken", subject, text });
  try {
    const names = vouchedFor(config, await alertSources(config)).map(({ name }) => name);
    await maintenanceOf(maintenance, config.timezone);
    if (routes.length === 0 && token !== undefined)
      yield broken("ALERTS_TOKEN is set and alerts.routes is empty: no alert gets a thread.");
    if (routes.length === 0) return;
    if (names.length === 0)
      yield broken("alerts.routes is set, but nobody can send any: set ALERTS_TOKEN.");
    else if (platforms.length === 0)
      yield broken("no chat platform is configured, so alerts are not served.");
    else {
      const at = names.map((name) => `/alerts/${name}`).join(", ");
      const text = `${counted(routes.length, "route")}; on port ${config.port}: ${at}`;
      yield { state: "ok", subject, text };
    }
  } catch (error) {
    yield broken(messageOf(error));
  }
  const refused = readRefusals(refusalsFile(config.dataDir));
  const last = refused?.last.at(-1);
  if (refused !== undefined && last !== undefined) {
    const text = `${counted(refused.count, "request")} could not be read, the last at ${formatUtc(last.at, "second")} from ${last.source}: ${last.why} ${refusalsFile(config.dataDir)} has the last of them.`;
    yield { state: "absent", subject, text };
  }
  for (const text of await waiting(config)) yield broken(text);
}

/** Groups of alerts without a thread, a line for each channel; nothing where the store cannot be read, which is told elsewhere. */
async function waiting({ values }: Config): Promise<string[]> {
  try {
    const journal = await chosenStore(values).read({ warn: () => {} });
    try {
      return await waitingIn(journal);
    } finally {
      await journal.close();
    }
  } catch {
    return [];
  }
}

async function waitingIn(journal: JournalReader): Promise<string[]> {
  const lines: string[] = [];
  for await (const { key } of journal.list({ prefix: `${ALERTS}:` })) {
    const state = new AlertsState();
    foldAlerts(state, await journal.read(key));
    const all = [...state.groups.open.values()].filter(({ id }) => !state.threads.has(id));
    const [first] = all;
    const channel = key.slice(ALERTS.length + 1);
    if (first !== undefined)
      lines.push(
        `${counted(all.length, "group")} of alerts without a thread in ${channel}, since ${formatUtc(first.openedAt)}: ${first.name} first.`,
      );
  }
  return lines;
}
