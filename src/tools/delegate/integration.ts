import * as z from "zod";
import { fromYaml } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import { delegate } from "./delegate.ts";

/** Helpers: runs that a model asks for, with a part of its work. */
export const helpers = defineIntegration({
  name: "delegate",
  settings: z.object({
    helpers: fromYaml(
      "agent.helpers",
      z.boolean().default(false),
      "Whether the model may have [helpers](agent.md#helpers) do parts of its work, within the same run's budget. It costs about 400 tokens in each request.",
    ),
    depth: fromYaml(
      "agent.helperDepth",
      z.int().min(1).max(3).default(2),
      "How deep helpers may have helpers of their own, 1 to 3; 1: they have none.",
    ),
    perRun: fromYaml(
      "agent.helpersPerRun",
      z.int().min(1).max(50).default(8),
      "How many helpers may work for one run in all, theirs included, 1 to 50; four of one run at the same time.",
    ),
  }),
  unavailable: ({ helpers: isOn }) =>
    isOn ? undefined : "agent.helpers is off: the model does its work by itself.",
  tools: () => [delegate],
});
