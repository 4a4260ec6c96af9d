import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  type GateTerms,
  STANDARD_GATES,
  SWITCHED_GATES,
  SWITCHED_NAMES,
  type SwitchedGate,
} from "../core/gates.ts";
import { channel } from "./policy.ts";
import { PLANNING } from "../core/plan.ts";
import { defineSettings, fromYaml } from "../core/settings.ts";
import { GATES } from "../thread/gates/gates.ts";

function onOff(name: SwitchedGate) {
  const { about = "" } = GATES.find((gate) => gate.name === name) ?? {};
  return z
    .union([z.boolean(), z.enum(["on", "off"]).transform((word) => word === "on")], {
      error: "expected on or off",
    })
    .prefault(SWITCHED_GATES[name] ? "on" : "off")
    .describe(`Whether the [gate](agent.md#gates) \`${name}\` holds a model's runs: it ${about}.`);
}

const gates = z.strictObject({
  evidence: onOff("evidence"),
  stuck: onOff("stuck"),
  required: onOff("required"),
  replan: onOff("replan"),
  phases: onOff("phases"),
  verification: onOff("verification"),
  recovery: onOff("recovery"),
  planning: onOff("planning"),
  synthesis: onOff("synthesis"),
} satisfies Record<SwitchedGate, z.ZodType>);

const name = z.string().trim().min(1).max(100);
const tools = (description: string) => z.array(name).min(1).max(100).describe(description);

const phases = z
  .array(
    z.strictObject({
      name: name.describe("What results call it, such as `triage`."),
      tools: tools(
        "What may be called in it, by name; `*` stands for anything. Skills, questions to people and plans are never held back.",
      ),
      reads: z.boolean().optional().describe("Only calls that change nothing."),
      calls: z
        .int()
        .min(1)
        .max(1_000)
        .optional()
        .describe("The next phase begins once so many calls of it went well."),
      after: z
        .array(name)
        .min(1)
        .max(100)
        .optional()
        .describe("The next phase begins once one of these tools went well."),
      fallback: name
        .optional()
        .describe("The phase that begins after three failed calls in a row."),
    }),
  )
  .max(20)
  .superRefine((list, { addIssue }) => {
    for (const [i, { name: own, fallback }] of list.entries()) {
      const isTwice = list.findIndex((phase) => phase.name === own) < i;
      if (isTwice)
        addIssue({
          code: "custom",
          path: [i, "name"],
          message: "is the name of another phase too",
        });
      if (fallback !== undefined && !list.some((phase) => phase.name === fallback))
        addIssue({ code: "custom", path: [i, "fallback"], message: "is no phase of this list" });
    }
  });

/** Below that, every hundred tokens are missed. */
const PLANS_FROM = 32_000;

export const agentPart = defineSettings({
  name: "agent",
  settings: z.object({
    plan: fromYaml(
      "agent.plan",
      z.boolean().optional(),
      "Whether a model may keep a [plan](agent.md#plans) that people see while it works. Its description takes about 400 tokens of each request.",
      { unset: `from a window of ${PLANS_FROM} tokens on` },
    ),
    triage: fromYaml(
      "agent.triage",
      z.boolean().default(false),
      "Whether a model's run that an app's message begins, and no person, has only the [tools that read](agent.md#modes): its requests are shorter.",
    ),
    chatOnly: fromYaml(
      "agent.chatOnly",
      z.array(channel).max(200).prefault([]),
      "Channels in which the model [talks and has no tools](agent.md#modes), such as `slack:T1:C0HELP`. Commands work there as ever.",
    ),
    gates: fromYaml("agent.gates", gates.prefault({})),
    requires: fromYaml(
      "agent.requires",
      z.record(name, z.array(name).min(1).max(20)).default({}),
      "By a skill's name, `*` for anything: tools that a run which follows it has to call before it is done, for the [gate](agent.md#gates) `required`. `*` alone: any run that looks into something.",
    ),
    strategy: fromYaml(
      "agent.strategy",
      z.enum(["react", ...PLANNING]).default("react"),
      "How a run begins: `react` at once. `plan_and_solve` asks the model first for a [plan](agent.md#strategies), kept from five steps on (one request); `tree_of_thoughts` compares three (two requests); `self_consistency` keeps what most of five have (five requests).",
    ),
    minEvidence: fromYaml(
      "agent.minEvidence",
      z.int().min(1).max(20).default(1),
      "So many calls that went well a sure answer has to cite, for the [gate](agent.md#gates) `verification`.",
    ),
    minRevisions: fromYaml(
      "agent.minRevisions",
      z.int().min(1).max(20).default(2),
      "So often a plan has to be written down before an answer, for the [gate](agent.md#gates) `planning`.",
    ),
    phases: fromYaml(
      "agent.phases",
      phases.default([]),
      "[Phases](agent.md#phases) of a run, the first one first: what its model may call in each.",
    ),
  }),
});

export type Agent = z.infer<typeof agentPart.settings>;

/** Whether a model with that window may keep a plan. */
export function keepsPlans({ plan }: Agent, contextWindow: number): boolean {
  return plan ?? contextWindow >= PLANS_FROM;
}

/** What runs are held to; undefined: the standard gates. `skills`: what each requires. */
export function gatesIn(
  { gates: set, requires, minEvidence, minRevisions, phases: list, strategy }: Agent,
  skills: Readonly<Record<string, readonly string[]>> = {},
): GateTerms | undefined {
  const kinds = Object.keys({ ...skills, ...requires }).map((kind): [string, string[]] => [
    kind,
    [...(skills[kind] ?? []), ...(requires[kind] ?? [])],
  ]);
  const terms = {
    on: SWITCHED_NAMES.filter((each) => set[each]),
    ...(set.verification && minEvidence > 1 && { minEvidence }),
    ...(set.planning && { minRevisions }),
    ...(set.required && kinds.length > 0 && { requires: Object.fromEntries(kinds) }),
    ...(set.phases && list.length > 0 && { phases: list }),
    ...(strategy !== "react" && { strategy }),
  };
  return isDeepStrictEqual(terms, STANDARD_GATES) ? undefined : terms;
}
