import * as z from "zod";
import type { Ledger } from "../../incidents/incident.ts";
import type { Tool } from "../tool.ts";
import { changeFields, idField, resolvedAtField } from "./asked.ts";
import { createSayingTool } from "./saying-tool.ts";

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
  return createSayingTool<Input>(ledger, {
    name: "incident_resolve",
    summary: "records that an incident is over, and why",
    description:
      "Records that an incident is over, when a person says so or a check shows it: when, the cause if it is known, what is to be done about it.",
    input,
    done: "Recorded:",
    say: (...words) => ledger().resolve(...words),
  });
}
