import { memorySettings } from "../../memory/settings.ts";
import { defineIntegration } from "../integration.ts";
import { createForget, createNotes, createRemember } from "./notes.ts";
import { createRecall } from "./recall.ts";

/** What is remembered from thread to thread. */
export const memory = defineIntegration({
  name: "memory",
  settings: memorySettings,
  check(isSet, { embeddings = "" }): Record<string, string> {
    const needed = embeddings.startsWith("openai/") ? "OPENAI_API_KEY" : "OPENAI_BASE_URL";
    const isMissing = embeddings !== "" && !isSet(needed);
    return isMissing ? { "memory.embeddings": `needs ${needed}, which isn't set` } : {};
  },
  tools: ({ recall }, { memory: lent, skills }) => [
    createRemember(lent),
    createForget(lent),
    createNotes(lent),
    createRecall(lent, skills, recall),
  ],
});
