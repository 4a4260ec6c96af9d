import type { Draft } from "../../src/core/entry.ts";
import type { Finding } from "../../src/core/finding.ts";
import { fakeTool, type StageOptions } from "../fakes/stage.ts";

/** Something broken, and how it is found. */
export const DEAD: Finding = {
  object: { kind: "Service", namespace: "", name: "web" },
  cause: "no endpoints",
  severity: "error",
  evidence: "0 of 3 pods are ready",
  fix: "Start its pods.",
  since: null,
};

/** A tool that finds that, or nothing. */
export function looking(found: () => readonly Finding[] = () => [DEAD], name = "look") {
  return fakeTool({
    name,
    run: async ({ name: target }) => ({ text: `looked at ${target}`, findings: [...found()] }),
  });
}

/** The skill whose check finds it. */
export const SKILLS: NonNullable<StageOptions["skills"]> = {
  "web-down": {
    when: { words: ["web is down"], alerts: ["WebDown"] },
    checks: { pods: { tool: "look", with: { name: "web" } } },
    rules: [
      {
        if: { check: "pods", kind: "Service", cause: "*no endpoints*" },
        say: "{{pods.name}} has no pods behind it: {{pods.evidence}}",
        fix: "Scale {{pods.name}} up.",
      },
    ],
  },
};

/** The alert of it. */
export const ALERT = {
  fingerprint: "f1",
  status: "firing" as const,
  name: "WebDown",
  labels: { alertname: "WebDown", service: "web" },
  summary: "web does not answer",
};

/** How a group of alerts stands, as its journal tells the thread. */
export function alertState(
  last: number,
  changes: Partial<Draft<"alert_state">> = {},
): Draft<"alert_state"> {
  return {
    id: `alerts:${last}`,
    kind: "alert_state",
    of: "alerts:test:c1",
    group: "g1",
    last,
    name: "WebDown",
    firing: 1,
    acknowledged: 0,
    resolved: 0,
    told: 1,
    folded: [],
    startedAt: 1_000,
    triage: true,
    alerts: [ALERT],
    ...changes,
  };
}
