/** What the message says that sums up a long thread. */
export const summaryWords = {
  /** Who asks where an alert began the thread. */
  alert: "an alert",
  title: "Summary of this thread",
  asked: (name: string, text: string) => `Asked by ${name}: ${text}`,
  found: (answers: number) => `Found, the newest last (${answers} answers in all):`,
  done: "Changes:",
  open: "Open:",
  unknown: (ref: string, tool: string) =>
    `${ref} (${tool}): nobody has said yet whether it happened`,
  newest: (link: string) => `Newest answer: ${link}`,
} as const;
