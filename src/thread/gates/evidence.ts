import { checkAnswer } from "../evidence.ts";
import type { Gate } from "./gate.ts";

/** An answer says nothing that the calls of its thread do not show; what stays unshown is marked for people. */
export const evidence: Gate = {
  name: "evidence",
  about:
    "sends back an answer whose references, grade or claims of having acted (`DONE`) no call of the thread shows; what stays so is marked",
  beforeAnswer({ text, run, modelRun }) {
    const { problems } = checkAnswer(text, run, modelRun);
    if (problems.length === 0) return undefined;
    const list = problems.map((problem) => `- ${problem}`).join("\n");
    return `Your answer was not shown yet:\n${list}\nWrite the whole answer again, corrected.`;
  },
  marked: ({ text, run, modelRun }) => checkAnswer(text, run, modelRun).marked,
};
