import * as z from "zod";
import type { Finding } from "../../core/finding.ts";
import { nearest } from "../../core/nearest.ts";
import { readPast } from "../../core/past.ts";
import { counted, inQuotes } from "../../core/text.ts";
import { agoText, iso, quoted, time } from "../answer-words.ts";
import { isRecord, type Item, numberOf, textOf, wordOf } from "../decode.ts";
import { instanceArgument } from "../instances.ts";
import { clip } from "../labels.ts";
import { orRefused } from "../refusal.ts";
import { readOr } from "../rest.ts";
import { hereOf, nowOf, sinceArgument } from "../since.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { assigneesOf, incidentIn, listOf, type Pagers, summaryOf } from "./pagers.ts";

const TIMEOUT_MS = 40_000;
const MAX_ROWS = 30;
const MAX_ONCALLS = 500;
const MAX_INCIDENTS = 200;
const MAX_LINES = 15;

export const incidentField = z
  .string()
  .regex(/^[A-Z0-9]{5,30}$/, "expected an incident's id such as PT4KHLK")
  .describe("The incident's id, such as PT4KHLK");

export function createOncall({ endpoints, service }: Pagers) {
  return defineTool({
    name: "pagerduty_oncall",
    summary: "shows who is on call now, by escalation policy and level, and until when",
    description:
      "Who is on call now: for each escalation policy and level the people, their schedule and until when. With policy: only those whose name or schedule has these words.",
    input: z.strictObject({
      policy: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .describe("Words of a policy's or schedule's name"),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ policy }) =>
      `Looking up who is on call${policy === undefined ? "" : ` for ${policy}`}`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const policy = input.policy ?? "";
        const rest = service.rest(service.place(input), ctx);
        const { items, isWhole } = await listOf(rest, "oncalls", { earliest: "true" }, MAX_ONCALLS);
        const found = items.filter((item) => fits(item, policy));
        const rows = oncallRows(found, ctx);
        const gap = {
          what: "others on call",
          why: `there are more than ${MAX_ONCALLS}`,
          help: "Name a policy.",
        };
        return {
          text: found.length === 0 ? nobody(items, policy, ctx) : rows.join("\n"),
          gaps: isWhole ? [] : [gap],
        };
      }),
  });
}

function fits({ escalation_policy: policy, schedule }: Item, words: string): boolean {
  const names = `${summaryOf(policy)}\n${summaryOf(schedule)}`.toLowerCase();
  return names.includes(words.toLowerCase());
}

function nobody(items: readonly Item[], policy: string, { encoder }: ToolContext): string {
  if (policy === "") return "Nobody is on call.";
  const names = [...new Set(items.map((item) => summaryOf(item["escalation_policy"])))];
  const near = nearest(policy, names);
  const hint =
    near.length > 0
      ? `Did you mean ${near.join(", ")}?`
      : `There are ${names.slice(0, 15).join(", ")}.`;
  return clip(`Nobody is on call for ${inQuotes(policy)}. ${hint}`, 500, encoder);
}

/** `Shop: level 1 Ana (Primary, until …), Bo; level 2 Cy` */
function oncallRows(items: readonly Item[], { encoder }: ToolContext): string[] {
  const name = (value: unknown) => clip(summaryOf(value) || "?", 80, encoder);
  const policies = Map.groupBy(items, (item) => name(item["escalation_policy"]));
  const rows = [...policies].map(([policy, all]) => {
    const levels = Map.groupBy(all, (item) => numberOf(item["escalation_level"]));
    const texts = [...levels]
      .toSorted(([a], [b]) => a - b)
      .map(([level, people]) => {
        const each = people.map((item) => {
          const until =
            textOf(item["end"]) === ""
              ? "always"
              : `until ${iso(time(item["end"])).replace("T", " ").replace("Z", " UTC")}`;
          const schedule = isRecord(item["schedule"]) ? `${name(item["schedule"])}, ` : "";
          return `${name(item["user"])} (${schedule}${until})`;
        });
        return `level ${level} ${[...new Set(each)].join(", ")}`;
      });
    return `${policy}: ${texts.join("; ")}`;
  });
  const more = rows.length > MAX_ROWS ? [`and ${rows.length - MAX_ROWS} more policies`] : [];
  return [...rows.slice(0, MAX_ROWS), ...more];
}

export function createIncidents({ endpoints, service }: Pagers) {
  return defineTool({
    name: "pagerduty_incidents",
    summary: "lists PagerDuty's open incidents, high urgency first; with since also resolved ones",
    description:
      "PagerDuty's incidents: those that are open, as findings; with since also those that were resolved. By service or title words.",
    input: z.strictObject({
      words: z.string().min(1).max(100).optional().describe("Of the title or the service"),
      since: sinceArgument.optional().describe("Also resolved ones from then on: 2h, 1d or a time"),
      ...instanceArgument(endpoints),
    }),
    effect: "read",
    doing: ({ words }) =>
      `Reading the incidents in PagerDuty${words === undefined ? "" : ` of ${words}`}`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const rest = service.rest(service.place(input), ctx);
        const here = await hereOf(ctx);
        const { now } = here;
        const since = input.since ?? "";
        const order = { sort_by: "created_at:desc" };
        const [open, past] = await Promise.all([
          listOf(
            rest,
            "incidents",
            { "statuses[]": ["triggered", "acknowledged"], date_range: "all", ...order },
            MAX_INCIDENTS,
          ),
          since === ""
            ? { items: [], isWhole: true }
            : listOf(
                rest,
                "incidents",
                {
                  "statuses[]": ["resolved"],
                  since: iso(await readPast(since, here)),
                  until: iso(now),
                  ...order,
                },
                MAX_INCIDENTS,
              ),
        ]);
        const words = (input.words ?? "").toLowerCase();
        const isMeant = (item: Item) =>
          `${textOf(item["title"])}\n${summaryOf(item["service"])}`.toLowerCase().includes(words);
        const [firing, resolved] = [open.items.filter(isMeant), past.items.filter(isMeant)];
        const rows = resolved
          .slice(0, MAX_ROWS)
          .map(
            (item) =>
              `- ${incidentText(item, ctx)}, resolved ${agoText(item["last_status_change_at"], now)}`,
          );
        const ended = since === "" ? "" : `, ${resolved.length} resolved since`;
        const gap = {
          what: "older incidents",
          why: `there are more than ${MAX_INCIDENTS}`,
          help: "Ask for a shorter time.",
        };
        return {
          text: [`${counted(firing.length, "open incident")}${ended}.`, ...rows].join("\n"),
          findings: firing
            .toSorted((a, b) => urgencyOf(a).localeCompare(urgencyOf(b)))
            .map((item) => findingOf(item, ctx)),
          gaps: open.isWhole && past.isWhole ? [] : [gap],
        };
      }),
  });
}

/** `high` comes before `low`. */
function urgencyOf({ urgency }: Item): string {
  return textOf(urgency);
}

function findingOf(item: Item, ctx: ToolContext): Finding {
  const who = assigneesOf(item).join(", ") || "nobody";
  return {
    object: {
      kind: "Incident",
      namespace: clip(summaryOf(item["service"]), 80, ctx.encoder),
      name: wordOf(item["id"]),
    },
    cause: clip(textOf(item["title"]), 200, ctx.encoder),
    severity: item["urgency"] === "low" ? "warning" : "error",
    evidence: clip(`${wordOf(item["status"])}, assigned to ${who}`, 200, ctx.encoder),
    since: textOf(item["created_at"]) || null,
  };
}

/** `PT4KHLK "The server is on fire" of Mail` */
export function incidentText(item: Item, { encoder }: ToolContext): string {
  return `${wordOf(item["id"])} ${quoted(item["title"], encoder)} of ${clip(summaryOf(item["service"]), 80, encoder)}`;
}

export function createIncident({ endpoints, service }: Pagers) {
  return defineTool({
    name: "pagerduty_incident",
    summary: "shows one incident of PagerDuty: who was paged when, its notes and alerts",
    description: "One incident of PagerDuty: state, who was paged and when, notes, alerts.",
    input: z.strictObject({ incident: incidentField, ...instanceArgument(endpoints) }),
    effect: "read",
    doing: ({ incident }) => `Reading incident ${incident} in PagerDuty`,
    endpoints,
    timeoutMs: TIMEOUT_MS,
    run: (input, ctx) =>
      orRefused(async () => {
        const rest = service.rest(service.place(input), ctx);
        const id = input.incident;
        const item = await incidentIn(rest, id);
        const [log, notes, alerts] = await Promise.all([
          readOr(ctx, "its log", () =>
            listOf(rest, `incidents/${id}/log_entries`, { is_overview: "true" }, 100),
          ),
          readOr(ctx, "its notes", async () => ({
            items: await rest.list(`incidents/${id}/notes`, {}, "notes"),
          })),
          readOr(ctx, "its alerts", () => listOf(rest, `incidents/${id}/alerts`, {}, 100)),
        ]);
        const now = nowOf(ctx);
        const of = (read: typeof log | typeof notes) => ("value" in read ? read.value.items : []);
        const who = assigneesOf(item).join(", ") || "nobody";
        const rows = (title: string, lines: readonly string[]) =>
          lines.length === 0
            ? []
            : [
                title,
                ...lines.slice(0, MAX_LINES),
                ...(lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more`] : []),
              ];
        const line = (at: unknown, words: string) =>
          `- ${agoText(at, now)}: ${clip(words, 300, ctx.encoder)}`;
        return {
          text: [
            `${incidentText(item, ctx)}: ${wordOf(item["status"])}, ${wordOf(item["urgency"])} urgency, opened ${agoText(item["created_at"], now)}, assigned to ${clip(who, 200, ctx.encoder)}, policy ${clip(summaryOf(item["escalation_policy"]), 80, ctx.encoder)}.`,
            ...rows(
              "Notes:",
              of(notes).map((note) =>
                line(
                  note["created_at"],
                  `${summaryOf(note["user"])}: ${JSON.stringify(textOf(note["content"]))}`,
                ),
              ),
            ),
            ...rows(
              "Alerts:",
              of(alerts).map((alert) =>
                line(
                  alert["created_at"],
                  `${textOf(alert["status"])}: ${JSON.stringify(textOf(alert["summary"]))}`,
                ),
              ),
            ),
            ...rows(
              "Log, newest first:",
              of(log).map((entry) => line(entry["created_at"], textOf(entry["summary"]))),
            ),
          ].join("\n"),
          gaps: [log, notes, alerts].flatMap((read) => ("gap" in read ? [read.gap] : [])),
        };
      }),
  });
}
