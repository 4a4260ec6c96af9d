import { hkdfSync, randomBytes } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { codeOf } from "../core/errors.ts";

/** A key that secrets are encrypted with. Its id tells nothing of it. */
export interface SecretKey {
  id: string;
  /** 256 bits, for AES-256-GCM. */
  bytes: Buffer;
}

export interface SecretKeySource {
  /** WATCHKEEPER_SECRET. */
  secret: string | undefined;
  /** WATCHKEEPER_SECRET_OLD: only read with. */
  older: string | undefined;
  /** Where one is kept that nobody set, a line each: the first encrypts, the others are only read with. Undefined: nowhere. */
  file: string | undefined;
}

/** The keys as they are now: another process may change the file. */
export interface SecretKeys {
  /** All that can be read with; the first one encrypts. None was made yet: empty. */
  all(): Promise<readonly SecretKey[]>;
  /** The one that encrypts, which is made where there is none. */
  own(): Promise<SecretKey>;
  /** Makes another one encrypt, where it is kept in the file, and returns it; the others are read with until `forget`. */
  change(): Promise<SecretKey>;
  /** From now on only that one is read with, as far as the file goes, unless another one encrypts by now. */
  forgetAllBut(key: SecretKey): Promise<void>;
}

export function createSecretKeys({ secret, older, file }: SecretKeySource): SecretKeys {
  async function kept(): Promise<string[]> {
    if (file === undefined) return [];
    try {
      const text = await readFile(file, "utf8");
      return text.split("\n").filter((line) => line !== "");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  /** Whole or not at all, for its owner only. `isFirst`: another process's comes before ours. */
  async function keep(lines: readonly string[], isFirst = false): Promise<void> {
    if (file === undefined) return;
    const aside = `${file}.${randomBytes(6).toString("hex")}`;
    await writeFile(aside, lines.map((line) => `${line}\n`).join(""), { mode: 0o600, flush: true });
    try {
      if (isFirst) await link(aside, file);
      else await rename(aside, file);
    } catch (error) {
      if (!isFirst || codeOf(error) !== "EEXIST") throw error;
    } finally {
      await rm(aside, { force: true });
    }
  }

  const all = async () =>
    [secret, ...(await kept()), older].filter((each) => each !== undefined).map(keyOf);

  return {
    all,
    async own() {
      if (secret === undefined && (await kept()).length === 0) await keep([randomSecret()], true);
      const [first] = await all();
      if (first === undefined) throw new TypeError("there is no place for a key");
      return first;
    },
    async change() {
      const next = secret ?? randomSecret();
      if (secret === undefined) await keep([next, ...(await kept())]);
      return keyOf(next);
    },
    async forgetAllBut({ id }) {
      if (file === undefined) return;
      if (secret !== undefined) return rm(file, { force: true });
      const [first] = await kept();
      // Else somebody changes it once more, whose pass needs all of them.
      if (first !== undefined && keyOf(first).id === id) await keep([first]);
    },
  };
}

const randomSecret = () => randomBytes(32).toString("base64url");

function keyOf(secret: string): SecretKey {
  const derive = (what: string, length: number) =>
    Buffer.from(hkdfSync("sha256", secret, "", `watchkeeper team secrets: ${what}`, length));
  return { id: derive("id", 6).toString("base64url"), bytes: derive("key", 32) };
}
