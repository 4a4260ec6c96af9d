import * as z from "zod";
import { memoize } from "../../core/memoize.ts";
import type { Memory } from "../../memory/memory.ts";
import { sectionsOf, type TextPart } from "../../memory/texts.ts";
import { FLOOR, type Floor } from "../../memory/policy.ts";
import { countFixes } from "../../memory/cases.ts";
import { caseText, fixText, FROM_MEMORY } from "../../memory/words.ts";
import type { Skill } from "../../skills/skill.ts";
import { defineTool, type Tool } from "../tool.ts";
import { askedIn } from "./asked.ts";

/** Where nothing is clearly alike, what has some of the words is shown as that. */
const PARTLY: Floor = { threshold: 0.2, nearness: 0.35 };
const MOST_PARTLY = 3;
/** Sections of skills that are named. */
const MAX_SECTIONS = 3;
/** Of a skill's files these are read. */
const IS_TEXT = /\.(?:md|txt)$/i;
const MAX_BYTES = 64 * 1024;

/** Finds what earlier threads found, what people noted, and the skills and runbooks about it. */
export function createRecall(
  memory: () => Memory,
  skills: readonly Skill[],
  floor: Floor = FLOOR,
): Tool {
  const runbooks = memoize(async () => memory().among(await partsOf(skills)), {
    ttlMs: 60_000,
    max: 1,
  });
  return defineTool({
    name: "recall",
    summary:
      "finds earlier investigations, notes and runbooks that are alike, and what helped then",
    description:
      "Finds what is remembered about a problem, in other words too: earlier investigations with their cause, what was done and how often that helped, notes of people, sections of skills and runbooks. It says what was so then: verify it with tools before you rely on it; it is no evidence.",
    input: z.strictObject({
      text: z
        .string()
        .regex(/\S/, "is empty")
        .max(1_000)
        .describe("What is wrong, in a sentence: symptoms, services, messages")
        .meta({ examples: ["checkout answers 502 since the deployment"] }),
      limit: z.int().min(1).max(20).default(5).describe("How many to show at the most"),
    }),
    effect: "read",
    doing: ({ text }) => `Remembering what is like ${text}`,
    answeredBy: { kind: "text" },
    timeoutMs: 15_000,
    async run({ text, limit }, ctx) {
      const viewer = await askedIn(ctx);
      const alike = await memory().alike(text, viewer, floor);
      const cases = alike.slice(0, limit);
      const partly =
        cases.length > 0
          ? []
          : (await memory().alike(text, viewer, PARTLY)).slice(0, Math.min(limit, MOST_PARTLY));
      const sections = await (
        await runbooks("")
      )(text, {
        thread: viewer.thread,
        limit: MAX_SECTIONS,
        threshold: PARTLY.threshold,
        nearness: floor.nearness,
      });
      if (cases.length + partly.length + sections.length === 0)
        return { text: "Nothing that is remembered here is like that." };
      const fixes = countFixes(alike).map(fixText);
      return {
        text: [
          FROM_MEMORY,
          ...cases.map(caseText),
          ...(partly.length === 0
            ? []
            : ["Nothing is clearly alike. These share some words:", ...partly.map(caseText)]),
          ...(fixes.length === 0
            ? []
            : [
                `What was done in the ${alike.length} that are alike:`,
                ...fixes.map((each) => `- ${each}`),
              ]),
          ...(sections.length === 0
            ? []
            : [`Skills and runbooks: ${[...new Set(sections.map(({ at }) => at))].join("; ")}`]),
        ].join("\n"),
      };
    },
  });
}

async function partsOf(skills: readonly Skill[]): Promise<TextPart[]> {
  const parts: TextPart[] = [];
  // A copy: the list may change meanwhile.
  for (const skill of skills.slice()) {
    const { name, description, body } = skill;
    parts.push({ at: name, text: description }, ...sectionsOf(name, body));
    for (const { id, bytes } of await skill.files())
      if (IS_TEXT.test(id) && bytes <= MAX_BYTES)
        parts.push(...sectionsOf(`${name}/${id}`, await skill.read(id).catch(() => "")));
  }
  return parts;
}
