import * as z from "zod";
import { isCron } from "../handoff/schedule.ts";
import { isTimezone } from "./program.ts";

/** When something begins by itself, as the yaml says it. `example`: a cron expression and what it means. */
export function scheduleFields(example: string) {
  return {
    cron: z
      .string()
      .refine(isCron, `expected five fields, such as ${example}`)
      .describe(
        "When: minute, hour, day of the month, month, weekday, as the clocks of `zone` show them.",
      ),
    zone: z
      .string()
      .refine(isTimezone, "expected a zone's IANA name such as Europe/Madrid or UTC")
      .optional()
      .meta({ description: "The zone of its times and days.", unset: "`timezone`, else UTC" }),
  };
}
