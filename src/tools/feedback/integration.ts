import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { createFeedbackList } from "./feedback-list.ts";

/** What people said of answers. */
export const feedback = defineIntegration({
  name: "feedback",
  settings: z.object({}),
  tools: (_, parts) => [createFeedbackList(parts.feedback)],
});
