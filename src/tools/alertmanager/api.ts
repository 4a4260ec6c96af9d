import { BotError } from "../../core/errors.ts";
import { oneLine } from "../../core/text.ts";
import { isRecord, recordsOf, textOf, textsOf, tryParse, wordOf } from "../decode.ts";
import type { HttpResponse } from "../http.ts";
import { type Labels, labelsOf } from "../labels.ts";
import { ONLY } from "../instances.ts";
import { Refusal } from "../refusal.ts";
import type { ToolContext } from "../tool.ts";
import { type Matcher, matcherText } from "./matchers.ts";

/** Alertmanager's HTTP API, version 2: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml */

export interface Alert {
  labels: Labels;
  annotations: Labels;
  /** ISO 8601. */
  startsAt: string;
  /** `active`, `suppressed` or, before its group was first handled, `unprocessed`. */
  state: string;
  silencedBy: string[];
  inhibitedBy: string[];
}

export interface Silence {
  id: string;
  /** `active`, `pending` or `expired`. */
  state: string;
  matchers: Matcher[];
  createdBy: string;
  comment: string;
  /** ms since 1970. */
  startsAt: number;
  endsAt: number;
  updatedAt: number;
}

interface NewSilence {
  matchers: readonly Matcher[];
  createdBy: string;
  comment: string;
  startsAt: number;
  endsAt: number;
}

export interface Alertmanager {
  /** Those that all matchers match. @throws Refusal, BotError as `ToolContext.http` */
  alerts(matchers: readonly Matcher[]): Promise<Alert[]>;
  /** Those that have ended stay for some days. @throws as `alerts` */
  silences(): Promise<Silence[]>;
  /** Undefined: there is none with this id. @throws as `alerts` */
  silence(id: string): Promise<Silence | undefined>;
  /** The new one's id. @throws as `alerts`; BotError ABORTED, TIMEOUT where it may have happened */
  create(silence: NewSilence): Promise<string>;
  /** Ends it now. @throws as `create` */
  expire(id: string): Promise<void>;
}

/** Ten thousand alerts. */
const MAX_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 15_000;
export const TOOL_TIMEOUT_MS = 40_000;

export function createAlertmanager(ctx: ToolContext, instance: string): Alertmanager {
  const who = instance === ONLY ? "Alertmanager" : instance;
  const refusal = (answer: HttpResponse) => refusalOf(answer, who, instance);

  async function ask(
    path: string,
    call: Pick<Parameters<typeof ctx.http>[0], "method" | "json"> = {},
  ) {
    const answer = await ctx.http({
      endpoint: instance,
      url: `api/v2/${path}`,
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      ...call,
    });
    return answer;
  }

  async function read(path: string): Promise<unknown> {
    const answer = await ask(path);
    const { status, text, isWhole } = answer;
    if (!isWhole) throw new Refusal(`${who} has more than is read of one answer; name matchers.`);
    const body = status === 200 ? tryParse(text) : undefined;
    if (body === undefined) throw refusal(answer);
    return body;
  }

  /** Only what Alertmanager refused surely did not happen. */
  async function write(path: string, call: Parameters<typeof ask>[1]): Promise<unknown> {
    const answer = await ask(path, call);
    const { status, text } = answer;
    if (status === 200) return tryParse(text);
    if (status >= 400 && status < 500) throw refusal(answer);
    const said = oneLine(text).slice(0, 200);
    throw new BotError("ABORTED", `${who} answered ${status}: ${said}.`);
  }

  return {
    async alerts(matchers) {
      const filters = matchers.map((each) => `filter=${encodeURIComponent(matcherText(each))}`);
      return recordsOf(await read(`alerts?${filters.join("&")}`)).map(alertOf);
    },
    async silences() {
      return recordsOf(await read("silences")).map(silenceOf);
    },
    async silence(id) {
      const answer = await ask(`silence/${encodeURIComponent(id)}`);
      if (answer.status === 404) return undefined;
      const body = answer.status === 200 ? tryParse(answer.text) : undefined;
      if (!isRecord(body)) throw refusal(answer);
      return silenceOf(body);
    },
    async create({ matchers, createdBy, comment, startsAt, endsAt }) {
      const json = {
        matchers: matchers.map((matcher) => ({ ...matcher })),
        createdBy,
        comment,
        startsAt: new Date(startsAt).toISOString(),
        endsAt: new Date(endsAt).toISOString(),
      };
      const body = await write("silences", { method: "POST", json });
      return wordOf(isRecord(body) ? body["silenceID"] : undefined);
    },
    async expire(id) {
      await write(`silence/${encodeURIComponent(id)}`, { method: "DELETE" });
    },
  };
}

function refusalOf({ status, text, stuck }: HttpResponse, who: string, instance: string): Refusal {
  const body = tryParse(text);
  const said = typeof body === "string" ? body : isRecord(body) ? textOf(body["message"]) : text;
  const words = oneLine(said).slice(0, 400) || stuck || "nothing more";
  if (status !== 401 && status !== 403) return new Refusal(`${who} (${status}): ${words}`);
  const why = `${who} refused with ${status}`;
  const help =
    instance === ONLY
      ? "Set ALERTMANAGER_TOKEN, or ALERTMANAGER_USER and ALERTMANAGER_PASSWORD, to an account that may use api/v2."
      : `Let the account of integrations.alertmanager.${instance} use api/v2.`;
  return new Refusal(`${why}: ${words}`, { what: "its alerts and silences", why, help });
}

function alertOf(alert: Record<string, unknown>): Alert {
  const status = isRecord(alert["status"]) ? alert["status"] : {};
  return {
    labels: labelsOf(alert["labels"]),
    annotations: labelsOf(alert["annotations"]),
    startsAt: textOf(alert["startsAt"]),
    state: wordOf(status["state"]),
    silencedBy: textsOf(status["silencedBy"]),
    inhibitedBy: textsOf(status["inhibitedBy"]),
  };
}

function silenceOf(silence: Record<string, unknown>): Silence {
  const status = isRecord(silence["status"]) ? silence["status"] : {};
  return {
    id: wordOf(silence["id"]),
    state: wordOf(status["state"]),
    matchers: recordsOf(silence["matchers"]).map(matcherOf),
    createdBy: textOf(silence["createdBy"]),
    comment: textOf(silence["comment"]),
    startsAt: Date.parse(textOf(silence["startsAt"])),
    endsAt: Date.parse(textOf(silence["endsAt"])),
    updatedAt: Date.parse(textOf(silence["updatedAt"])),
  };
}

/** Before 0.22 there was no `isEqual`: all were. */
function matcherOf(matcher: Record<string, unknown>): Matcher {
  return {
    name: textOf(matcher["name"]),
    value: textOf(matcher["value"]),
    isRegex: matcher["isRegex"] === true,
    isEqual: matcher["isEqual"] !== false,
  };
}
