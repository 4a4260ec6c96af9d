/** What was written while nobody listened, on any platform. */

/** As far back as places are looked at: what is older than `TAKEN_MS` is not taken up, and people are told. */
export const LOOK_BACK_MS = 72 * 3_600_000;
/** A journal knows its events again for at least a day. */
const TAKEN_MS = 12 * 3_600_000;
/** Of one place: questions that are older than the newest so many are not taken up either. */
const MAX_NEWEST = 30;

/** One message of a place. */
export interface Found<M> {
  message: M;
  at: number;
  /** A person wrote it, and to the bot. */
  isQuestion: boolean;
  /** It is in the journal, or was never for the bot. */
  isDone: boolean;
}

/** Of a place's messages, oldest first: what is taken up now, and the questions before it that never are. */
export function splitMissed<M>(found: readonly Found<M>[]): { taken: M[]; left: Found<M>[] } {
  const since = Date.now() - TAKEN_MS;
  const questions = found.filter(({ isQuestion }) => isQuestion);
  const [oldest] = questions.slice(-MAX_NEWEST);
  // Several may be of the same millisecond.
  const limit = oldest === undefined ? 0 : found.indexOf(oldest);
  const isTaken = ({ at }: Found<M>, i: number) => i >= limit && at >= since;
  return {
    taken: found.flatMap((each, i) => (isTaken(each, i) && !each.isDone ? [each.message] : [])),
    left: found.filter((each, i) => each.isQuestion && !each.isDone && !isTaken(each, i)),
  };
}
