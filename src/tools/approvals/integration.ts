import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { createApprovalList } from "./approval-list.ts";

/** What waits for a decision. */
export const approvals = defineIntegration({
  name: "approvals",
  settings: z.object({}),
  tools: (_, parts) => [createApprovalList(parts.approvals)],
});
