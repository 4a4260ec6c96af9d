import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { diagnose } from "../../../../src/tools/kubernetes/diagnose/diagnose.ts";
import { NOW } from "./incident-workload.ts";
import { snapshotOf, type Incident } from "./incident.ts";

/** The first two were written down before they were first tried, the first even before there were analyzers. */
describe.each(["hold-out.yaml", "more-incidents.yaml", "after-recordings.yaml"])(
  "%s: the first finding names object and cause",
  (file) => {
    const text = readFileSync(new URL(file, import.meta.url), "utf8");
    const incidents = parseAllDocuments(text, { merge: true }).map(
      (document) => document.toJS() as Incident,
    );

    it.each(incidents)("$incident", async (incident) => {
      const { findings, gaps } = await diagnose(snapshotOf(incident), { now: NOW });
      expect(gaps).toEqual([]);
      const { expect: expected } = incident;
      if (expected === "healthy" || expected === undefined) {
        expect(findings).toEqual([]);
        return;
      }
      const [first] = findings;
      const shown = findings
        .map(({ object, cause }) => `${object.kind}/${object.name}: ${cause}`)
        .join("\n");
      expect(`${first?.object.kind}/${first?.object.name}`, shown).toMatch(
        new RegExp(`^(?:${expected.kind})/(?:${expected.name})$`),
      );
      expect(first?.cause, shown).toMatch(new RegExp(expected.cause, "i"));
    });
  },
);
