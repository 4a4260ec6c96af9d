import { memorySettings } from "../../memory/settings.ts";
import { defineIntegration } from "../integration.ts";
import { createForget, createNotes, createRemember } from "./notes.ts";
import { createRecall } from "./recall.ts";

/** What is remembered from thread to thread. */
export const memory = defineIntegration({
  name: "memory",
  settings: memorySettings,
  tools: (_, { memory: lent, skills }) => [
    createRemember(lent),
    createForget(lent),
    createNotes(lent),
    createRecall(lent, skills),
  ],
});
