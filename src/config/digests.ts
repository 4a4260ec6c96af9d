import * as z from "zod";
import { defineSettings, fromYaml } from "../core/settings.ts";
import { isPeriod, PERIOD_FORMS } from "../incidents/period.ts";
import { channel } from "./policy.ts";
import { scheduleFields } from "./schedule.ts";

const digest = z.strictObject({
  ...scheduleFields('"0 8 * * 1-5" for 8:00 on weekdays'),
  channel: channel.describe(
    "Where it is said, such as `slack:T1:C1` or `discord:1122:3344`. The bot has to be in it.",
  ),
  period: z
    .string()
    .refine(isPeriod, `expected ${PERIOD_FORMS}`)
    .default("last 12 hours")
    .describe("What it is about, as of `handoff`. It ends when the digest is due."),
});

export type DigestSettings = z.infer<typeof digest>;

/** Hand-offs that are made by themselves. */
export const digestsPart = defineSettings({
  name: "digests",
  settings: z.object({
    digests: fromYaml(
      "digests",
      z.array(digest).max(50).default([]),
      "[Digests](handoff.md#digests): hand-offs that are said in a channel at set times.",
    ),
  }),
});
