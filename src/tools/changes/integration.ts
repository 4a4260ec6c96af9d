import * as z from "zod";
import { defineIntegration } from "../integration.ts";

/** One answer out of what all other integrations know of changes. */
export const changes = defineIntegration({
  name: "changes",
  settings: z.object({}),
  async tools(_, { changeSources }) {
    const { createWhatChanged } = await import("./what-changed.ts");
    return [createWhatChanged((await changeSources?.()) ?? [])];
  },
});
