import * as z from "zod";
import type { Ledger } from "../../incidents/incident.ts";
import { defineTool, type Tool } from "../tool.ts";
import {
  askedIn,
  changeFields,
  changeOf,
  idField,
  previewOf,
  readBack,
  resolvedAtField,
} from "./asked.ts";
import { headline, recordText } from "./record-text.ts";

const { cause, actions, note } = changeFields;
const input = z.strictObject({
  id: idField,
  resolvedAt: resolvedAtField.describe(
    "When it was over, forms as 14:05, 2026-11-20 14:05 or ISO 8601; left out: now",
  ),
  cause,
  actions,
  note,
});
type Input = z.infer<typeof input>;

/** Ends an incident. */
export function createIncidentResolve(ledger: () => Ledger): Tool<Input> {
  return defineTool<Input>({
    name: "incident_resolve",
    description:
      "Records that an incident is over, when a person says so or a check shows it: when, the cause if it is known, what is to be done about it.",
    input,
    effect: "write",
    own: true,
    timeoutMs: 15_000,
    resource: ({ id }) => `incident ${id}`,
    preview: async (fields) => previewOf(fields),
    verify: ({ id }, ctx, startedAt) => readBack(ledger(), ctx, startedAt, id),
    async run({ id, ...fields }, ctx) {
      const { saying, here } = await askedIn(ctx);
      const incident = await ledger().resolve(saying, id, await changeOf(fields, here));
      return { text: `Recorded: ${headline(incident)}.\n${recordText(incident, here.zone)}` };
    },
  });
}
