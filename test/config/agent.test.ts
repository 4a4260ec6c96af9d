import { expect, test } from "vitest";
import { agentPart, gatesIn } from "../../src/config/agent.ts";
import { settingsOf } from "../../src/core/settings.ts";
import { fileSchema, fileValues } from "../../src/config/table.ts";

const gates = (agent: object) =>
  gatesIn(settingsOf(agentPart, fileValues(fileSchema.parse({ agent }))));

test("what gates go by is part of the terms only where the gate is on", () => {
  const phases = [
    { name: "triage", tools: ["*"], reads: true, calls: 2, fallback: "act" },
    { name: "act", tools: ["*"] },
  ];
  expect(gates({ phases, requires: { "*": ["look"] }, minEvidence: 3 })).toEqual({
    on: ["evidence", "stuck", "required", "replan", "phases"],
    phases,
    requires: { "*": ["look"] },
  });
  expect(gates({ gates: { verification: "on", planning: "on" }, minEvidence: 3 })).toEqual({
    on: ["evidence", "stuck", "required", "verification", "planning", "replan", "phases"],
    minEvidence: 3,
    minRevisions: 2,
  });
  expect(() => gates({ phases: [{ ...phases[0], fallback: "nowhere" }] })).toThrow(
    /no phase of this list/,
  );
  expect(() => gates({ phases: [phases[1], phases[1]] })).toThrow(/another phase/);
});

test("what a skill requires and what the configuration requires of it are both required", () => {
  const set = settingsOf(
    agentPart,
    fileValues(fileSchema.parse({ agent: { requires: { kube: ["pods"] } } })),
  );
  expect(gatesIn(set, { kube: ["logs"], disk: ["usage"] })?.requires).toEqual({
    kube: ["logs", "pods"],
    disk: ["usage"],
  });
});

test("the standard gates are no choice; another set is named", () => {
  expect(gates({})).toBeUndefined();
  expect(gates({ gates: { evidence: true, stuck: "on" } })).toBeUndefined();
  expect(gates({ gates: { evidence: "off", replan: false } })).toEqual({
    on: ["stuck", "required", "phases"],
  });
  expect(() => gates({ gates: { evidence: "perhaps" } })).toThrow(/expected on or off/);
  expect(() => gates({ gates: { limit: "off" } })).toThrow(/limit/);
});
