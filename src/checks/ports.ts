/** How people ask for a port, and which. */

const STATE = "(?:open|closed|blocked|listening|reachable|filtered)";

const BEHIND_HOST = new RegExp(
  String.raw`(?<![\w.:/-])((?:[a-z0-9][\w-]*\.)*[a-z0-9][\w-]*):(\d{1,5})(?=\s+(?:still\s+)?${STATE}\b)`,
  "gi",
);
const ALONE = new RegExp(
  String.raw`(?<!\bports?\s)(?<![\w.:/-])(\d{2,5})(?=\s+(?:still\s+)?${STATE}\b)`,
  "gi",
);

/** With "port" before each number that is one: "is 6379 open on cache-1". */
export function withPorts(text: string): string {
  return text.replaceAll(ALONE, (_, port: string) => `port ${port}`);
}

/** The same, and with "port" behind an address of which somebody asks whether it is open: "is 127.0.0.1:18181 open?" */
export function withPortWords(text: string): string {
  return withPorts(text).replaceAll(BEHIND_HOST, (place) => `${place} port`);
}

const HOST = String.raw`((?:[a-z0-9][\w-]*\.)*[a-z0-9][\w-]*)`;

/** `nc -zv db-1 5432` */
const PROBE = new RegExp(
  String.raw`^\W*(?:nc|ncat|netcat|telnet)\s+(?:-\w+\s+){0,4}${HOST}\s+(\d{1,5})\b`,
  "i",
);
/** This machine's own names count where a port is asked for: what else is asked of it names no host. */
const OWN = /\bport\s+(\d{1,5})\b[^?!]{0,60}?\b(?:on|at|of)\s+(localhost|127(?:\.\d{1,3}){3})\b/i;
const OWN_BEFORE =
  /(?<![\w.:/-])(localhost|127(?:\.\d{1,3}){3})\b[^?!:]{0,30}?\bport\s+(\d{1,5})\b/i;
const OWN_PLACE = /(?<![\w.:/-])(localhost):(\d{1,5})(?![\w.])/i;

/** Host and port of a question that asks for a port as shells do, or of this machine; undefined: neither. */
export function probedIn(text: string): { host: string; port: string } | undefined {
  const [, ownPort, own] = OWN.exec(text) ?? [];
  if (own !== undefined && ownPort !== undefined) return { host: own, port: ownPort };
  for (const form of [PROBE, OWN_BEFORE, OWN_PLACE]) {
    const [, host, port] = form.exec(text) ?? [];
    if (host !== undefined && port !== undefined) return { host, port };
  }
  return undefined;
}
