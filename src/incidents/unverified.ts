import type { Incident } from "./incident.ts";

/** What stands where words are shown that an agent wrote, or a model after it had read text from outside. */
export const UNVERIFIED = "written by a bot that may have read outside text; not verified";

/** The fields whose words nobody verified, as they are labelled. */
export function unverifiedIn({ history }: Incident): string[] {
  const fields = [
    "title",
    "severity",
    "services",
    "startedAt",
    "detectedAt",
    "acknowledgedAt",
    "mitigatedAt",
    "resolvedAt",
    "impact",
    "cause",
    "certainty",
    "evidence",
  ] as const;
  const replaced = fields.filter(
    (field) => history.findLast(({ change }) => change[field] !== undefined)?.outside === true,
  );
  const added = history.some(({ change, outside }) => outside && change.actions !== undefined);
  const other = (["roles", "followUps"] as const).filter((field) =>
    history.some(({ change, outside }) => outside && change[field] !== undefined),
  );
  return [...replaced, ...(added ? ["actions"] : []), ...other];
}

/** The title, marked where nobody verified it. */
export function titleOf(incident: Incident): string {
  return unverifiedIn(incident).includes("title")
    ? `(unverified) ${incident.title}`
    : incident.title;
}
