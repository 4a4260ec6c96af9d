import * as z from "zod";
import { FLOOR } from "./policy.ts";
import { fromEnv, fromYaml, secretText } from "../core/settings.ts";

const count = z.int().min(0).max(20);
const share = z.number().min(0).max(1);

/** What is kept and told without being asked for. */
export const memorySettings = z.object({
  recall: fromYaml(
    "memory.recall",
    z
      .strictObject({
        recent: count
          .default(0)
          .meta({ description: "So many of the newest notes are told to each run of a model's." }),
        similar: count.default(3).meta({
          description:
            "So many notes and records that are [alike](memory.md#what-a-run-is-told) are told to it.",
        }),
        threshold: share.default(FLOOR.threshold).meta({
          description: "What has a smaller part of the question's words is left out, from 0 to 1.",
        }),
        nearness: share.default(FLOOR.nearness).meta({
          description:
            "Unless its vector is so near, as a cosine. Models of vectors differ in what is near.",
        }),
        tokens: z.int().min(200).max(20_000).default(1_000).meta({
          description:
            "Tokens (four characters each) that all of it may have together, and never more than a sixteenth of the model's window. The newest notes are left out first, then what is least alike.",
        }),
      })
      .prefault({}),
  ),
  notes: fromYaml(
    "memory.notes",
    z
      .strictObject({
        perPerson: z
          .int()
          .min(1)
          .max(10_000)
          .default(200)
          .meta({ description: "Notes of one person in one place." }),
        perPlace: z.int().min(1).max(10_000).default(1_000).meta({
          description:
            "Notes in one place; all public channels of a workspace or server are one place.",
        }),
      })
      .prefault({}),
  ),
  embeddings: fromYaml(
    "memory.embeddings",
    z
      .string()
      .trim()
      .regex(
        /^(?:openai|openai-compatible)\/[!-~]+$/,
        "expected openai/<name> or openai-compatible/<name>",
      )
      .optional(),
    "The model that makes [vectors](memory.md#vectors) of what is remembered and asked and of sections of skills, such as `openai/text-embedding-3-small`, so that other words for the same are found too.",
    { unset: "words alone are compared" },
  ),
  url: fromEnv(
    "MEMORY_DATABASE_URL",
    secretText(
      /^postgres(?:ql)?:\/\/\S+$/,
      "an address such as postgres://user:password@host/database",
    ).optional(),
    "A PostgreSQL that holds the [index of memory](memory.md#vectors) for all processes, with pgvector where there are embeddings.",
    { secret: true, unset: "each process has its own" },
  ),
  keep: fromYaml(
    "memory.keep",
    share.default(0.6),
    "How useful the [record of a thread](memory.md#records-of-threads) has to be to be kept, from 0 to 1.",
  ),
});
