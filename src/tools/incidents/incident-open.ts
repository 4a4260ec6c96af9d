import * as z from "zod";
import type { Ledger } from "../../incidents/incident.ts";
import { defineTool, type Tool } from "../tool.ts";
import { askedIn, changeFields, changeOf, previewOf, readBack, titleField } from "./asked.ts";
import { headline, recordText } from "./record-text.ts";

const input = z.strictObject({
  title: titleField.meta({ examples: ["Checkout fails"] }),
  ...changeFields,
});
type Input = z.infer<typeof input>;

/** Begins the record of an incident. */
export function createIncidentOpen(ledger: () => Ledger): Tool<Input> {
  return defineTool<Input>({
    name: "incident_open",
    summary: "opens an incident record",
    description:
      "Opens the record of an incident, when people say that there is one or ask for its record; search first whether it is recorded already. Gives its id.",
    input,
    effect: "write",
    ours: true,
    own: true,
    timeoutMs: 15_000,
    resource: () => "a new incident",
    preview: async (fields) => previewOf(fields),
    verify: (_, ctx, startedAt) => readBack(ledger(), ctx, startedAt),
    async run(fields, ctx) {
      const { saying, here } = await askedIn(ctx);
      const { title } = fields;
      const incident = await ledger().open(saying, { ...(await changeOf(fields, here)), title });
      return { text: `Opened ${headline(incident)}.\n${recordText(incident, here.zone)}` };
    },
  });
}
