import * as z from "zod";
import { defineIntegration } from "../integration.ts";
import { createMirror, createUnmirror } from "./tools.ts";

/** Threads that are shown on a second platform. There have to be two. */
export const mirror = defineIntegration({
  name: "mirror",
  settings: z.object({}),
  tools: (_, { mirroring, platforms }) =>
    platforms !== undefined && platforms.length < 2
      ? []
      : [createMirror(mirroring), createUnmirror(mirroring)],
});
