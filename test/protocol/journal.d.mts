/** The types of what test/contracts/verbs.ts uses of the model's store. */
export interface ModelJournal {
  entries: string;
  lateAt: number;
  holder: number;
  dueFor: number;
}
type Rules = Readonly<Record<string, unknown>>;
interface Checked {
  /** What was folded up to `after` is not what is stored there. */
  lost?: boolean;
}
type Reply<Kind extends string> =
  | { kind: "ok"; journal: ModelJournal }
  | { kind: Kind; journal?: undefined };

export const POSTS: string;
export const NOBODY: number;
export const emptyJournal: ModelJournal;
export function isDue(journal: ModelJournal, host: number, gone: boolean): boolean;
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
  how: Checked & { repeated?: boolean },
): Reply<"fenced" | "lost" | "late" | "unseen">;
export function release(
  journal: ModelJournal,
  who: number,
  after: number,
  at: string,
  rules: Rules,
  how: Checked & { host?: number },
): Reply<"fenced" | "lost" | "unseen">;
export function flush(journal: ModelJournal, rules: Rules, how: Checked): { kind: "ok" | "lost" };
