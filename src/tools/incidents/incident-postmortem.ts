import * as z from "zod";
import type { Ledger } from "../../incidents/incident.ts";
import { postmortemMarkdown } from "../../incidents/markdown.ts";
import { defineTool } from "../tool.ts";
import { askedIn, idField } from "./asked.ts";

const input = z.strictObject({ id: idField });

/** Drafts a post-mortem from the record alone. */
export function createIncidentPostmortem(ledger: () => Ledger) {
  return defineTool({
    name: "incident_postmortem",
    summary: "drafts a post-mortem from the record alone; what it lacks is an open question",
    description:
      "Drafts a post-mortem of one incident as Markdown, from its record alone: times and how each is known, durations, cause with evidence, timeline, what was done and who approved it, people, follow-ups. What the record lacks stands as an open question. Give it as it is and add nothing; answers to the questions go into the record with incident_update.",
    input,
    effect: "read",
    answeredBy: { kind: "text" },
    open: true,
    timeoutMs: 15_000,
    doing: ({ id }) => `Drafting the post-mortem of ${id}`,
    async run({ id }, ctx) {
      const { saying, here } = await askedIn(ctx);
      return { text: postmortemMarkdown(await ledger().get(id, saying), here.zone) };
    },
  });
}
