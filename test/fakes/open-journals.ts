/** The journals in memory that are open: whoever leaves one is told by `test/leaks.ts`, which loads nothing else for it. */
export const openJournals = new Set<object>();
