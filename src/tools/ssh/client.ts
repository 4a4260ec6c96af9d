import { randomUUID } from "node:crypto";
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
   * @throws BotError CONNECTION_FAILED where it surely never began; TIMEOUT, ABORTED where it may have
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
      const mark = randomUUID();
      const asked = [...base, "-T", "--", server, markedLine(line, mark)];
      const result = await ctx.exec(asked, options);
      const [before = "", ...marked] = result.stderr.split(`${mark}\n`);
      const stderr = before + marked.join("");
      // The second mark: it ended by itself, with this code.
      if (result.exitCode !== NOT_REACHED || marked.length > 1) return { ...result, stderr };
      const said = stderr.trim().split("\n").at(-1) ?? "";
      const failure = marked.length === 0 ? failureOf(stderr) : undefined;
      if (failure !== undefined)
        throw new BotError("CONNECTION_FAILED", `${server} was not reached: ${said}. ${failure}`);
      const text = `The connection to ${server} ended before the command did, or a signal ended both: ${said}`;
      throw new BotError("ABORTED", text);
    },
    async addressOf(server, ctx) {
      const { stdout } = await ctx.exec([...base, "-G", "--", server], { timeoutMs: 5_000 });
      const value = (key: string) => new RegExp(`^${key} (.+)$`, "m").exec(stdout)?.[1] ?? "";
      const through = ["proxyjump", "proxycommand"]
        .map(value)
        .find((each) => !["", "none"].includes(each));
      const address = `${value("user")}@${value("hostname")}:${value("port")}`;
      return through === undefined ? address : `${address} through ${through}`;
    },
  };
}

/** Says on stderr that it begins and that it has ended: only words of the command's own may look like those of the client. */
function markedLine(line: string, mark: string): string {
  const script = `echo ${mark} >&2\n(\n${line}\n)\ncode=$?\necho ${mark} >&2\nexit $code`;
  return `exec sh -c ${shellWord(script)}`;
}

/** What ssh says only before a command can have begun, and what to do about it. */
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
    /connect to host|kex_exchange|banner exchange/i,
    "Check that the server is up and its SSH port can be reached from here.",
  ],
  [/bad configuration|bad owner|no such file/i, "Check the client's configuration file."],
];

/** Undefined: it may have begun, though nothing came back of it. */
function failureOf(stderr: string): string | undefined {
  return FAILURES.find(([said]) => said.test(stderr))?.[1];
}

/** One word of the remote shell's, whatever is in it. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
