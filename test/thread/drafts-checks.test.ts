import { expect, test } from "vitest";
import { withoutFindings } from "../../src/thread/drafts-checks.ts";

test("changes stand in the tool's own words, which are kept whole; other findings are listed before them", () => {
  const finding = { cause: "c", severity: "info" as const, evidence: "e", since: null };
  const object = { kind: "Change", namespace: "", name: "shop" };
  const text = "4 changes from a to b.\n1. shop deployed";
  expect(withoutFindings(text, [{ ...finding, object }])).toBe(text);
  const pod = { ...finding, object: { ...object, kind: "Pod" } };
  expect(withoutFindings("Pod shop: c\n\n1 pod", [pod])).toBe("1 pod");
  expect(withoutFindings("Pod shop: c", [pod])).toBe("");
});
