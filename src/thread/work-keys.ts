/** Names of a thread's work in progress or put off, so that nothing is begun twice. */
export const workKey = {
  call: (call: string) => `call:${call}`,
  /** A call that is over is looked at again. */
  verify: (call: string) => `verify:${call}`,
  /** It is marked elsewhere that a call is done. */
  mark: (call: string) => `mark:${call}`,
  /** The operations channel is told. */
  alarm: (entry: string) => `alarm:${entry}`,
  /** People are paged for an action, or not needed any more. */
  page: (action: string) => `page:${action}`,
  memory: "memory",
  record: "record",
  /** A goal's report is written into a folder. */
  report: (goal: string) => `report:${goal}`,
  /** It is looked up what a command is told of freezes. */
  survey: (command: string) => `survey:${command}`,
  /** Who wants a goal is looked up. */
  admit: (command: string) => `admit:${command}`,
  above: (run: string) => `above:${run}`,
  model: (run: string) => `think:${run}`,
  /** The goal is planned, or its task judged. */
  goal: (goal: string) => `goal:${goal}`,
  view: (view: string) => `view:${view}`,
  /** A view refused to show progress: no reason to keep an answer back. */
  progress: (view: string) => `begin:${view}`,
  /** So is a summary. */
  summary: (view: string) => `summary:${view}`,
  /** Likewise what the message in the channel says. */
  root: "root",
  /** Clicks are judged one at a time, hints given so too. */
  judging: "judge",
  hint: "hint",
  hosts: "hosts",
  where: "where",
  /** A click's author could not be looked up: it is put off, and others are judged. */
  click: (click: string) => `judge:${click}`,
} as const;

const CALL = workKey.call("");

/** Such names: a set's, or a map's keys. */
export interface Busy {
  has(key: string): boolean;
  keys(): Iterable<string>;
}

export function callsIn(busy: Busy): number {
  let calls = 0;
  for (const key of busy.keys()) if (key.startsWith(CALL)) calls += 1;
  return calls;
}
