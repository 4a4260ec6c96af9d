import * as z from "zod";
import { count } from "./entry-fields.ts";

/** What entries say of incidents. */

/** One incident's severity, the worst first. */
export const severity = z.enum(["sev1", "sev2", "sev3", "sev4"]);

/** How an incident stands. `mitigated`: it hurts nobody any more, and is not over yet. */
export const incidentStatus = z.enum(["open", "resolved", "mitigated", "false_alarm"]);

/**
 * How something of an incident is known: somebody named its time (`said`), a person did it at that time, an alert told, an approved
 * action shows it, or a look afterwards.
 */
const knownBy = z.enum(["said", "person", "alert", "action", "verify"]);

/** What is said of an incident at once. Times are ms since 1970. */
export const incidentChange = z.strictObject({
  title: z.string().optional(),
  severity: severity.optional(),
  /** All of them: what was there before is replaced. */
  services: z.array(z.string()).optional(),
  startedAt: count.optional(),
  detectedAt: count.optional(),
  resolvedAt: count.optional(),
  cause: z.string().optional(),
  /** Added to those that are there. */
  actions: z.array(z.string()).optional(),
  note: z.string().optional(),
  /** Whom it hurts, and how. */
  impact: z.string().optional(),
  status: incidentStatus.optional(),
  /** A message of that thread, quoted: somebody else's words, which nobody verified. */
  pin: z
    .strictObject({
      /** As a post of it is named. */
      message: z.string(),
      name: z.string(),
      /** The person who wrote it; without it a bot or an app did. */
      account: z.string().optional(),
      /** When it was said. */
      at: count,
      text: z.string(),
      /** Its address for people. */
      link: z.string().optional(),
    })
    .optional(),
  /** The message whose quote goes again. */
  unpin: z.string().optional(),
  /** Somebody took it up. */
  acknowledgedAt: count.optional(),
  /** It hurts nobody any more, and is not over yet. */
  mitigatedAt: count.optional(),
  /** How what this says is known. Left out: from its actor, who named the time or said so at that time. */
  how: knownBy.optional(),
  /** How sure the cause is. */
  certainty: z.enum(["suspected", "likely", "confirmed"]).optional(),
  /** Where the cause is shown: addresses, or calls such as `T3`. What was there before is replaced. */
  evidence: z.array(z.string()).optional(),
  /** Who does what from now on; without a name nobody does. */
  roles: z.array(z.strictObject({ role: z.string(), name: z.string().optional() })).optional(),
  followUps: z
    .array(
      z.strictObject({
        /** `f2`: that one is changed; without it this is another one. */
        name: z.string().optional(),
        text: z.string().optional(),
        owner: z.string().optional(),
        /** A day, such as `2026-12-01`. */
        due: z.string().optional(),
        state: z.enum(["open", "done", "dropped"]).optional(),
      }),
    )
    .optional(),
  /** How a group of alerts of its thread stands. */
  alert: z
    .strictObject({
      /** The journal that knows the group, and its name there. */
      of: z.string(),
      group: z.string(),
      name: z.string(),
      startedAt: count,
      acknowledgedAt: count.optional(),
      overAt: count.optional(),
      /** For people: where its system shows it. */
      link: z.string().optional(),
      /** Which systems told of it, as `alert` names them. */
      sources: z.array(z.string()).optional(),
    })
    .optional(),
  /** An action of its thread, as far as this adds to what is known of it. */
  acted: z
    .strictObject({
      action: z.string(),
      title: z.string(),
      tool: z.string(),
      startedAt: count.optional(),
      endedAt: count.optional(),
      outcome: z.enum(["ok", "error", "unknown"]).optional(),
      votes: z
        .array(z.strictObject({ name: z.string(), at: count, approve: z.boolean() }))
        .optional(),
      undoneAt: count.optional(),
      /** What was seen when it was looked at again. */
      verified: z.enum(["fixed", "not_fixed", "unclear"]).optional(),
      verifiedAt: count.optional(),
    })
    .optional(),
  /** After how many minutes without a word its thread is reminded, whatever is set for its severity; 0: never. */
  updateEvery: count.optional(),
});
