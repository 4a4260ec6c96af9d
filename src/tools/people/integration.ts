import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { createWhoami } from "./whoami.ts";

/** Who people are to the program. */
export const people = defineIntegration({
  name: "people",
  settings: z.object({}),
  tools: (_, parts) => [createWhoami(parts.whoIs)],
});
