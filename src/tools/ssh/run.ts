import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { formatElapsed } from "../../core/instant.ts";
import { hostArgument } from "../host/host-argument.ts";
import { onlyReads } from "../host/reading-commands.ts";
import { shownResult, withoutSplit } from "../host/command.ts";
import { commandArguments, commandText } from "../host/run-command.ts";
import { defineTool } from "../tool.ts";
import { type SshClient, shellWord, type Which } from "./client.ts";

/** Runs one program there; what it reads alone runs at once, as on this machine. */
export function createRun(client: SshClient, which: Which) {
  return defineTool({
    name: "ssh_run",
    summary: "runs one program on another machine",
    description:
      "Runs one program with arguments on another machine over SSH, when no other tool does it. Each item of argv is one argument as it is: no pipes, redirections, variables or globs.",
    input: z.strictObject({
      server: which.server,
      ...commandArguments,
      host: hostArgument,
      address: z.string().optional().meta({ internal: true }),
    }),
    effect: "destructive",
    title: ({ argv, server }) => `Run ${commandText(argv)} on ${server}`,
    hostBound: true,
    effectOf: ({ argv }) => (onlyReads(argv) ? "read" : "destructive"),
    resource: ({ server }) => `machine ${server}`,
    timeoutMs: 620_000,
    async pin(input, ctx) {
      return { ...input, address: await client.addressOf(input.server, ctx) };
    },
    async precheck({ server, address }, ctx) {
      const now = await client.addressOf(server, ctx);
      if (address === undefined || address === now) return;
      const text = `${server} was ${address} when it was shown, and is ${now} now.`;
      throw new BotError("PRECHECK_FAILED", text);
    },
    async preview({ server, address = server, argv, timeoutSeconds, host = "this machine" }) {
      return {
        command: `ssh ${server} ${commandText(argv)}`,
        lines: [
          { label: "Machine", value: `${server} (${address}), from ${host}` },
          {
            label: "Command",
            value: argv.map((word) => JSON.stringify(word)).join(" "),
            detail: true,
          },
          { label: "Time limit", value: formatElapsed(timeoutSeconds * 1_000), detail: true },
        ],
        blastRadius: `A command can do anything that this user can do on ${server}, and to other machines from there.`,
        undo: "Can't be undone automatically.",
      };
    },
    async run({ server, argv, timeoutSeconds }, ctx) {
      const limits = { maxBytes: 128 * 1024, timeoutMs: timeoutSeconds * 1_000 };
      const line = argv.map(shellWord).join(" ");
      const result = await client.run(server, line, ctx, limits);
      return shownResult(await withoutSplit(result, ctx.encoder));
    },
  });
}
