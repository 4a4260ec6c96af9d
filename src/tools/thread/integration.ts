import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { askUser } from "./ask-user.ts";
import { readArtifact } from "./read-artifact.ts";

/** The thread itself: its people and its files. */
export const thread = defineIntegration({
  name: "thread",
  settings: z.object({}),
  tools: () => [readArtifact, askUser],
});
