const HEARD = {
  paused: "is paused. `goal resume` lets it go on.",
  resumed: "goes on.",
  extended: "may use more now. `goal status` says how much.",
  ended: "has ended.",
} as const;

/** What somebody is told who gives a command about a goal, or presses one of its buttons. */
export const goalAnswers = {
  heard: (goal: string, state: keyof typeof HEARD) => `${goal} ${HEARD[state]}`,
  none: "No goal is at work here. Begin one: `goal <what is wanted>`.",
  over: (goal: string) => `${goal} has ended. Begin another: \`goal <what is wanted>\`.`,
  stopped: (goal: string) => `${goal} was stopped, so that changed nothing.`,
  extended: (goal: string, by: string) =>
    `${by} already extended ${goal}. To let it use still more: \`goal extend\`.`,
  notOffered: (goal: string) =>
    `Nothing offered that to ${goal}, so it did not count. To let it use more: \`goal extend\`.`,
  noCents: (goal: string) =>
    `${goal} has no limit in money, so that changed nothing. Extend it by steps, minutes or tokens.`,
  tooMuch: (goal: string) =>
    `That is more than ${goal} began with, so it did not count. \`goal extend\` adds half of that; it may be given twice as much at once, and again later.`,
  isPaused: (goal: string, by: string | undefined) =>
    `${goal} is paused already${by === undefined ? "" : `, by ${by}`}. \`goal resume\` lets it go on.`,
  isRunning: (goal: string) => `${goal} is at work: nothing to resume.`,
  needsMore: (goal: string) =>
    `${goal} has used up its budget and would pause again at once. \`goal extend\` lets it use more and go on.`,
  pausedBy: (by: string) => `Paused by ${by}.`,
  notLookedUp: (minutes: number) =>
    `I could not look you up for ${minutes} minutes, so that did not count. Please do it again.`,
  atWork: (goal: string, text: string) =>
    `${goal} is at work here: ${text}\nA thread has one goal at a time. End it with \`goal stop\`, or begin the other one in a thread of its own.`,
  noModel: "A goal needs an AI model, and I have none. Admins: set MODEL and its key.",
  onlyTalk: "In this channel I only talk (agent.chatOnly), so it can have no goal.",
} as const;
