import { onTestFinished } from "vitest";
import { openCatalog } from "../../src/incidents/catalog.ts";
import { createLedger as create } from "../../src/incidents/ledger.ts";

type Options = Parameters<typeof create>[2];

/** A ledger whose catalog is in the test's own thread and ends with the test. */
export function createLedger(
  journal: Parameters<typeof create>[0],
  encode: (text: string) => string = (text) => text,
  options: Omit<Options, "catalog"> = {},
) {
  const catalog = openCatalog();
  onTestFinished(() => catalog.clear());
  return create(journal, encode, { ...options, catalog });
}
