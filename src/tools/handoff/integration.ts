import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { createHandoffTool } from "./handoff.ts";

/** What happened in a period, for whoever takes over. */
export const handoff = defineIntegration({
  name: "handoff",
  settings: z.object({}),
  tools: (_, parts) => [createHandoffTool(parts.handoffs)],
});
