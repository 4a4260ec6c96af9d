import * as z from "zod";
import { SURVEY_LIMITS } from "../host/survey/script.ts";
import { createSurveyTools } from "../host/survey/survey-tools.ts";
import type { Tool } from "../tool.ts";
import { createSshClient } from "./client.ts";
import { createLogs } from "./logs.ts";
import { createRun } from "./run.ts";

/** @param servers at least one */
export function createSshTools(
  servers: readonly string[],
  options: { config?: string | undefined } = {},
): readonly Tool[] {
  const client = createSshClient(options);
  const server = z
    .enum(servers)
    .describe("The machine")
    .meta({ examples: [servers[0] ?? ""] });
  const which = { server };
  const survey = createSurveyTools({
    prefix: "ssh",
    title: "another machine",
    which,
    run: async (input, script, ctx) => {
      const given = z.object(which).parse(input);
      return client.run(given.server, script, ctx, SURVEY_LIMITS);
    },
  });
  return [...survey, createLogs(client, which), createRun(client, which)];
}
