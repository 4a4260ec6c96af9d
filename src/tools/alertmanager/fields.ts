import * as z from "zod";
import type { Endpoint } from "../http.ts";

/** Arguments that several of the tools have. */

export type Instances = Readonly<Record<string, Endpoint>>;

export const MAX_MATCHERS = 20;
export const MAX_COMMENT = 500;

export const matchersField = z
  .array(z.string().min(1).max(500))
  .max(MAX_MATCHERS)
  .describe("Conditions on labels, all of which must hold")
  .meta({ examples: [["alertname=HighLatency", 'instance=~"web-.*"']] });
