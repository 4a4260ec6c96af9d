import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { askUser } from "./ask-user.ts";
import { readArtifact } from "./read-artifact.ts";
import { createThreadSearch } from "./thread-search.ts";

/** The thread itself, its people and its files; and those of the past. */
export const thread = defineIntegration({
  name: "thread",
  settings: z.object({}),
  tools: (_, { pastThreads }) => [readArtifact, askUser, createThreadSearch(pastThreads)],
});
