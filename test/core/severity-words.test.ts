import { expect, test } from "vitest";
import { type Grade, gradeOf } from "../../src/core/severity-words.ts";
import { urgencyIn } from "../../src/thread/alert-phrases.ts";
import { severityOf } from "../../src/tools/labels.ts";

test.each<[Grade | undefined, number, string, string[]]>([
  ["sev1", 3, "error", ["critical", "CRIT", "page", "emerg", "disaster", "P0", "sev-1", "1"]],
  ["sev2", 2, "error", ["error", "err", "High", "major", "SEV2", "p2", "2"]],
  ["sev3", 1, "warning", ["warning", "warn", "medium", "minor", "average", "p3", "3"]],
  ["quiet", 0, "info", ["info", "informational", "none", "low", "debug", "notice", "ok", "p5"]],
  [undefined, 1, "warning", ["", "blue", "4", "criticality", "infos"]],
])(
  "%s is as urgent as %s and a finding's %s, in every system's word for it",
  (grade, urgency, finding, words) => {
    for (const word of words) {
      expect([word, gradeOf(word)]).toEqual([word, grade]);
      const labels = { severity: word };
      const alert = { fingerprint: "a", name: "Alert", status: "firing" as const, labels };
      expect([word, urgencyIn([alert])]).toEqual([word, urgency]);
      expect(severityOf(labels)).toBe(finding);
    }
  },
);
