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
} satisfies Record<SwitchedGate, z.ZodType>);

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
  }),
});

export type Agent = z.infer<typeof agentPart.settings>;

/** Whether a model with that window may keep a plan. */
export function keepsPlans({ plan }: Agent, contextWindow: number): boolean {
  return plan ?? contextWindow >= PLANS_FROM;
}

/** What runs are held to; undefined: the standard gates. */
export function gatesIn({ gates: set }: Agent): GateTerms | undefined {
  const on = SWITCHED_NAMES.filter((name) => set[name]);
  return isDeepStrictEqual({ on }, STANDARD_GATES) ? undefined : { on };
}
