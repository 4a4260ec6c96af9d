import * as z from "zod";
import { fileType } from "./block.ts";

/** Parts that posts and appends have in common. */

export const count = z.int().nonnegative();
export const actor = z.strictObject({ account: z.string(), name: z.string() });
/** `handle`: how the platform calls this account and no other, where names are anybody's to choose. */
export const decider = actor.extend({ handle: z.string().optional() });
export const effect = z.enum(["read", "write", "destructive"]);

export const artifact = z.strictObject({ id: z.string(), bytes: count });
/** A file that is kept as an artifact and shown to the model. */
export const file = z.strictObject({ name: z.string(), mediaType: fileType, artifact });

/** An image of a result. `alt`: what it shows, in words. `unseen`: people see it, and the model is told of it by the text alone. */
export const resultImage = file.extend({
  alt: z.string().optional(),
  unseen: z.literal(true).optional(),
});

/** The part of watchkeeper.yaml with the rule that did not allow a call. */
export const deniedBy = z.enum(["approvals.rules", "access.rules"]);
export type DeniedBy = z.infer<typeof deniedBy>;

/** How a call ended. `unknown`: it was dispatched and nobody knows. `blocked`: policy, precheck or schema said no. */
const OUTCOMES = ["ok", "error", "denied", "expired", "cancelled", "unknown", "blocked"] as const;
export const outcome = z.enum(OUTCOMES);
