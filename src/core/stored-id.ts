/**
 * An entry's id as a row has it. Where the row's kind is a code, that stands for how the kind's ids begin: `Tr1.t2` is
 * `started:r1.t2`. Those have no colon, so that no other id looks like one.
 */

/** Of the kinds that each step of a run has, by code, for ever. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  a: "assistant:",
  T: "started:",
  F: "finished:",
};

/** `code`: of the kind. */
export function storedId(code: string, id: string): string {
  const beginning = BEGINNINGS[code];
  if (beginning !== undefined && id.startsWith(beginning)) {
    const rest = id.slice(beginning.length);
    if (!rest.includes(":")) return code + rest;
  }
  return id.indexOf(":") > 0 ? id : `:${id}`;
}

/** `kind`: a code, or the kind's name, whose rows have ids as they are. */
export function plainId(kind: string, stored: string): string {
  if (kind.length !== 1) return stored;
  const colon = stored.indexOf(":");
  if (colon !== -1) return colon === 0 ? stored.slice(1) : stored;
  const beginning = BEGINNINGS[kind];
  return beginning === undefined ? stored : beginning + stored.slice(1);
}
