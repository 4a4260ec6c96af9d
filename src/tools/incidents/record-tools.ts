import * as z from "zod";
import type { Change, Incident, Ledger, Saying } from "../../incidents/incident.ts";
import { defineTool, type Tool } from "../tool.ts";
import {
  askedIn,
  changeFields,
  changeOf,
  type Fields,
  idField,
  previewOf,
  readBack,
  resolvedAtField,
  titleField,
} from "./asked.ts";
import { headline, recordText } from "./record-text.ts";

interface RecordTool<I> extends Pick<
  Tool<I>,
  "name" | "summary" | "description" | "ours" | "title"
> {
  input: z.ZodType<I>;
  /** Begins the result, before the incident's headline. */
  done: string;
  say(ledger: Ledger, saying: Saying, input: I, change: Change): Promise<Incident>;
}

/** A tool by which the record of incidents grows; a repeated call says nothing twice. */
function createRecordTool<I extends Fields & { id?: string }>(
  ledger: () => Ledger,
  { done, say, ...rest }: RecordTool<I>,
): Tool<I> {
  return defineTool<I>({
    ...rest,
    effect: "write",
    own: true,
    timeoutMs: 15_000,
    resource: ({ id }) => (id === undefined ? "a new incident" : `incident ${id}`),
    preview: async (fields) => previewOf(fields),
    verify: ({ id }, ctx, startedAt) => readBack(ledger(), ctx, startedAt, id),
    async run(fields, ctx) {
      const { saying, here } = await askedIn(ctx);
      const incident = await say(ledger(), saying, fields, await changeOf(fields, here));
      return { text: `${done} ${headline(incident)}.\n${recordText(incident, here.zone)}` };
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
    say: (to, saying, { title }, change) => to.open(saying, { ...change, title }),
  });
}

/** Adds to an incident's record, or corrects it. */
export function createIncidentUpdate(ledger: () => Ledger) {
  return createRecordTool(ledger, {
    name: "incident_update",
    summary: "adds to a record or corrects it: note, severity, services, times, cause, actions",
    description:
      "Adds to the record of an incident or corrects it: a note for the timeline, severity, services, times, cause, actions. What was recorded before stays in its history. To end an incident use incident_resolve.",
    title: ({ id }) => `Add to the record of ${id}`,
    input: z.strictObject({
      id: idField,
      title: titleField.optional(),
      ...changeFields,
      resolvedAt: resolvedAtField.describe(
        "Corrects when a resolved incident was over; forms as of startedAt",
      ),
      status: z.enum(["open"]).optional().describe("Opens a resolved incident again"),
    }),
    done: "Updated",
    say: (to, saying, { id }, change) => to.update(saying, id, change),
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
      actions: changeFields.actions,
      note: changeFields.note,
    }),
    done: "Recorded:",
    say: (to, saying, { id }, change) => to.resolve(saying, id, change),
  });
}
