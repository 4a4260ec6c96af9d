import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { createCostPerDay } from "./cost-per-day.ts";

/** What models used. */
export const costs = defineIntegration({
  name: "costs",
  settings: z.object({}),
  tools: (_, parts) => [createCostPerDay(parts.tokens)],
});
