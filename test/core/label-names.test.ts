import { expect, test } from "vitest";
import { subjectOfLabels } from "../../src/checks/subject.ts";
import { LABEL_NAMES, labelsFor } from "../../src/core/label-names.ts";

test("no label stands for two things", () => {
  const all = Object.values(LABEL_NAMES).flat();
  expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
});

test("a thing is known by each of its labels, and by the plainest where several say it", () => {
  for (const label of labelsFor("service"))
    expect(subjectOfLabels({ [label]: "checkout" }).service).toBe("checkout");
  expect(subjectOfLabels({ app: "web-7f", service: "web" }).service).toBe("web");
});
