import { hash } from "node:crypto";
import * as z from "zod";
import { shortened } from "../core/text.ts";

/** What a monitoring system says of one thing that it watches, whatever system it is. All of it is that system's words. */
export interface Alert {
  /** The same for all that its system says of the same thing, and of nothing else there. */
  readonly fingerprint: string;
  readonly status: "firing" | "acknowledged" | "resolved";
  readonly name: string;
  /** What it is about, as its system names it: `service`, `namespace`, `instance`, `severity` … */
  readonly labels: Readonly<Record<string, string>>;
  /** What fails, in one line. */
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  /** Ms since 1970, by its system's clock. */
  readonly startsAt?: number | undefined;
  readonly endsAt?: number | undefined;
  /** Where people look at it. */
  readonly links?: readonly { readonly label: string; readonly url: string }[] | undefined;
}

/** One request of a monitoring system's. */
export interface Notification {
  /** Its own id, where the system gives one: the same request again has it too. */
  readonly id?: string;
  readonly alerts: readonly Alert[];
  /** So many more alerts it has than it says. */
  readonly left?: number;
}

/** A system that sends its alerts by HTTP. */
export interface AlertSource {
  /** As in `/alerts/<name>`. */
  readonly name: string;
  /** @throws z.ZodError for what is no request of this system's */
  read(body: unknown): Notification;
}

/** Alerts in one entry of a journal. */
export const MAX_IN_ENTRY = 250;

/** Of each label's value and each text, in characters. */
const MAX_LABEL = 300;
const MAX_TEXT = 2_000;
const MAX_LABELS = 64;
const MAX_ALERTS = 10_000;
const MAX_LINKS = 5;

/** An alert as far as its system told it. */
type Told = {
  [K in keyof Omit<Alert, "labels" | "links">]?: Alert[K] | undefined;
} & {
  name: string;
  status: Alert["status"];
  labels: Readonly<Record<string, unknown>>;
  links?: Readonly<Record<string, string | undefined>>;
};

/** An alert within its bounds. Without a fingerprint it is its labels', as of Alertmanager's. */
export function alertOf(told: Told): Alert {
  const { name, status, summary, description, startsAt, endsAt, fingerprint = "" } = told;
  const labels = labelsOf(told.labels);
  const links = Object.entries(told.links ?? {}).flatMap(([label, url]) =>
    url !== undefined && isWebAddress(url) ? [{ label, url }] : [],
  );
  return {
    fingerprint: isKey(fingerprint) ? fingerprint : fingerprintOf(fingerprint || name, labels),
    status,
    name: shortened(name, MAX_LABEL),
    labels,
    ...(isSaid(summary) && { summary: shortened(summary, MAX_TEXT) }),
    ...(isSaid(description) &&
      description !== summary && { description: shortened(description, MAX_TEXT) }),
    ...(isTime(startsAt) && { startsAt: Math.round(startsAt) }),
    ...(isTime(endsAt) && { endsAt: Math.round(endsAt) }),
    ...(links.length > 0 && { links: links.slice(0, MAX_LINKS) }),
  };
}

/** The first alerts of a request, and how many more there are. `left`: those that the system itself left out. */
export function notificationOf(
  alerts: readonly Alert[],
  { id, left = 0 }: { id?: string | undefined; left?: number | undefined } = {},
): Notification {
  const more = Math.max(0, alerts.length - MAX_ALERTS) + left;
  return {
    ...(id !== undefined && { id }),
    alerts: alerts.slice(0, MAX_ALERTS),
    ...(more > 0 && { left: more }),
  };
}

function isKey(fingerprint: string): boolean {
  return fingerprint !== "" && fingerprint.length <= MAX_LABEL;
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}

/** As far as a date can say it: no entry can have another, and whoever sends it would send it again and again. */
function isTime(at: number | undefined): at is number {
  return at !== undefined && at > 0 && at <= MAX_TIME;
}

const MAX_TIME = 8.64e15;

/** No entry can have it, and whoever sends it would send it again and again. */
const UNWRITABLE = "__proto__";

function labelsOf(told: Readonly<Record<string, unknown>>): Record<string, string> {
  const said = Object.entries(told).flatMap(([name, value]) => {
    const text = typeof value === "string" && name !== UNWRITABLE ? value : "";
    return text === "" ? [] : [[shortened(name, MAX_LABEL), shortened(text, MAX_LABEL)]];
  });
  return Object.fromEntries(said.slice(0, MAX_LABELS));
}

function fingerprintOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify([name, pairs]), "hex").slice(0, 16);
}

function isWebAddress(text: string): boolean {
  const { protocol } = URL.parse(text) ?? {};
  return protocol === "https:" || protocol === "http:";
}

/** A time as systems write it: ISO 8601. Go's zero time means that there is none. */
export const isoTime = z
  .string()
  .transform((text) => {
    const at = Date.parse(text);
    return Number.isNaN(at) || at <= 0 ? undefined : at;
  })
  .optional()
  .catch(undefined);

/** A text that may be missing, or be something else. */
export const maybe = z.string().optional().catch(undefined);

/** In parts of at most so many. */
export function chunked<T>(all: readonly T[], size: number): T[][] {
  const count = Math.ceil(all.length / size);
  return Array.from({ length: count }, (_, i) => all.slice(i * size, (i + 1) * size));
}
