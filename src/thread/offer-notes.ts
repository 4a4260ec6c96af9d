/** What would be recorded of a thread that looks like an incident. */
export interface IncidentOffer {
  /** In one line. */
  readonly title: string;
  /** Ms since 1970. */
  readonly startedAt: number;
  readonly services: readonly string[];
}

/** What says whether a thread looks like an incident, and what became of the offer to record it: it is made once. */
export class OfferNotes {
  /** The people who wrote lately, by account, and when they did. */
  readonly wrote = new Map<string, number>();
  /** The time of the newest entry by which it looks like one, ms since 1970, and what would be recorded. */
  due: { readonly at: number; readonly offer: IncidentOffer } | undefined;
  /** As it was made. */
  made: IncidentOffer | undefined;
  /** Who pressed that it is to be recorded, by click. */
  readonly presses = new Map<string, string>();
  /** The run that records it. */
  opening: { readonly run: string; readonly by: string } | undefined;
  /** An incident was recorded from here; `by`: who pressed that below the offer. */
  recorded: { readonly by: string | undefined } | undefined;
  /** Who said that it is none. */
  declinedBy: string | undefined;
}
