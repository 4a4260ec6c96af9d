import { expect, test } from "vitest";
import { keptFindings, withFindings } from "../../src/core/finding.ts";

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
  expect(withFindings("", { findings: found === undefined ? [] : [found], gaps: [] })).toBe(
    "1. Node n1: NotReady\n   Seen 2. Node n2: made up",
  );
});
