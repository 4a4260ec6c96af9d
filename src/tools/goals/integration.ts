import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import { createAppendToReport } from "./append-to-report.ts";
import { createListCompleted } from "./list-completed.ts";
import { createSummarize } from "./summarize.ts";
import { createWriteNote } from "./write-note.ts";

/** Declared once: the tools are there where goals are. */
export const goalsEnabled = fromYaml(
  "goals.enabled",
  z.boolean().default(false),
  "Whether people may give it [goals](goals.md): long work that goes on without them. They need a model.",
);

/** What only the runs of goals can do. */
export const goals = defineIntegration({
  name: "goals",
  settings: z.object({ enabled: goalsEnabled }),
  unavailable: ({ enabled }) =>
    enabled ? undefined : "goals.enabled is off: nobody can give it goals.",
  tools: (_settings, { goals: work }) => [
    createWriteNote(work),
    createListCompleted(work),
    createSummarize(work),
    createAppendToReport(work),
  ],
});
