import { cut } from "./found.ts";

/** What a line of a container's log says about why it fails. */
export interface LogReason {
  kind: LogKind;
  /** The line without its clutter. */
  line: string;
  /** How many of the last lines say so. */
  count: number;
}

export type LogKind =
  | "port"
  | "credentials"
  | "rights"
  | "resolve"
  | "setting"
  | "permission"
  | "file"
  | "disk"
  | "memory"
  | "connection"
  | "tls"
  | "other";

/** The more telling first: a program that cannot resolve a name also says that it cannot connect. */
const PATTERNS: readonly [LogKind, RegExp][] = [
  [
    "port",
    /address already in use|EADDRINUSE|port \d+ (?:is|was) already in use|only one usage of each socket/i,
  ],
  [
    "credentials",
    /password authentication failed|authentication failed|access denied for user|invalid (?:username|user name|login|password|credentials)|WRONGPASS|NOAUTH|ACCESS_REFUSED|login failed|bad auth|SASL authentication|(?:no|missing) pg_hba|role "[^"]+" does not exist|invalid api key|\b401 unauthorized/i,
  ],
  [
    "rights",
    /is forbidden: User "[^"]+"|not authorized|permission denied for (?:table|relation|schema|database|sequence)|command denied to user|READONLY You can't write|read-only (?:transaction|mode|replica)|--read-only option|NOPERM|\b403 forbidden|too many (?:clients|connections)|remaining connection slots|unknown database|database "[^"]+" does not exist/i,
  ],
  [
    "resolve",
    /no such host|could not resolve|couldn't resolve|can't resolve|cannot resolve|name or service not known|temporary failure in name resolution|ENOTFOUND|EAI_AGAIN|UnknownHostException|NXDOMAIN|name resolution|server misbehaving|nodename nor servname|could not translate host name|host not found in upstream|failed to lookup address|getaddrinfo failed/i,
  ],
  [
    "setting",
    /environment variable\S*\s.{0,60}(?:not set|missing|required|undefined|is empty)|missing (?:required )?(?:env|environment|config)|(?:required|mandatory) (?:env|environment|config|setting|variable|property)|(?:must|should) be set|is not set\b|KeyError: '[A-Z_0-9]+'|unknown (?:flag|option|argument)|unrecognized (?:option|argument)|flag provided but not defined|invalid (?:config|configuration|value|argument|option)|(?:parse|parsing|syntax|yaml|json)[^.]{0,30} error|error (?:parsing|loading|reading) (?:the )?config|failed to (?:parse|load|read) (?:the )?config|unknown directive|Could not resolve placeholder/i,
  ],
  [
    "permission",
    /permission denied|EACCES|read-only file system|EROFS|operation not permitted|EPERM/i,
  ],
  ["disk", /no space left on device|ENOSPC|disk (?:is )?full|disk quota exceeded/i],
  [
    "file",
    /no such file or directory|ENOENT|FileNotFoundException|cannot find module|ModuleNotFoundError|No module named|command not found|executable file not found|ClassNotFoundException|cannot open shared object|exec format error|could not find or load main class|unable to access jarfile/i,
  ],
  [
    "memory",
    /out of memory|OutOfMemoryError|cannot allocate memory|heap out of memory|OOM command not allowed/i,
  ],
  [
    "tls",
    /x509:|certificate (?:has expired|verify failed|signed by unknown)|CERT_HAS_EXPIRED|handshake failure|unknown authority/i,
  ],
  [
    "connection",
    /connection refused|ECONNREFUSED|connection timed out|ETIMEDOUT|i\/o timeout|no route to host|EHOSTUNREACH|network is unreachable|connection reset|ECONNRESET|context deadline exceeded|could not connect|can't connect|cannot connect|failed to connect|unable to connect|no reachable servers|server selection (?:timeout|error)|ServerSelectionTimeoutError|connection error|communications link failure|Connection to \S+ failed|code = Unavailable|no brokers available/i,
  ],
];

const FATAL =
  /panic:|fatal|\bcritical\b|traceback|uncaught|unhandled|exception|error\b|\bfailed\b|segmentation fault|core dumped|\babort/i;
const FRAME =
  /^\s*(?:at |File "|\.\.\. \d+ more|goroutine \d+|\S+\.go:\d+|\S+\(0x[0-9a-f]+)|^\s*\^|^[\w./*()]+\(.*\)$|^Traceback|^node:internal|^\s*(?:throw|raise) /;

/** The line that says best why a container fails; undefined: no line says anything of the kind. */
export function logReason(lines: readonly string[]): LogReason | undefined {
  const own = lines.filter((line) => !/^npm (?:ERR!|error|info|warn)/i.test(line));
  // What the package manager says about itself matters only where the program said nothing.
  const last = (own.some((line) => FATAL.test(line)) ? own : lines)
    .slice(-MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE));
  for (const [kind, pattern] of PATTERNS) {
    const told = last.filter((line) => pattern.test(line));
    const line = told.at(-1);
    if (line !== undefined) return { kind, line: plain(line), count: told.length };
  }
  const told = last.filter((line) => FATAL.test(line) && !FRAME.test(line));
  // What a program says first as it goes down is the reason; later lines are its consequences.
  const line = told.find((one) => /panic:|fatal|uncaught|exception/i.test(one)) ?? told.at(-1);
  return line === undefined ? undefined : { kind: "other", line: plain(line), count: told.length };
}

const MAX_LINES = 60;
const MAX_LINE = 2_000;

/** Without time stamps, and only the message of a line that is JSON. */
function plain(line: string): string {
  const text = line.trim();
  const message = text.startsWith("{") ? messageOf(text) : undefined;
  return cut(
    (message ?? text)
      .replace(/^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\]?\s*/, "")
      .replace(/^(?:ts|time)=\S+\s+/, "")
      .replace(/^[A-Z]+ +\d+ --- \[[^\]]*\] \S+ *: /, ""),
    200,
  );
}

function messageOf(text: string): string | undefined {
  try {
    const fields: Record<string, unknown> = JSON.parse(text);
    const parts = ["message", "msg", "error", "err", "exception"].flatMap((name) => {
      const value = fields[name];
      return typeof value === "string" ? [value] : [];
    });
    return parts.length > 0 ? parts.join(": ") : undefined;
  } catch {
    return undefined;
  }
}

/** What to look at first. */
export const LOG_FIXES: Readonly<Record<LogKind, string | undefined>> = {
  port: "Give each container of the pod, and each program in it, a port of its own.",
  credentials: "Correct the credentials in the Secret or variable, or reset them at the server.",
  rights: undefined,
  resolve: "Correct the host name in the settings, or create the Service; check DNS.",
  setting: "Correct the setting that the line names.",
  permission: "Set runAsUser, fsGroup or the mount so that the program may use the path.",
  file: "Correct the command, the image or the mount: the path is not in the container.",
  disk: "Free or enlarge the volume.",
  memory: "Raise the memory limit, or lower what the program needs.",
  connection: undefined,
  tls: "Renew the certificate, or let the program trust its issuer.",
  other: undefined,
};
