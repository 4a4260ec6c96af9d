import * as z from "zod";

/** The machine of ours that a call is for. The dispatcher fills it in and sees to it that no other one takes it up. */
export const hostArgument = z
  .string()
  .regex(/^\w[\w.-]{0,62}$/, "must be a machine's name as results and cards say it")
  .optional()
  .describe("The machine, as results name it; left out: that of the thread's last call");
