import * as z from "zod";
import type { Change, Incident, Ledger, Saying } from "../../incidents/incident.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import {
  askedIn,
  changeFields,
  changeOf,
  type Fields,
  idField,
  mitigatedAtField,
  previewOf,
  readBack,
  resolvedAtField,
  titleField,
} from "./asked.ts";
import { pinChange, pinFields, withQuote } from "./pinning.ts";
import { headline, recordText } from "./record-text.ts";

interface RecordTool<I> extends Pick<
  Tool<I>,
  "name" | "summary" | "description" | "ours" | "title" | "pin"
> {
  input: z.ZodType<I>;
  /** Begins the result, before the incident's headline. */
  done: string;
  /** What it did, in a word. */
  did: string;
  say(
    ledger: Ledger,
    saying: Saying,
    input: I,
    change: Change,
    ctx: ToolContext,
  ): Promise<Incident>;
}

/** A tool by which the record of incidents grows; a repeated call says nothing twice. */
function createRecordTool<I extends Fields & { id?: string }>(
  ledger: () => Ledger,
  { done, did, say, ...rest }: RecordTool<I>,
): Tool<I> {
  return defineTool<I>({
    ...rest,
    answeredBy: { kind: "card", did },
    effect: "write",
    own: true,
    timeoutMs: 15_000,
    resource: ({ id }) => (id === undefined ? "a new incident" : `incident ${id}`),
    preview: async (fields) => previewOf(fields),
    verify: ({ id }, ctx, startedAt) => readBack(ledger(), ctx, startedAt, id),
    async run(fields, ctx) {
      const { saying, here } = await askedIn(ctx);
      const change = await changeOf(fields, here);
      const incident = await say(ledger(), saying, fields, change, ctx);
      const isPin = (fields.pin ?? fields.unpin) !== undefined;
      const record = isPin ? "" : `\n${recordText(incident, here.zone)}`;
      return { text: `${done} ${headline(incident)}.${record}` };
    },
  });
}

/** Begins the record of an incident. */
export function createIncidentOpen(ledger: () => Ledger) {
  return createRecordTool(ledger, {
    name: "incident_open",
    summary: "opens an incident record",
    description:
      "Opens the record of an incident, when people say that there is one or ask for its record; search first whether it is recorded already. Gives its id.",
    title: ({ title }) => `Open an incident record: ${title}`,
    input: z.strictObject({
      title: titleField.meta({ examples: ["Checkout fails"] }),
      ...changeFields,
    }),
    ours: true,
    done: "Opened",
    did: "Opened",
    say: (to, saying, { title }, change) => to.open(saying, { ...change, title }),
  });
}

/** Adds to an incident's record, or corrects it. */
export function createIncidentUpdate(ledger: () => Ledger) {
  return createRecordTool(ledger, {
    name: "incident_update",
    summary: "adds to a record or corrects it: note, severity, times, cause, roles, follow-ups",
    description:
      "Adds to the record of an incident or corrects it: a note for the timeline, severity, services, times, cause and how sure it is, people's roles, follow-ups, a false alarm. What was recorded before stays in its history. Its thread's alerts, approved actions and what was seen after them are recorded by the program itself. To end an incident use incident_resolve.",
    title: ({ id }) => `Add to the record of ${id}`,
    pin: withQuote,
    input: z.strictObject({
      id: idField,
      title: titleField.optional(),
      ...changeFields,
      ...pinFields,
      resolvedAt: resolvedAtField.describe(
        "Corrects when a resolved incident was over; forms as of startedAt",
      ),
      mitigatedAt: mitigatedAtField,
      status: z
        .enum(["open", "mitigated", "false_alarm"])
        .optional()
        .describe(
          "open: opens it again; mitigated: it hurts nobody any more; false_alarm: there was none",
        ),
    }),
    done: "Updated",
    did: "Updated",
    async say(to, saying, fields, change, ctx) {
      const { id, pin, unpin } = fields;
      if ((pin ?? unpin) === undefined) return to.update(saying, id, change);
      const incident = await to.get(id, saying);
      const whole = { ...change, ...(await pinChange(incident, fields, ctx)) };
      if (Object.keys(whole).length === 0) return incident;
      const written = await to.update(saying, id, whole);
      // What its author changed while it was being written.
      const now = pin === undefined ? undefined : await ctx.asker?.said?.(pin);
      if (now !== undefined) await to.follow(saying.thread, { ...now, incidents: [id] }, saying);
      return written;
    },
  });
}

/** Ends an incident. */
export function createIncidentResolve(ledger: () => Ledger) {
  return createRecordTool(ledger, {
    name: "incident_resolve",
    summary: "records that an incident is over, and why",
    description:
      "Records that an incident is over, when a person says so or a check shows it: when, the cause if it is known, what is to be done about it.",
    title: ({ id }) => `Record that ${id} is over`,
    input: z.strictObject({
      id: idField,
      resolvedAt: resolvedAtField.describe(
        "When it was over, forms as 14:05, 2026-11-20 14:05 or ISO 8601; left out: now",
      ),
      cause: changeFields.cause,
      certainty: changeFields.certainty,
      evidence: changeFields.evidence,
      actions: changeFields.actions,
      followUp: changeFields.followUp,
      owner: changeFields.owner,
      due: changeFields.due,
      note: changeFields.note,
    }),
    done: "Recorded:",
    did: "Resolved",
    say: (to, saying, { id }, change) => to.resolve(saying, id, change),
  });
}
