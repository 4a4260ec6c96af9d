import { isAbsolute, normalize } from "node:path";
import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import { createSaveEval } from "./save-eval.ts";

/** Keeps threads as cases of an evaluation. */
export const evals = defineIntegration({
  name: "evals",
  settings: z.object({
    folder: fromYaml(
      "evals.folder",
      z
        .string()
        .refine(isAbsolute, "expected an absolute path such as /srv/evals")
        .transform((path) => normalize(path))
        .optional(),
      "An absolute folder in which `run save_eval` keeps threads as [cases of an evaluation](evals.md). What was said and found in them stands there, without secrets.",
      { unset: "threads are not kept" },
    ),
  }),
  unavailable: ({ folder }) => (folder === undefined ? "evals.folder isn't set." : undefined),
  tools: ({ folder = "" }, { saveEval }) => [
    createSaveEval(async (key, run) => saveEval(key, folder, run)),
  ],
});
