/** The types of what verbs.test.ts uses of the model's journal. */
export interface ModelJournal {
  entries: string;
  lateAt: number;
  holder: number;
  expired: boolean;
}
type Rules = Readonly<Record<string, unknown>>;
type Reply =
  | { kind: "ok"; journal: ModelJournal }
  | { kind: "fenced" | "late" | "unseen" | "lost" };

export const NOBODY: number;
export const emptyJournal: ModelJournal;
export function isDue(journal: ModelJournal): boolean;
export function post(journal: ModelJournal, entry: string, rules: Rules): ModelJournal;
export function lease(journal: ModelJournal, who: number): ModelJournal | undefined;
export function leaseEnds(journal: ModelJournal, rules: Rules): ModelJournal;
export function renew(journal: ModelJournal, who: number, rules: Rules): ModelJournal | undefined;
export function append(
  journal: ModelJournal,
  who: number,
  after: number,
  entry: string,
  rules: Rules,
  asked: { repeated: boolean },
): Reply;
export function release(
  journal: ModelJournal,
  who: number,
  after: number,
  at: "now" | "never" | "expiry",
  rules: Rules,
): Reply;
