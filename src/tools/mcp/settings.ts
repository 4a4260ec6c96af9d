import * as z from "zod";
import { baseUrl } from "../../core/settings.ts";
import { pemFile, variable } from "../instances.ts";

const effect = z.enum(["read", "write", "destructive"]);
const kinds = z.record(z.string(), z.enum(["url", "host"]));

/** What a tool may do: its effect, or that with the kinds of its arguments. */
const grant = z.union([
  effect.transform((given) => ({ effect: given, kinds: undefined })),
  z.strictObject({ effect, kinds: kinds.optional() }),
]);

export const serverSettings = z
  .strictObject({
    command: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("A program and its arguments, spoken with over its standard input and output."),
    url: baseUrl
      .optional()
      .describe("In place of it, the address of a server over streamable HTTP."),
    token: variable.optional().describe("The variable that holds its bearer token."),
    ca: pemFile.optional().describe("A PEM file with the authority that signed its certificate."),
    env: z.array(variable).default([]).describe("Variables with secrets that the program gets."),
    environment: z
      .record(variable, z.string())
      .default({})
      .describe("Other variables of the program, such as `PATH`."),
    tools: z
      .record(z.string().min(1).max(128), grant)
      .default({})
      .describe("The tools that are on, each with its effect: `read`, `write` or `destructive`."),
    check: z
      .strictObject({ tool: z.string(), arguments: z.record(z.string(), z.json()).default({}) })
      .optional()
      .describe("A call that only works with the right credentials, for `doctor`."),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(600)
      .default(60)
      .describe("Seconds that a call may take, 1 to 600."),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: "expected either command or url",
  });

export type ServerSettings = z.infer<typeof serverSettings>;
