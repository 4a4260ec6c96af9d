import { expect, test } from "vitest";
import { agentPart, gatesIn } from "../../src/config/agent.ts";
import { settingsOf } from "../../src/core/settings.ts";
import { fileSchema, fileValues } from "../../src/config/table.ts";

const gates = (agent: object) =>
  gatesIn(settingsOf(agentPart, fileValues(fileSchema.parse({ agent }))));

test("the standard gates are no choice; another set is named", () => {
  expect(gates({})).toBeUndefined();
  expect(gates({ gates: { evidence: true, stuck: "on" } })).toBeUndefined();
  expect(gates({ gates: { evidence: "off" } })).toEqual({ on: ["stuck"] });
  expect(() => gates({ gates: { evidence: "perhaps" } })).toThrow(/expected on or off/);
  expect(() => gates({ gates: { limit: "off" } })).toThrow(/limit/);
});
