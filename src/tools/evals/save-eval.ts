import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { SAVE_EVAL } from "../../core/tool-spec.ts";
import { defineTool } from "../tool.ts";

/** Keeps the thread that it is called in; `save` gives the folder that it is in then. */
export function createSaveEval(save: (key: JournalKey, run?: string) => Promise<string>) {
  return defineTool({
    name: SAVE_EVAL,
    summary: "keeps this thread as a case of an evaluation, without secrets",
    description:
      "Keeps this thread's last question, what the tools said and the answer as a case of an evaluation, for people who ask for it.",
    input: z.strictObject({
      run: z
        .string()
        .regex(/^r\d{1,9}$/, "expected a run such as r2")
        .optional()
        .describe("The run whose answer is kept, such as r2; the last one without it"),
    }),
    effect: "write",
    own: true,
    say: ["save eval", "save as eval", "save this thread as an eval"],
    answeredBy: { kind: "text" },
    title: () => "Keep this thread as a case of an evaluation",
    timeoutMs: 15_000,
    resource: () => "evals",
    preview: async () => ({
      lines: [{ label: "Keeps", value: "what was asked and found here, without secrets" }],
      blastRadius: "Writes a folder where evals.folder says. The thread stays as it is.",
      undo: "Delete that folder.",
    }),
    async run({ run }, { asker }) {
      if (asker === undefined)
        throw new BotError("NOT_AVAILABLE", "A thread is kept only while the tool is run.");
      const folder = await save(asker.key, run);
      return {
        text: `Kept in ${folder}. Read case.yaml there and say what a good answer finds; \`npm run eval -- ${folder}\` runs it.`,
      };
    },
  });
}
