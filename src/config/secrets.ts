const SECRET_NAME =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|WEBHOOK|DSN|_(?:KEY|PASS|PWD|PAT)$/i;
/** Says where a secret is, not what it is. */
const PLACE_NAME = /_(?:FILE|PATH|DIR)$/i;
/** Shorter ones are words that occur everywhere: taking them out would garble every output. */
const MIN_SECRET_LENGTH = 8;

/**
 * What must never be shown: values of variables that are declared secret or have a telling name (whole, each line of those
 * with several, and each value of a list of `name=value`), and passwords within addresses. Secrets shorter than 8 characters are not told apart from ordinary words.
 */
export function secretsIn(
  env: Readonly<Record<string, string | undefined>>,
  declared: ReadonlySet<string>,
): { name: string; value: string }[] {
  const found = new Map<string, string>();
  for (const [name, value = ""] of Object.entries(env)) {
    const parts: string[] = [];
    if (declared.has(name) || (SECRET_NAME.test(name) && !PLACE_NAME.test(name))) {
      const lines = value.split(/\r?\n/).filter((line) => !line.startsWith("-----"));
      parts.push(value, ...lines);
      // Headers, such as `x-api-key=…,x-team=…`.
      for (const [, held = ""] of value.matchAll(/(?:^|,)[\w-]+=([^,]+)/g))
        parts.push(held, decodePercent(held));
    }
    for (const [, password = ""] of value.matchAll(/:\/\/[^\s:@/]*:([^\s/]+)@/g)) {
      parts.push(password, decodePercent(password));
    }
    for (const part of parts.map((text) => text.trim())) {
      if (part.length >= MIN_SECRET_LENGTH) found.set(part, found.get(part) ?? name);
    }
  }
  return [...found].map(([value, name]) => ({ name, value }));
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
