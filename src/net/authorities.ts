import { BotError, messageOf } from "../core/errors.ts";
import { readSmallFile } from "../core/small-file.ts";

const CERTIFICATE =
  /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^]*?-----END (?:TRUSTED )?CERTIFICATE-----/g;

/**
 * The certificates in the file that NODE_EXTRA_CA_CERTS names, PEM. Node itself only warns of one that it cannot read, and goes on without.
 * @throws BotError CONFIG_INVALID
 */
export function readAuthorities(path: string): string[] {
  try {
    const found = readSmallFile(path).match(CERTIFICATE);
    if (found === null) throw new Error("there is no certificate in it");
    return found;
  } catch (error) {
    throw unusable(error);
  }
}

/**
 * Trusts these authorities besides those that are trusted already, from now on. Node does it by itself for what is in the environment when
 * it starts, and not for what is set later, as by `.env`.
 * @throws BotError CONFIG_INVALID
 */
export async function trustAuthorities(certificates: readonly string[]): Promise<void> {
  const tls = await import("node:tls");
  try {
    tls.setDefaultCACertificates([...tls.getCACertificates("default"), ...certificates]);
  } catch (error) {
    throw unusable(error);
  }
}

/** All that are trusted then, as one file has them, for programs that we start: one of their own takes the place of the system's. */
export async function allAuthorities(certificates: readonly string[]): Promise<string> {
  const tls = await import("node:tls");
  const all = [...tls.getCACertificates("bundled"), ...tls.getCACertificates("system")];
  return [...new Set([...all, ...certificates].map((each) => each.trim()))].join("\n");
}

function unusable(cause: unknown): BotError {
  const text = `NODE_EXTRA_CA_CERTS: expected the path of a file with certificates in PEM (${messageOf(cause)}).`;
  return new BotError("CONFIG_INVALID", text, { cause });
}
