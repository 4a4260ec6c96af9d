import type { Logger } from "pino";
import type { AlertInbox, BotPost } from "../adapters/inbox.ts";
import type { BotMessage } from "../core/bot-message.ts";
import type { Draft } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { postDurably } from "../journal/durable.ts";
import type { Journal } from "../journal/journal.ts";
import type { Alert } from "./alert.ts";
import type { GroupRule } from "./groups.ts";
import { alertsKey } from "./handler.ts";
import type { Maintenance } from "./maintenance.ts";
import { readBotMessage } from "./messages/read.ts";
import { type AlertRoute, routed } from "./routes.ts";
import { alertFields } from "./shown.ts";
import { byWindow } from "./windows.ts";

/** Alerts among the messages of bots that the configuration lists: their own thread is the incident's. */

interface BotPostParts {
  routes: readonly AlertRoute[];
  /** Of what no route takes. */
  rule: GroupRule;
  maintenance?: Maintenance | undefined;
  /** Takes secrets out, before anything is made of it. */
  hide(text: string): string;
  journal: Pick<Journal, "post" | "flush">;
  wake(key: JournalKey): void;
  log: Logger;
  /** Ms since 1970. */
  now?(): number;
}

/** What is older is told in its thread, and not looked into by itself: it may be long over. */
const FRESH_MS = 3_600_000;

export function createAlertInbox(parts: BotPostParts): AlertInbox {
  const { hide, log } = parts;
  const readIn = ({ actor, message }: Pick<BotPost, "actor" | "message">) =>
    readBotMessage(hidden(message, hide), actor.account);
  return {
    read(said) {
      const { source = "", alerts = [] } = readIn(said) ?? {};
      return alerts.map(({ fingerprint, status }) => ({
        alert: `${source} ${fingerprint}`,
        isOver: status === "resolved",
      }));
    },
    async take(said) {
      const read = readIn(said);
      if (read === undefined) return false;
      const { source, left } = read;
      const alerts = read.alerts.map((alert) => dated(alert, said.at));
      const drafts = draftsOf({ source, alerts, left }, said, parts);
      const key = alertsKey(said.channel);
      for (const draft of drafts) await postDurably(parts.journal, key, draft);
      log.debug({ key, source, post: said.post }, "a bot's message is an alert");
      parts.wake(key);
      return true;
    },
  };
}

interface Told {
  source: string;
  alerts: readonly Alert[];
  left: number;
}

/** One for each route; each is named by the message, so that every process that reads it writes the same. */
function draftsOf(
  { source, alerts, left }: Told,
  { channel, thread, post, at, actor }: BotPost,
  { routes, rule, maintenance, now = Date.now }: BotPostParts,
): Draft<"alert">[] {
  const isFresh = now() - at < FRESH_MS;
  const found = byRoute(routes, channel, source, alerts).flatMap(({ route, alerts: its }) =>
    byWindow(its, (alert) => maintenance?.(source, alert, now())).map((each) => ({
      route,
      ...each,
    })),
  );
  return found.map(({ route, quiet, some }, index) => {
    const { groupBy, windowMs } = route?.rule ?? rule;
    const mention = route?.mention ?? [];
    return {
      id: `alert:${post}:${index}`,
      kind: "alert",
      source,
      alerts: some.map(alertFields),
      ...(left > 0 && index === 0 && { left }),
      rule: { groupBy: [...groupBy], windowMs },
      ...((route?.triage ?? true) && isFresh && { triage: true as const }),
      ...(mention.length > 0 && { mention: [...mention] }),
      own: thread,
      ...(quiet !== undefined && { quiet }),
      ...(route?.investigate === true &&
        isFresh && { investigate: { account: actor.account, name: actor.name } }),
    };
  });
}

/** A route of the message's own channel goes before those of others, which say how such alerts are dealt with, not where. */
function byRoute(
  routes: readonly AlertRoute[],
  channel: string,
  source: string,
  alerts: readonly Alert[],
): { route: AlertRoute | undefined; alerts: readonly Alert[] }[] {
  const own = routes.filter((route) => route.channel === channel);
  const others = routes.filter((route) => route.channel !== channel);
  const { routed: found, stray } = routed([...own, ...others], source, alerts);
  return [...found, ...(stray.length > 0 ? [{ route: undefined, alerts: stray }] : [])];
}

/** By the message's time, where it says none itself. */
function dated(alert: Alert, at: number): Alert {
  if (alert.status !== "resolved") return { ...alert, startsAt: alert.startsAt ?? at };
  return { ...alert, endsAt: alert.endsAt ?? at };
}

function hidden({ author, parts }: BotMessage, hide: (text: string) => string): BotMessage {
  return {
    author: hide(author),
    parts: parts.map(({ title, url, text, fields, links, buttons, footer, ...part }) => ({
      ...part,
      title: hide(title),
      ...(url !== undefined && { url: hide(url) }),
      text: hide(text),
      fields: fields.map(({ name, value }) => ({ name: hide(name), value: hide(value) })),
      links: links.map(({ label, url: to }) => ({ label: hide(label), url: hide(to) })),
      buttons: buttons.map(hide),
      footer: hide(footer),
    })),
  };
}
