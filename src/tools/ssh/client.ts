import type * as z from "zod";
import { BotError } from "../../core/errors.ts";
import type { ExecOptions, ExecResult, ToolContext } from "../tool.ts";

/**
 * The system's own client, so that its configuration, keys and known hosts hold. What may not be asked for in a terminal that
 * nobody sits at, or would reach further than the one command, is off whatever that configuration says.
 */
const OPTIONS = [
  "BatchMode=yes",
  "StrictHostKeyChecking=yes",
  "UpdateHostKeys=no",
  "ConnectTimeout=10",
  "ServerAliveInterval=5",
  "ServerAliveCountMax=3",
  "ClearAllForwardings=yes",
  "ForwardAgent=no",
  "ForwardX11=no",
  "PermitLocalCommand=no",
  "ControlMaster=no",
  "ControlPath=none",
  "RequestTTY=no",
  "LogLevel=ERROR",
].flatMap((option) => ["-o", option]);

/** ssh's own exit code: it is no command's (ssh(1), "EXIT STATUS"). */
const NOT_REACHED = 255;

/** The argument that names the machine. */
export interface Which {
  server: z.ZodType<string, string>;
}

export interface SshClient {
  /**
   * Runs a line of the remote user's shell.
   * @throws BotError CONNECTION_FAILED where it never began; TIMEOUT, ABORTED where it may have
   */
  run(server: string, line: string, ctx: ToolContext, options: ExecOptions): Promise<ExecResult>;
  /** `deploy@10.0.0.5:22`, as the client's configuration has it. Asks no server. */
  addressOf(server: string, ctx: ToolContext): Promise<string>;
}

/** `config`: a file in place of the user's own. */
export function createSshClient({ config }: { config?: string | undefined }): SshClient {
  const base = ["ssh", ...(config === undefined ? [] : ["-F", config]), ...OPTIONS];
  return {
    async run(server, line, ctx, options) {
      const result = await ctx.exec([...base, "-T", "--", server, line], options);
      const failure = result.exitCode === NOT_REACHED ? failureOf(result.stderr) : undefined;
      if (failure === undefined) return result;
      const said = result.stderr.trim().split("\n").at(-1) ?? "";
      throw new BotError("CONNECTION_FAILED", `${server} was not reached: ${said}. ${failure}`);
    },
    async addressOf(server, ctx) {
      const { stdout } = await ctx.exec([...base, "-G", "--", server], { timeoutMs: 5_000 });
      const value = (key: string) => new RegExp(`^${key} (.+)$`, "m").exec(stdout)?.[1] ?? "";
      const proxy = value("proxyjump");
      const address = `${value("user")}@${value("hostname")}:${value("port")}`;
      return proxy === "" || proxy === "none" ? address : `${address} through ${proxy}`;
    },
  };
}

/** What ssh says before a command can have begun, and what to do about it. */
const FAILURES: readonly [said: RegExp, help: string][] = [
  [
    /host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|no matching host key|No \S+ host key is known/i,
    "Its key is not the one in known_hosts. Compare it with the server's own, then add it there; nothing is sent to an unknown key.",
  ],
  [
    /permission denied|too many authentication failures|Load key/i,
    "Give this program's user a key without a passphrase that the server accepts.",
  ],
  [/could not resolve/i, "Check its name in SSH_HOSTS and in the client's configuration."],
  [
    /connection refused|timed out|no route|unreachable|connection (?:reset|closed)|kex_exchange|banner/i,
    "Check that the server is up and its SSH port can be reached from here.",
  ],
  [/bad configuration|bad owner|no such file/i, "Check the client's configuration file."],
];

/** Undefined: the command itself ended like that, or the connection broke while it ran. */
function failureOf(stderr: string): string | undefined {
  return FAILURES.find(([said]) => said.test(stderr))?.[1];
}

/** One word of the remote shell's, whatever is in it. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
