/** What memory needs of a thread and nothing else keeps. */
export class TaskNotes {
  /** When the thread began, ms since 1970. */
  begun = 0;
  /** The tools that told something, in the order of their first result. */
  readonly looked = new Set<string>();
  /** The entry as of which memory has yet to be told of it. */
  owed: string | undefined;
}
