/** Before or behind a title, set off by space or punctuation: `sev1`, `SEV-2:`, `(sev 3)`, `P1`, `severity=` left out. */
const GRADE = String.raw`[([]?(?:severity:?\s+)?(?:(?:[sS][eE][vV])[- ]?|P)([1-4])[)\]]?`;
const BEFORE = new RegExp(String.raw`^${GRADE}(?:\s*[:,;–—-]\s*|\s+)(?=\S)`);
const BEHIND = new RegExp(String.raw`(?:\s*[:,;–—-]\s*|\s+)${GRADE}[.!]?$`);

/** A title as somebody types it in a hurry, `Checkout fails sev1`, and the severity that it begins or ends with. */
export function gradedTitle(text: string): { title: string; severity?: string } {
  const found = BEHIND.exec(text) ?? BEFORE.exec(text);
  const title = found === null ? text : text.replace(found[0], "").trim();
  return found === null || title === "" ? { title: text } : { title, severity: `sev${found[1]}` };
}
