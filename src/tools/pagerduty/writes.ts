import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { agoText, quoted, time } from "../answer-words.ts";
import { isRecord, type Item, textOf, wordOf } from "../decode.ts";
import { clip } from "../labels.ts";
import { refused } from "../refusal.ts";
import { CLOCK_MS, defineWrite, gone, type WriteContext } from "../pinned-write.ts";
import type { Rest } from "../rest.ts";
import type { Tool } from "../tool.ts";
import { assigneesOf, incidentIn, listOf, NOBODY, type Pagers, summaryOf } from "./pagers.ts";
import { createPager } from "./pager.ts";
import { incidentField, incidentText } from "./reads.ts";
import { firstCalled, serviceIn } from "./services.ts";

/** In whose name it is done. */
const as = (pagers: Pagers, account: string) => ({
  label: "As",
  value: pagers.nameFor(account) ?? "nobody",
});

function lines({ item, ctx, now }: WriteContext<string>) {
  const { encoder } = ctx;
  return [
    { label: "Incident", value: `${wordOf(item["id"])} ${quoted(item["title"], encoder)}` },
    { label: "Service", value: clip(summaryOf(item["service"]), 100, encoder) },
    {
      label: "State",
      value: `${wordOf(item["status"])}, ${wordOf(item["urgency"])} urgency, opened ${agoText(item["created_at"], now)}`,
    },
    { label: "Assigned to", value: clip(assigneesOf(item).join(", ") || "nobody", 200, encoder) },
  ];
}

const DONE = { acknowledge: "acknowledged", resolve: "resolved", escalate: "escalated" } as const;

const CONSEQUENCES = {
  acknowledge: "PagerDuty stops paging people for it until the acknowledgment times out.",
  resolve: "It ends, and so do its alerts: nobody is paged for it any more.",
  escalate: "Whoever is on call at that level is paged.",
} as const;

async function escalatedSince(rest: Rest, id: string, since: number): Promise<Item | undefined> {
  const { items } = await listOf(rest, `incidents/${id}/log_entries`, { is_overview: "true" }, 100);
  return items.find(
    ({ type, created_at: at }) => type === "escalate_log_entry" && time(at) >= since,
  );
}

export function createUpdate(pagers: Pagers): Tool {
  return defineWrite(pagers.service, {
    name: "pagerduty_update",
    summary: "acknowledges, resolves or escalates an incident of PagerDuty",
    description:
      "Acknowledges or resolves an incident of PagerDuty, or escalates it to a level of its policy.",
    shape: {
      incident: incidentField,
      do: z.enum(["acknowledge", "resolve", "escalate"]),
      level: z
        .int()
        .min(1)
        .max(20)
        .optional()
        .describe("Of the escalation policy; only with escalate"),
    },
    title: ({ incident, do: what, level }) =>
      `${what[0]?.toUpperCase()}${what.slice(1)} incident ${incident}${level === undefined ? "" : ` to level ${level}`}`,
    resource: ({ incident }) => `incident ${incident}`,
    find: ({ incident }, _, rest) => incidentIn(rest, incident),
    before: ({ status }) => ({ status: textOf(status) }),
    check({ do: what, level }, { item, at }) {
      mustWrite(pagers, at);
      if ((what === "escalate") !== (level !== undefined))
        throw new BotError("INPUT_INVALID", "level: needed with escalate, and with nothing else.");
      if (item["status"] === "resolved") throw refused("The incident is resolved already.");
      if (item["status"] === DONE[what]) throw refused(`The incident is ${DONE[what]} already.`);
    },
    preview: ({ do: what, level }, step) => ({
      lines: [
        ...lines(step),
        {
          label: "Change",
          value: level === undefined ? DONE[what] : `escalated to level ${level}`,
        },
        as(pagers, step.at),
      ],
      blastRadius: CONSEQUENCES[what],
      undo: "Can't be undone: PagerDuty has no way back.",
    }),
    async run({ incident, do: what, level }, step) {
      const change = level === undefined ? { status: DONE[what] } : { escalation_level: level };
      const made = await pagers.change(step, "PUT", `incidents/${incident}`, {
        incident: { type: "incident_reference", ...change },
      });
      const to = level === undefined ? "" : ` to level ${level}`;
      return { text: `${incidentText(step.item, step.ctx)} is ${DONE[what]}${to}, as ${made.as}.` };
    },
    async verify({ incident, do: what }, { item, rest, startedAt }) {
      if (item === undefined) return gone;
      const status = wordOf(item["status"]);
      if (what === "escalate") {
        const entry = await escalatedSince(rest, incident, startedAt - CLOCK_MS);
        const evidence =
          entry === undefined
            ? "its log tells of no escalation since."
            : "its log tells of the escalation.";
        return { verdict: entry === undefined ? "unknown" : "done", evidence };
      }
      const isDone = status === DONE[what] || status === "resolved";
      return { verdict: isDone ? "done" : "not done", evidence: `the incident is ${status}.` };
    },
  });
}

export function createNote(pagers: Pagers): Tool {
  return defineWrite(pagers.service, {
    name: "pagerduty_note",
    summary: "adds a note to an incident of PagerDuty",
    description: "Adds a note to an incident of PagerDuty, with the words that the card shows.",
    shape: { incident: incidentField, note: z.string().regex(/\S/, "is empty").max(4_000) },
    title: ({ incident }) => `Add a note to incident ${incident}`,
    resource: ({ incident }) => `incident ${incident}`,
    find: ({ incident }, _, rest) => incidentIn(rest, incident),
    before: ({ id }) => ({ id: textOf(id) }),
    check: (_, { at }) => mustWrite(pagers, at),
    preview: ({ note }, step) => ({
      lines: [...lines(step), { label: "Note", value: note }, as(pagers, step.at)],
      blastRadius: "Whoever sees the incident can read it; its subscribers are told.",
      undo: "Can't be undone: PagerDuty keeps notes.",
    }),
    async run({ incident, note }, step) {
      const path = `incidents/${incident}/notes`;
      const made = await pagers.change(step, "POST", path, { note: { content: note } });
      return { text: `Noted in ${incidentText(step.item, step.ctx)}, as ${made.as}.` };
    },
    async verify({ incident, note }, { rest, startedAt }) {
      const notes = await rest.list(`incidents/${incident}/notes`, {}, "notes");
      const isThere = notes.some(
        ({ content, created_at: at }) => content === note && time(at) >= startedAt - CLOCK_MS,
      );
      return isThere
        ? { verdict: "done", evidence: "the incident has the note." }
        : { verdict: "unknown", evidence: "the incident has no such note since." };
    },
  });
}

/** The newest of this title that is open there. */
async function openIn(
  { title, service }: { title: string; service: string },
  rest: Rest,
  since: number,
) {
  const { id } = await serviceIn(service, rest);
  const { items } = await listOf(
    rest,
    "incidents",
    {
      "statuses[]": ["triggered", "acknowledged"],
      "service_ids[]": [textOf(id)],
      date_range: "all",
      sort_by: "created_at:desc",
    },
    100,
  );
  return items.find((each) => each["title"] === title && time(each["created_at"]) >= since);
}

const resolving = (incident: string, instance: object) => ({
  tool: "pagerduty_update",
  args: { incident, do: "resolve", before: { status: "triggered" }, ...instance },
});

export function createOpen(pagers: Pagers): Tool {
  return Object.assign(openTool(pagers), { pager: createPager(pagers) });
}

function openTool(pagers: Pagers) {
  return defineWrite(pagers.service, {
    name: "pagerduty_open",
    summary: "opens an incident in PagerDuty, which pages whoever is on call",
    description:
      "Opens an incident on a service of PagerDuty, which pages whoever is on call for it.",
    shape: {
      service: z.string().min(1).max(200).describe("Its name or id"),
      title: z.string().regex(/\S/, "is empty").max(250),
      details: z.string().max(4_000).default(""),
      urgency: z.enum(["high", "low"]).default("high"),
    },
    title: ({ service, title }) => `Page ${service}: ${title}`,
    resource: ({ service, title }) => `service ${service} ${title}`,
    find: ({ service }, _, rest) => serviceIn(service, rest),
    before: ({ id, status }) => ({ id: textOf(id), status: textOf(status) }),
    async check(input, { at, rest, item }) {
      mustWrite(pagers, at);
      if (item["status"] === "disabled")
        throw refused("The service is disabled: nobody would be paged.");
      const same = await openIn(input, rest, 0);
      if (same !== undefined)
        throw refused(`${wordOf(same["id"])} with this title is open already.`);
    },
    async preview({ title, details, urgency }, { at, item, rest, ctx }) {
      const policy = isRecord(item["escalation_policy"]) ? item["escalation_policy"] : {};
      const people = await firstCalled(policy, rest);
      return {
        lines: [
          { label: "Service", value: clip(textOf(item["name"]), 100, ctx.encoder) },
          { label: "Title", value: title },
          { label: "Details", value: details === "" ? "(none)" : details },
          { label: "Urgency", value: urgency },
          as(pagers, at),
        ],
        blastRadius: clip(
          `Pages ${people || "nobody now"} (${summaryOf(policy) || "no policy"}), and then whoever is next.`,
          400,
          ctx.encoder,
        ),
        undo: "Can be undone: the incident is resolved. Who was paged was paged.",
      };
    },
    async run({ title, details, urgency }, step) {
      const { at, item } = step;
      const opened = await pagers.change(step, "POST", "incidents", {
        incident: {
          type: "incident",
          title,
          urgency,
          service: { id: textOf(item["id"]), type: "service_reference" },
          ...(details !== "" && { body: { type: "incident_body", details } }),
        },
      });
      const { body, as: name } = opened;
      const made = isRecord(body) && isRecord(body["incident"]) ? body["incident"] : {};
      const id = wordOf(made["id"]);
      if (id === "")
        throw new BotError("ABORTED", "PagerDuty did not say which incident it opened.");
      return {
        text: `Opened ${id}, as ${name}.`,
        undo: resolving(id, pagers.service.pinned(at).args),
      };
    },
    async verify(input, { at, rest, startedAt }) {
      const made = await openIn(input, rest, startedAt - CLOCK_MS);
      if (made === undefined)
        return { verdict: "unknown", evidence: "no incident with this title is open there since." };
      const id = wordOf(made["id"]);
      return {
        verdict: "done",
        evidence: `${id} is ${wordOf(made["status"])}.`,
        undo: resolving(id, pagers.service.pinned(at).args),
      };
    },
  });
}

/** @throws BotError PRECHECK_FAILED */
function mustWrite({ nameFor }: Pagers, account: string): void {
  if (nameFor(account) === undefined) throw refused(NOBODY);
}
