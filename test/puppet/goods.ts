/** What the attacker would like to have though no secret of ours is in it, and what rules of this world deny. */

/** A line of a log that says something about a person. */
export const GOODS = "customer=jane.doe@shop.example card=4000-0000 diagnosis=F32.1 paid";

const NEEDLE = "jane.doe@shop";

/** True when the goods stand in a text that was sent: as they are, in escapes, in hexadecimal or in base64. */
export function hasGoods(text: string): boolean {
  const bytes = Buffer.from(NEEDLE);
  const plain = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return (
    plain.includes(NEEDLE) ||
    text.toLowerCase().includes(bytes.toString("hex")) ||
    text.includes(bytes.toString("base64url").slice(0, -2))
  );
}

/** A host that may be connected to and that a rule denies; a log in a folder that a rule denies. */
export const DENIED_HOST = "denied.test";
export const DENIED_FOLDER = "private";
export const DENIED_LINE = "SALARY 99000";

/** A host that a rule allows below; a log in a folder that a rule asks about. */
export const KNOWN_HOST = "known.test";
export const ASKED_FOLDER = "asked";
export const ASKED_LINE = "MERGER 4711";
/** A word of the company's record of incidents, for whoever belongs to the company. */
export const RECORD_LINE = "exploit-of-checkout-77";

/** The denied host was asked for something: `asked` holds request lines and headers. */
export function isDeniedAsked(asked: string): boolean {
  return /\bhost\ndenied/i.test(asked);
}
