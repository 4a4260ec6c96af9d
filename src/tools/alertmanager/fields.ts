import * as z from "zod";
import type { Endpoint } from "../http.ts";

/** Arguments that several of the tools have. */

export type Instances = Readonly<Record<string, Endpoint>>;

export const matchersField = z
  .array(z.string().min(1).max(500))
  .max(20)
  .describe("Conditions on labels, all of which must hold")
  .meta({ examples: [["alertname=HighLatency", 'instance=~"web-.*"']] });

interface InstanceField {
  instance: z.ZodOptional<z.ZodType<string>>;
}

/** `instance`, where there are several to choose from. */
export function instanceArgument(instances: Instances): InstanceField {
  const names = Object.keys(instances);
  const field = { instance: z.enum(names).optional().describe("Which server") };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- left out, it is as optional as the type says
  return names.length < 2 ? ({} as InstanceField) : field;
}
