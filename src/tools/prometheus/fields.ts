import * as z from "zod";
import type { Endpoint } from "../http.ts";

/** Arguments that several of the tools have. */

export type Instances = Readonly<Record<string, Endpoint>>;

export const timeField = z
  .string()
  .min(1)
  .max(60)
  .describe(
    "How long ago (1h, 30m), 14:05, 2026-11-20 14:05 in the asker's time zone, or ISO 8601",
  );

export const lengthField = z
  .string()
  .min(1)
  .max(20)
  .describe("A length of time such as 10m, 2h or 1d");

/** Where metrics are looked for: a selector, or words of their names. */
export const selectorField = z.string().min(1).max(1_000);
