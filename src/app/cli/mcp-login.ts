import { createInterface, type Interface } from "node:readline";
import type { Config } from "../../config/config.ts";
import { BotError } from "../../core/errors.ts";
import { formatUtc } from "../../core/instant.ts";
import { settingsOf } from "../../core/settings.ts";
import { noSuch } from "../../core/suggest.ts";
import { untilAborted } from "../../core/time-limit.ts";
import { createNetwork } from "../../net/dial.ts";
import { listenForRedirect } from "../../net/redirect.ts";
import { exactText } from "../../security/sanitize.ts";
import { mcp } from "../../tools/mcp/integration.ts";
import { logIn } from "../../tools/mcp/login.ts";
import { createLogins } from "../../tools/mcp/login-record.ts";
import { httpServer } from "../../tools/mcp/servers.ts";
import { network } from "../../tools/network/integration.ts";
import { withSecrets } from "../secrets.ts";

/** How long somebody may take to sign in. */
const LOGIN_MS = 10 * 60_000;

interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/**
 * Logs in at a server of `integrations.mcp`: shows the address to open, and takes the answer from the browser on this machine or
 * as a pasted address. @throws BotError INPUT_INVALID, NOT_AVAILABLE, ADDRESS_REFUSED, TIMEOUT
 */
export async function logInAt(config: Config, name: string, terminal: Terminal): Promise<void> {
  const { servers } = settingsOf(mcp, config.values);
  const settings = servers[name];
  if (settings === undefined)
    throw new BotError("INPUT_INVALID", noSuch("server", name, Object.keys(servers)));
  const { allow } = settingsOf(network, config.values);
  // Where a server sends us is no place of the person's own, whoever runs this.
  const outgoing = createNetwork({ allow, local: false });
  const variable = (each: string) => config.variables[each] ?? "";
  const signal = AbortSignal.timeout(LOGIN_MS);
  await withSecrets(config, async (secrets) => {
    const parts = { network: () => outgoing, secrets: () => secrets, variable };
    const { login } = httpServer(name, settings, parts);
    if (login === undefined || login.settings.grant !== "authorization_code") {
      const text = `${name} has no login: integrations.mcp.${name}.oauth turns it on.`;
      throw new BotError("INPUT_INVALID", text);
    }
    const say = (text: string) => void terminal.output.write(`${text}\n`);
    const lines = createInterface({ ...terminal, terminal: false });
    const nextLine = lineReader(lines);
    let expected: (redirect: URL) => boolean = () => false;
    const redirect = await listenForRedirect(login.settings.port, (url) => expected(url));
    try {
      const { endsAt, refresh } = await logIn({
        ...login,
        redirectUrl: redirect.url,
        signal,
        async permit(origin) {
          const question = `${name} wants to log in through ${exactText(origin)}. Allow that? [y/N] `;
          terminal.output.write(question);
          const answer = (await untilAborted(nextLine(), signal)) ?? "";
          return /^y(es)?$/i.test(answer.trim());
        },
        async signIn(address, isOurs) {
          expected = isOurs;
          say(`Open this address and sign in:\n\n${address.href}\n`);
          say("Is the browser on another machine? Paste the address it ends on here:");
          return untilAborted(Promise.race([redirect.came, pasted(nextLine, isOurs, say)]), signal);
        },
      });
      const end = endsAt === undefined ? "" : ` The token ends at ${formatUtc(endsAt, "second")}`;
      const renewed =
        refresh === undefined ? " and cannot be renewed." : " and is renewed automatically.";
      say(`Logged in at ${name}.${end === "" ? "" : end + renewed}`);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new BotError("TIMEOUT", "Nobody signed in within 10 minutes.", { cause: error });
    } finally {
      lines.close();
      redirect.close();
    }
  });
}

/** The next line, for all who wait for it together; undefined: there are no more. */
function lineReader(lines: Interface): () => Promise<string | undefined> {
  const all = lines[Symbol.asyncIterator]();
  let next: Promise<string | undefined> | undefined;
  const read = async () => {
    const { value, done } = await all.next();
    next = undefined;
    return done === true ? undefined : value;
  };
  return () => (next ??= read());
}

/** The first pasted line that answers this login. Nobody pastes what the browser brought itself. */
async function pasted(
  nextLine: () => Promise<string | undefined>,
  isOurs: (redirect: URL) => boolean,
  say: (text: string) => void,
): Promise<URL> {
  for (;;) {
    const line = await nextLine();
    if (line === undefined) return new Promise(() => {});
    const url = URL.parse(line.trim());
    if (url !== null && isOurs(url)) return url;
    if (url !== null) say("That address does not belong to this login.");
  }
}

/** Forgets the login; the server is not told. */
export async function logOutAt(config: Config, name: string): Promise<void> {
  await withSecrets(config, async (secrets) =>
    createLogins(() => secrets, name).replace(undefined),
  );
}
