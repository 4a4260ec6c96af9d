import * as z from "zod";

/** What a card says of an action, and who may approve it. */

/** `detail`: the card leaves it to its details, since another line or the command says as much. */
const previewLine = z.strictObject({
  label: z.string(),
  value: z.string(),
  detail: z.literal(true).optional(),
});
export const preview = z.strictObject({
  /** What would be done, as people say it: `Scale deployment/api in shop from 2 to 4`. */
  title: z.string().optional(),
  /** The same as a person would type it: `service nginx restart`. */
  command: z.string().optional(),
  /** Names of the arguments that the program filled in itself. */
  filled: z.array(z.string()).optional(),
  lines: z.array(previewLine),
  /** What else would be touched, in one sentence. */
  blastRadius: z.string(),
  /** How to take it back, in one sentence. */
  undo: z.string(),
});

/**
 * Who may approve, as fixed when asked. `anyone`: every full member of the thread. `listed`: those accounts; one that was
 * listed through groups must still be in one of them.
 */
export const approvers = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("anyone") }),
  z.strictObject({
    kind: z.literal("listed"),
    accounts: z.array(
      z.strictObject({ account: z.string(), groups: z.array(z.string()).optional() }),
    ),
  }),
]);
