import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { makeFolder, runBatch } from "../chaos/batch.ts";
import { controlOf, smokeBatch } from "../chaos/campaign.ts";
import { verdictOf } from "../chaos/verdict.ts";

/** A batch is some seconds of real processes, several times as long on a busy machine. */
const TIMEOUT_MS = 180_000;

test(
  "workers that are killed, frozen and drained double nothing, lose nothing and keep nothing from people",
  async () => {
    const folder = await makeFolder();
    try {
      const { failed, figures } = verdictOf(await runBatch(smokeBatch(1), { folder }));
      expect(Object.fromEntries(failed)).toEqual({});
      expect(figures.trials).toBeGreaterThan(20);
      expect(figures.turns).toBeGreaterThan(20);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  TIMEOUT_MS,
);

test(
  "a store that acknowledges a start before it is durable is found out",
  async () => {
    const folder = await makeFolder();
    try {
      const { plan, expected } = controlOf("write-ahead off", 1, "small");
      const record = await runBatch(plan, { folder, bug: "write-ahead off", patienceMs: 500 });
      const said = [...verdictOf(record).failed.values()].flat();
      expect(said).toContainEqual(expect.stringMatching(expected));
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  TIMEOUT_MS,
);
