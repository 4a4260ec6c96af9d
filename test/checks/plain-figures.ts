import type { Plan } from "../../src/thread/checking.ts";
import type { Asked } from "./plain-questions.ts";

/** How the checks that are chosen for questions do. */
export interface PlainFigures {
  /** Of the questions for which something was chosen, those for which it was what answers them. */
  precision: number;
  /** Of the questions that checks can answer, those for which what answers them was chosen. */
  recall: number;
  wrong: {
    question: string;
    wanted: readonly string[];
    planned: string[];
    skills: readonly string[];
  }[];
}

export function plainFigures(
  planOf: (question: string) => Plan,
  questions: readonly Asked[],
  others: readonly string[],
): PlainFigures {
  const all: readonly Asked[] = [...questions, ...others.map((each): Asked => [each])];
  const judged = all.map(([question, ...wanted]) => {
    const plan = planOf(question);
    const isRight =
      wanted.length === 0
        ? plan.skills.length === 0
        : wanted.every((each) => plan.calls.some((call) => isMade(each, call)));
    const planned = plan.calls.map(({ tool, args }) =>
      [
        tool,
        ...Object.entries(args).map(
          ([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`,
        ),
      ].join(" "),
    );
    return {
      question,
      wanted,
      planned,
      skills: plan.skills,
      isRight,
      isChosen: plan.skills.length > 0,
    };
  });
  const chosen = judged.filter(({ isChosen }) => isChosen);
  const found = judged.filter(({ wanted, isRight }) => wanted.length > 0 && isRight);
  return {
    precision: found.length / chosen.length,
    recall: found.length / questions.length,
    wrong: judged
      .filter(({ isRight }) => !isRight)
      .map(({ question, wanted, planned, skills }) => ({ question, wanted, planned, skills })),
  };
}

function isMade(wanted: string, { tool, args }: Plan["calls"][number]): boolean {
  const [name, ...values] = wanted.split(" ");
  return (
    tool === name &&
    values.every((each) => {
      const [key = "", value] = each.split("=");
      return key in args && JSON.stringify(args[key]).replaceAll('"', "") === value;
    })
  );
}
