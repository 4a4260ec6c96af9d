import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { APPROVAL_LIST } from "../../core/tool-spec.ts";
import type { Approvals } from "../integration.ts";
import { defineTool } from "../tool.ts";

/** Lists what waits for a decision: the thread's own first, then what everybody who reads the thread may see of others. */
export function createApprovalList(approvals: () => Approvals) {
  return defineTool({
    name: APPROVAL_LIST,
    summary: "lists what waits for a decision in this thread, and in others with links",
    description:
      "Lists what waits for approval: in this thread, and in other threads that everybody here may read, with links. It decides nothing.",
    input: z.strictObject({}),
    effect: "read",
    doing: () => "Looking for what waits for approval",
    open: true,
    answeredBy: { kind: "text" },
    timeoutMs: 20_000,
    async run(_, { asker }) {
      if (asker === undefined)
        throw new BotError("NOT_AVAILABLE", "Approvals can be listed only while the tool is run.");
      return { text: await approvals().list(asker) };
    },
  });
}
