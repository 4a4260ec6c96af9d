import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { gatesOnPage, gatesText, measureGates } from "../../eval/gates.ts";

const MAIN = join(import.meta.dirname, "../../eval/main.ts");

const report = z.object({
  results: z.array(
    z.object({
      case: z.string(),
      kind: z.string(),
      error: z.string().optional(),
      beyond: z.number(),
      score: z.object({
        passed: z.boolean(),
        wronglyConfirmed: z.boolean(),
        unfrozen: z.number(),
        checks: z.array(z.object({ name: z.string(), wrong: z.string().optional() })),
      }),
    }),
  ),
});

test("every shipped case is passed by its script: nothing is unfrozen, and no script ends before its run", async () => {
  const json = join(tmpdir(), `wk-evals-${process.pid}.json`);
  onTestFinished(() => rmSync(json, { force: true }));
  await promisify(execFile)(process.execPath, [MAIN, "--json", json]).catch(() => undefined);
  const { results } = report.parse(JSON.parse(readFileSync(json, "utf8")));
  const wrong = results.flatMap(({ case: name, error, beyond, score }) => {
    const problems = score.checks.flatMap((check) => check.wrong ?? []);
    if (beyond > 0) problems.push(`${beyond} requests beyond the script`);
    if (score.unfrozen > 0) problems.push(`${score.unfrozen} calls are not frozen`);
    if (error !== undefined) problems.push(error);
    return problems.length === 0 ? [] : [`${name}: ${problems.join("; ")}`];
  });
  expect(wrong).toEqual([]);
  expect(results.length).toBeGreaterThanOrEqual(60);
  expect(results.filter(({ score }) => score.wronglyConfirmed)).toEqual([]);
  const kinds = new Set(results.map(({ kind }) => kind));
  expect(kinds.size).toBe(9);
}, 300_000);

/** Without what aligns its columns, and tokens to the nearest ten percent: tools differ from machine to machine. */
function cellsIn(table: string): string[][] {
  const bare = table.replaceAll(/, [+−]\d+ % tokens/g, "");
  return bare
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim().replace(/^-+$/, "-")));
}

test("the page says what each gate gained and cost with scripted models, as it is measured now", async () => {
  const measured = await measureGates();
  expect(cellsIn(gatesOnPage())).toEqual(cellsIn(gatesText(measured)));
  const well = measured.filter(({ model }) => model === "well");
  expect(well.filter(({ on }) => !on.isRight)).toEqual([]);
}, 300_000);
