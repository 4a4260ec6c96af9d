import type { Logger } from "pino";
import type { Adapter, ChatAdapter } from "../adapters/adapter.ts";
import type { AlertInbox } from "../adapters/inbox.ts";
import { createAlertInbox } from "../alerts/bot-posts.ts";
import { createAlertsHandler } from "../alerts/handler.ts";
import type { Maintenance, MaintenanceWindow } from "../alerts/maintenance.ts";
import { mappedSource } from "../alerts/mapping.ts";
import { alertsPart, DEFAULT_RULE, type READ_BY_US, SIGNING } from "../config/alerts.ts";
import { pagerDutySigned, sentrySigned, type Signed } from "../alerts/signatures.ts";
import { createSns } from "../alerts/sns.ts";
import { alertmanager, grafana } from "../alerts/sources/alertmanager.ts";
import { datadog } from "../alerts/sources/datadog.ts";
import { opsgenie } from "../alerts/sources/opsgenie.ts";
import { pagerduty } from "../alerts/sources/pagerduty.ts";
import { sentry } from "../alerts/sources/sentry.ts";
import { sns } from "../alerts/sources/sns.ts";
import { createAlertRoutes, type SentBy } from "../alerts/webhooks.ts";
import { createRefusalLog, refusalsFile } from "./alert-refusals.ts";
import type { Config } from "../config/config.ts";
import { BotError } from "../core/errors.ts";
import type { HttpRequest, HttpRoute } from "../core/http-route.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { settingsOf } from "../core/settings.ts";
import type { Journal } from "../journal/journal.ts";
import type { Network } from "../net/dial.ts";
import type { Ops } from "../team/ops.ts";
import type { Encoder } from "../security/encoder.ts";
import type { KeyHandler } from "../worker/key-handler.ts";

/** Joins alerts to the program: where monitoring systems send them, and what gives each group of them its thread. */

const READERS: Readonly<Record<(typeof READ_BY_US)[number], SentBy>> = {
  alertmanager,
  grafana,
  pagerduty,
  opsgenie,
  datadog,
  sns,
  sentry,
};

/** Amazon's certificates have some 2 KiB. */
const MAX_BYTES = 64 * 1024;
const GET_MS = 10_000;

interface AlertingParts {
  config: Pick<Config, "values" | "variables" | "timezone" | "dataDir">;
  journal: Pick<Journal, "post" | "flush">;
  outgoing: Network;
  adapters: ReadonlyMap<string, Adapter>;
  encode(text: string): string;
  wake(key: JournalKey): void;
  log: Logger;
  /** Ends what is asked of others. */
  ending: AbortController;
}

/** Ours and the mapped ones. @throws BotError CONFIG_INVALID for a mapping that is no JSONata */
export async function alertSources({ values }: Pick<Config, "values">): Promise<SentBy[]> {
  const { sources } = settingsOf(alertsPart, values);
  const mapped = Object.entries(sources).flatMap(([name, source]) =>
    source !== undefined && "mapping" in source ? mappedSource(name, source.mapping) : [],
  );
  return [...Object.values(READERS), ...(await Promise.all(mapped))];
}

/** Those of which something can show that a request is theirs: the token, or what they sign. */
export function vouchedFor({ values }: Pick<Config, "values">, all: readonly SentBy[]): SentBy[] {
  const { token, sources } = settingsOf(alertsPart, values);
  const signing = SIGNING.filter((name) => Object.hasOwn(sources, name));
  return all.filter(({ name }) => token !== undefined || signing.some((each) => each === name));
}

/** Where monitoring systems send their alerts; none where nothing shows that a request is theirs, or no route takes any. */
async function createAlertIntake({
  config,
  journal,
  outgoing,
  wake,
  log,
  ending,
  encode,
}: Omit<AlertingParts, "adapters">): Promise<HttpRoute[]> {
  const { token, routes, sources, maintenance } = settingsOf(alertsPart, config.values);
  if (routes.length === 0) return [];
  const signed = new Map<string, (request: HttpRequest) => Promise<Signed | undefined>>();
  const secretOf = (name: string) => config.variables[name] ?? "";
  const { pagerduty: pd, sentry: st, sns: amazon } = sources;
  if (pd !== undefined)
    signed.set("pagerduty", async (request) => pagerDutySigned(request, secretOf(pd.secret)));
  if (st !== undefined)
    signed.set("sentry", async (request) => sentrySigned(request, secretOf(st.secret)));
  if (amazon !== undefined) {
    const theirs = createSns({
      topics: amazon.topics,
      get: async (url) => getText(outgoing, url, ending.signal),
      now: Date.now,
      confirmed: (topic) =>
        log.info(
          { topic },
          "Amazon's notification service was told that the topic's messages are taken",
        ),
    });
    signed.set("sns", theirs.signed);
  }
  return createAlertRoutes({
    sources: await alertSources(config),
    token,
    signed,
    routes,
    maintenance: await maintenanceOf(maintenance, config.timezone),
    refused: createRefusalLog(refusalsFile(config.dataDir), {
      encode,
      failed: (error) =>
        log.warn({ err: error }, "a request of alerts that was refused could not be kept"),
    }),
    journal,
    wake,
    log,
  });
}

/** Most have none, and need not load what reads times. */
export async function maintenanceOf(
  windows: readonly MaintenanceWindow[],
  zone: string | undefined,
): Promise<Maintenance> {
  if (windows.length === 0) return () => undefined;
  const { createMaintenance } = await import("../alerts/maintenance.ts");
  return createMaintenance(windows, zone);
}

/** @throws BotError CONNECTION_FAILED, ADDRESS_REFUSED, ABORTED */
async function getText({ dial }: Network, url: URL, stopped: AbortSignal): Promise<string> {
  const { exchange } = await import("../net/http-exchange.ts");
  const { limitTime } = await import("../core/time-limit.ts");
  const limit = limitTime(stopped, GET_MS / 1_000);
  const terms = { dial, signal: stopped, limit, maxBytes: MAX_BYTES, trusted: true };
  const { answer, problem } = await exchange({ method: "GET", url }, terms);
  if (answer?.status === 200 && answer.body.isWhole) return answer.body.text;
  const why = problem ?? answer?.statusLine ?? "no answer";
  throw new BotError("CONNECTION_FAILED", `${url.origin}${url.pathname}: ${why}.`);
}

/** Both ways in: what listed bots post in channels, and what systems send by HTTP. @throws BotError CONFIG_INVALID */
export async function openAlerts(
  parts: Omit<AlertingParts, "adapters"> & { encoder: Pick<Encoder, "hide"> },
): Promise<{ alerts: AlertInbox; alertRoutes(): Promise<HttpRoute[]> }> {
  const { config, encoder, journal, wake, log } = parts;
  const { routes, maintenance: windows } = settingsOf(alertsPart, config.values);
  const maintenance = await maintenanceOf(windows, config.timezone);
  const { hide } = encoder;
  const rule = DEFAULT_RULE;
  return {
    alerts: createAlertInbox({ routes, rule, maintenance, hide, journal, wake, log }),
    alertRoutes: async () => createAlertIntake(parts),
  };
}

/** What gives each group its thread, in channels of the chats that this process serves. */
export function createAlertThreads(
  { adapters, encode, wake }: Pick<AlertingParts, "adapters" | "encode" | "wake">,
  ops: Ops | undefined,
): KeyHandler {
  return createAlertsHandler({
    openerOf(transport) {
      const chat = adapters.get(transport);
      return chat !== undefined && isChat(chat) ? chat.open.bind(chat) : undefined;
    },
    beneathOf(transport) {
      const chat = adapters.get(transport);
      return chat !== undefined && isChat(chat) ? chat.beneath?.bind(chat) : undefined;
    },
    encode,
    wake,
    tellOps: async (id, text) => ops?.tell(id, text),
  });
}

/** Its threads are begun in channels. */
export function isChat(adapter: Adapter): adapter is ChatAdapter {
  return "channelAt" in adapter;
}
