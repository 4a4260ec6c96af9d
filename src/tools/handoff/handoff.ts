import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { handoffText } from "../../handoff/words.ts";
import { PERIOD_FORMS, readPeriod } from "../../incidents/period.ts";
import type { Handoffs } from "../integration.ts";
import { defineTool } from "../tool.ts";

const input = z.strictObject({
  period: z
    .string()
    .max(60)
    .default("last 12 hours")
    .describe(`In the asker's time zone: ${PERIOD_FORMS}`),
});

/** Says what whoever takes over has to know of a period. Every time and number in it is the journals'. */
export function createHandoffTool(handoffs: () => Handoffs) {
  return defineTool({
    name: "handoff",
    summary: "says what happened in a period and what is still open, for whoever takes over",
    description:
      "What happened in a period, over all threads that everybody here may read: incidents, what waits for approval, alerts, what was changed and whether it was verified, what came back, what could not be seen and what would help, cost. For a shift's hand-off and for questions such as what happened last week. Use its times and numbers as they are.",
    input,
    effect: "read",
    answeredBy: { kind: "text" },
    doing: ({ period }) => `Looking at what happened: ${period}`,
    timeoutMs: 60_000,
    async run({ period: written }, { asker, encoder }) {
      if (asker === undefined)
        throw new BotError("NOT_AVAILABLE", "A hand-off can be made only while the tool is run.");
      const here = { zone: await asker.timezone(), now: asker.startedAt };
      const found = await handoffs().of(await readPeriod(written, here), asker);
      return { text: handoffText(found, encoder.encode) };
    },
  });
}
