import * as z from "zod";
import { count } from "./entry-fields.ts";

/** What work may use more than it may. What is absent stays as it is. */
export const moreBudget = z.strictObject({
  steps: count.optional(),
  tokens: count.optional(),
  minutes: z.number().nonnegative().optional(),
  cents: z.number().nonnegative().optional(),
});
export type MoreBudget = z.infer<typeof moreBudget>;
