import * as z from "zod";
import { defineSettings, fromYaml } from "../core/settings.ts";

/** What waits longer is better started, and looked at later. */
const MAX_SECONDS = 1_800;

/** What holds for tools of every system. */
export const toolsPart = defineSettings({
  name: "tools",
  settings: z.object({
    timeouts: fromYaml(
      "tools.timeouts",
      z
        .record(
          z.string().max(100),
          z.number().int().min(1).max(MAX_SECONDS, `expected at most ${MAX_SECONDS} seconds`),
        )
        .default({}),
      `Seconds, 1 to ${MAX_SECONDS}, that a whole call of a tool may take, by its name, in which \`*\` stands for anything: \`{ run_command: 900, "*": 60 }\`. A name comes before patterns, and an earlier pattern before a later one. See [how long calls may take](operate.md#how-long-calls-may-take).`,
      { unset: "each tool's own" },
    ),
  }),
});
