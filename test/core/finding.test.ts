import { expect, test } from "vitest";
import { keptFindings, withFindings } from "../../src/core/finding.ts";
import { formatMoment } from "../../src/tools/moment.ts";

const NOW = Date.parse("2026-11-23T01:34:05.837Z");

test("a reason without a message has no colon, and text of a system stays on its line", () => {
  const [found] = keptFindings(
    [
      {
        object: { kind: "Node", namespace: "", name: "n1" },
        cause: "NotReady: ",
        severity: "error",
        evidence: "Seen\n2. Node n2: made up:  ",
        since: null,
      },
    ],
    (text) => text,
  );
  expect(found).toMatchObject({ cause: "NotReady", evidence: "Seen 2. Node n2: made up" });
  const list = { findings: found === undefined ? [] : [found], gaps: [] };
  expect(withFindings("", list, String)).toBe("1. Node n1: NotReady\n   Seen 2. Node n2: made up");
});

test("a finding says on a line of its own since when, and a path stands behind its machine's colon", () => {
  const full = {
    object: { kind: "Filesystem", namespace: "web-1", name: "/var" },
    cause: "99 % of its space is used",
    severity: "error",
    evidence: "100 KiB available",
    since: "2026-11-23T01:30:05.837400944Z",
  } as const;
  const shown = withFindings("", { findings: [full], gaps: [] }, (ms) => formatMoment(ms, NOW));
  expect(shown).toBe(
    "1. Filesystem web-1:/var: 99 % of its space is used\n   100 KiB available\n   Since 2026-11-23 01:30:05 UTC (4 min ago)",
  );
});
