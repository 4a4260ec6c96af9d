import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  type GateTerms,
  STANDARD_GATES,
  SWITCHED_GATES,
  SWITCHED_NAMES,
  type SwitchedGate,
} from "../core/gates.ts";
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

export const agentPart = defineSettings({
  name: "agent",
  settings: z.object({ gates: fromYaml("agent.gates", gates.prefault({})) }),
});

/** What runs are held to; undefined: the standard gates. */
export function gatesIn({ gates: set }: z.infer<typeof agentPart.settings>): GateTerms | undefined {
  const on = SWITCHED_NAMES.filter((name) => set[name]);
  return isDeepStrictEqual({ on }, STANDARD_GATES) ? undefined : { on };
}
