import type { Incident, Pin, Said } from "./incident.ts";
import { pinnedIn } from "./pins.ts";

/** What one statement said, a phrase for each thing; `show` writes a time. */
export function wordsOf({ change }: Pick<Said, "change">, show: (at: number) => string): string[] {
  const { status, title, severity, services, impact, cause, actions = [], note } = change;
  const { pin } = change;
  const time = (word: string, at: number | undefined) =>
    at === undefined ? [] : [`${word} ${show(at)}`];
  return [
    ...(status === undefined ? [] : [status === "open" ? "opened again" : "resolved"]),
    ...(title === undefined ? [] : [`title: ${title}`]),
    ...(severity === undefined ? [] : [severity]),
    ...(services === undefined ? [] : [`services: ${services.join(", ") || "none"}`]),
    ...time("started", change.startedAt),
    ...time("detected", change.detectedAt),
    ...time("over", change.resolvedAt),
    ...(impact === undefined ? [] : [`impact: ${impact}`]),
    ...(cause === undefined ? [] : [`cause: ${cause}`]),
    ...actions.map((action) => `action: ${action}`),
    ...(note === undefined ? [] : [note]),
    ...(pin === undefined ? [] : [`pinned ${quoteOf(pin)}`]),
    ...(pin?.link === undefined ? [] : [pin.link]),
  ];
}

/** Somebody else's words, which nobody verified. */
export function quoteOf({ name, text }: Pin): string {
  return `${name}: ${JSON.stringify(text)}`;
}

/** The statements without those about messages that were pinned and taken out again, or say something else by now. */
export function standingHistory(incident: Incident): Said[] {
  const { history, pins } = incident;
  const pinned = new Set(pins.map(({ message }) => pinnedIn(incident, message)?.said));
  return history.filter(
    (said) => (said.change.pin === undefined || pinned.has(said)) && !said.change.unpin,
  );
}
