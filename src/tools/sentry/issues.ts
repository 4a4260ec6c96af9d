import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import type { Finding } from "../../core/finding.ts";
import { readPast } from "../../core/past.ts";
import { counted } from "../../core/text.ts";
import { accountsOf, type AccountSettings } from "../accounts.ts";
import { agoText, time } from "../answer-words.ts";
import { idOf, isRecord, type Item, numberOf, recordsOf, textOf, wordOf } from "../decode.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { clip } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import { createRest, type Rest } from "../rest.ts";
import { hereOf, nowOf, sinceArgument } from "../since.ts";
import { defineTool, type ToolContext } from "../tool.ts";

/** Issues and their newest event, by Sentry's API: https://docs.sentry.io/api/ */

type Own = Readonly<{ org?: string | undefined }>;
type Trackers = ReturnType<typeof trackersOf>;

const MAX_ISSUES = 100;
const MAX_FINDINGS = 15;
const MAX_FRAMES = 8;
const MAX_EXCEPTIONS = 3;
const MAX_EVIDENCE = 4;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 40_000;
/** What says where it happened; others may hold anything. */
const TAGS = ["environment", "release", "transaction", "server_name", "level", "handled"];

export function trackersOf(settings: AccountSettings<Own>, variable: (name: string) => string) {
  const accounts = accountsOf<Own>(settings, variable, (secret) => ({ kind: "bearer", secret }));
  const endpoints = Object.fromEntries(
    Object.entries(accounts).map(([name, { endpoint }]) => [name, endpoint]),
  );
  return {
    endpoints,
    open(input: { instance?: string | undefined }, ctx: ToolContext): { rest: Rest; org: string } {
      const account = instanceOf(input, endpoints);
      const slug = accounts[account]?.org ?? "";
      const rest = createRest(ctx, {
        who: "Sentry",
        endpoint: account,
        help: (status) =>
          status === 401
            ? "Set SENTRY_TOKEN to a token that is valid."
            : `Give the token the scopes org:read, project:read and event:read in the organization ${slug}.`,
      });
      return { rest, org: `api/0/organizations/${encodeURIComponent(slug)}` };
    },
  };
}

export function createIssues({ endpoints, open }: Trackers) {
  return defineTool({
    name: "sentry_issues",
    summary: "lists Sentry's unresolved issues that were seen in a time, new ones first",
    description:
      "Unresolved issues of Sentry that were seen since a time: those that are new in it first, then by how often. query: Sentry's own search, such as project:shop environment:prod.",
    input: z.strictObject({
      since: sinceArgument.default("24h"),
      query: z.string().min(1).max(300).optional(),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ query }) =>
      `Reading the issues in Sentry${query === undefined ? "" : ` of ${query}`}`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const here = await hereOf(ctx);
        const { now } = here;
        const from = await readPast(input.since, here);
        const minutes = Math.ceil((now - from) / MINUTE_MS);
        if (minutes < 1) throw new BotError("INPUT_INVALID", "since: expected a time before now.");
        const { rest, org } = open(input, ctx);
        const { items, isWhole } = await rest.pages(
          `${org}/issues/`,
          {
            query: `is:unresolved lastSeen:-${minutes}m ${input.query ?? ""}`.trim(),
            statsPeriod: `${minutes}m`,
            sort: "freq",
            limit: MAX_ISSUES,
          },
          { max: MAX_ISSUES },
        );
        const isNew = (item: Item) => time(item["firstSeen"]) >= from;
        const ordered = [...items.filter(isNew), ...items.filter((item) => !isNew(item))];
        const isCut = ordered.length > MAX_FINDINGS;
        const gap = {
          what: "rarer issues",
          why: `there are more than ${MAX_ISSUES}`,
          help: "Narrow the query.",
        };
        return {
          text: `${counted(items.length, "unresolved issue")} seen since, ${items.filter(isNew).length} of them new.${isCut ? ` The first ${MAX_FINDINGS} are shown.` : ""}`,
          findings: ordered
            .slice(0, MAX_FINDINGS)
            .map((item) => findingOf(item, isNew(item), now, ctx)),
          gaps: isWhole ? [] : [gap],
        };
      }),
  });
}

function findingOf(item: Item, isNew: boolean, now: number, { encoder }: ToolContext): Finding {
  const { shortId, title, culprit, level, count, userCount, firstSeen, lastSeen, project } = item;
  const isBroken = ["error", "fatal"].includes(textOf(level)) && now - time(lastSeen) < HOUR_MS;
  const users = numberOf(userCount) > 0 ? `, ${counted(numberOf(userCount), "user")}` : "";
  const place = textOf(culprit) === "" ? "" : ` in ${clip(textOf(culprit), 120, encoder)}`;
  return {
    object: {
      kind: "Issue",
      namespace: isRecord(project) ? textOf(project["slug"]) : "",
      name: textOf(shortId),
    },
    cause: clip(textOf(title), 250, encoder),
    severity: isBroken ? "error" : "warning",
    evidence: `${isNew ? "New: " : ""}×${Number(count) || 0}${users}${place}; last seen ${agoText(lastSeen, now)}.`,
    since: textOf(firstSeen) || null,
  };
}

export function createIssue({ endpoints, open }: Trackers) {
  return defineTool({
    name: "sentry_issue",
    summary:
      "shows an issue of Sentry with its newest event: the exceptions and our own code's frames",
    description:
      "An issue of Sentry by its short id, with its newest event: exceptions, only the application's own frames, release and environment. Variables, requests and users are never shown.",
    input: z.strictObject({
      issue: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,100}$/, "expected an id such as SHOP-1A")
        .describe("Its short id such as SHOP-1A, or its number"),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ issue }) => `Reading issue ${issue} in Sentry`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const { rest, org } = open(input, ctx);
        const now = nowOf(ctx);
        const group = await groupIn(rest, org, input.issue);
        const event = await rest.find(`${org}/issues/${idOf(group["id"])}/events/latest/`);
        const head = `${wordOf(group["shortId"])}: ${counted(Number(group["count"]) || 0, "event")}, ${wordOf(group["status"])}, first seen ${agoText(group["firstSeen"], now)}, last ${agoText(group["lastSeen"], now)}.`;
        return {
          text: [
            head,
            ...(event === undefined ? ["Its events are gone."] : eventLines(event, now, ctx)),
          ].join("\n"),
          findings: [findingOf(group, false, now, ctx)],
        };
      }),
  });
}

/** @throws BotError INPUT_INVALID when there is none */
async function groupIn(rest: Rest, org: string, id: string): Promise<Item> {
  const isNumber = /^\d+$/.test(id);
  const path = isNumber ? `issues/${id}/` : `shortids/${encodeURIComponent(id.toUpperCase())}/`;
  const group = await rest.find(`${org}/${path}`, isNumber ? undefined : "group");
  if (group !== undefined) return group;
  throw new BotError("INPUT_INVALID", `There is no issue ${id} in Sentry.`);
}

function eventLines(event: Item, now: number, { encoder }: ToolContext): string[] {
  const entries = recordsOf(event["entries"]);
  const dataOf = (type: string) => entries.find((entry) => entry["type"] === type)?.["data"];
  const exceptions = dataOf("exception");
  // The one that was raised last stands last.
  const values = recordsOf(isRecord(exceptions) ? exceptions["values"] : []).toReversed();
  const message = dataOf("message");
  const said = isRecord(message) ? textOf(message["formatted"]) || textOf(message["message"]) : "";
  const tags = recordsOf(event["tags"])
    .filter(({ key }) => TAGS.includes(textOf(key)))
    .map(({ key, value }) => `${textOf(key)}=${clip(textOf(value), 80, encoder)}`);
  return [
    `Newest event ${agoText(event["dateCreated"], now)}${tags.length === 0 ? "" : `: ${tags.join(" ")}`}`,
    ...occurrenceLines(event["occurrence"], encoder),
    ...(said === "" ? [] : [`Message: ${JSON.stringify(clip(said, 400, encoder))}`]),
    ...values.slice(0, MAX_EXCEPTIONS).flatMap((value) => exceptionLines(value, encoder)),
    ...(values.length > MAX_EXCEPTIONS
      ? [`and ${values.length - MAX_EXCEPTIONS} causes more`]
      : []),
  ];
}

/** What Sentry found itself, such as a slow query or a missed check-in: such an event has no exception. */
function occurrenceLines(occurrence: unknown, encoder: ToolContext["encoder"]): string[] {
  if (!isRecord(occurrence)) return [];
  const evidence = recordsOf(occurrence["evidenceDisplay"])
    .filter(({ important }) => important === true)
    .slice(0, MAX_EVIDENCE)
    .map(({ name, value }) => `  ${clip(`${textOf(name)}: ${textOf(value)}`, 300, encoder)}`);
  const subtitle = clip(textOf(occurrence["subtitle"]), 300, encoder);
  return [...(subtitle === "" ? [] : [`Found: ${subtitle}`]), ...evidence];
}

function exceptionLines(value: Item, encoder: ToolContext["encoder"]): string[] {
  const stack = isRecord(value["stacktrace"]) ? recordsOf(value["stacktrace"]["frames"]) : [];
  const own = stack.filter(({ inApp }) => inApp === true).toReversed();
  const frames = own.slice(0, MAX_FRAMES).map(({ filename, module, lineNo, function: name }) => {
    const file = textOf(filename) || textOf(module) || "?";
    const line = typeof lineNo === "number" ? `:${lineNo}` : "";
    return `  at ${clip(`${textOf(name) || "?"} (${file}${line})`, 200, encoder)}`;
  });
  const others = stack.length - own.length;
  const more = own.length > MAX_FRAMES ? [`  and ${own.length - MAX_FRAMES} more of ours`] : [];
  return [
    clip(`${textOf(value["type"])}: ${textOf(value["value"])}`, 400, encoder),
    ...frames,
    ...more,
    ...(others > 0 ? [`  (${counted(others, "frame")} of libraries left out)`] : []),
  ];
}
