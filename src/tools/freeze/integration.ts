import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { createFreeze, createFreezeList, createUnfreeze } from "./tools.ts";

/** Freezes, for which writes wait. */
export const freeze = defineIntegration({
  name: "freeze",
  settings: z.object({}),
  tools: (_, { freezing }) => [
    createFreeze(freezing),
    createUnfreeze(freezing),
    createFreezeList(freezing),
  ],
});
