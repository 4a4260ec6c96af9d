import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import type { WhoIs } from "../integration.ts";
import { defineTool } from "../tool.ts";

/** Says who the program takes the asker for, and what that lets them do here. */
export function createWhoami(whoIs: () => WhoIs) {
  return defineTool({
    name: "whoami",
    summary: "says who you are taken for here, and what the rules let you do",
    description:
      "Says who the program takes the person who asks for: account, membership, groups that rules name, and what the rules let them ask for and approve here. It tells nothing of others.",
    input: z.strictObject({}),
    effect: "read",
    doing: () => "Looking up who asks",
    open: true,
    answeredBy: { kind: "text" },
    timeoutMs: 20_000,
    async run(_, { asker }) {
      if (asker === undefined)
        throw new BotError("NOT_AVAILABLE", "Who asks is known only while the tool is run.");
      return { text: await whoIs().of(asker) };
    },
  });
}
