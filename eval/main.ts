import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { settingsFor } from "../src/app/models.ts";
import { loadConfig } from "../src/config/config.ts";
import { messageOf } from "../src/core/errors.ts";
import { NO_MONEY } from "../src/core/money.ts";
import { isRecord } from "../src/core/json.ts";
import { type EvalCase, casesAt, readCases } from "../src/evals/case.ts";
import { judge } from "../src/evals/judge.ts";
import { type Result, reportText, summarise } from "../src/evals/report.ts";
import { scoreOf } from "../src/evals/score.ts";
import { loadModel } from "../src/models/load.ts";
import type { Model } from "../src/models/model.ts";
import { createLabWorlds, type OpenWorld } from "./lab-world.ts";
import { play, type Variant } from "./run.ts";

/**
 * `npm run eval`: every shipped case with its script, which shows that the harness and the program's own rules hold, and says nothing of
 * a model. `npm run eval -- [--model anthropic/… …] [--variant name=settings.yaml …] [--repeat 5] [--json file] [--report file] [--judge anthropic/…] [--lab] [--record folder | --replay folder] [case or
 * folder …]`. docs/evals.md says more.
 */

const CASES = join(import.meta.dirname, "cases");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string", multiple: true, default: [] },
    variant: { type: "string", multiple: true, default: [] },
    repeat: { type: "string", default: "1" },
    json: { type: "string" },
    report: { type: "string" },
    judge: { type: "string" },
    record: { type: "string" },
    replay: { type: "string" },
    lab: { type: "boolean", default: false },
  },
});

function casesOf(names: readonly string[]): EvalCase[] {
  if (names.length === 0) return readCases(CASES);
  try {
    return names.flatMap((name) => casesAt(name.includes("/") ? name : join(CASES, name)));
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(2);
  }
}

function settingsIn(file: string): Readonly<Record<string, unknown>> {
  const settings: unknown = parse(readFileSync(file, "utf8"));
  if (!isRecord(settings)) throw new Error(`${file} holds no settings.`);
  return settings;
}

/** Each model with each set of settings. */
function variantsOf(models: readonly string[], sets: readonly string[]): Variant[] {
  const settings = sets.map((text) => {
    const [name = "", file = ""] = text.split("=");
    return { name, settings: settingsIn(file) };
  });
  const all = settings.length === 0 ? [{ name: "", settings: {} }] : settings;
  const runners = models.length === 0 ? [undefined] : models;
  return runners.flatMap((model) =>
    all.map((each) => ({
      name: [model ?? "scripted", each.name].filter((part) => part !== "").join(", "),
      model,
      settings: each.settings,
    })),
  );
}

/** @throws BotError CONFIG_INVALID where its key is missing */
async function loadJudge(id: string): Promise<Model> {
  const { model } = await loadConfig({ ...process.env, MODEL: id });
  return loadModel(id, settingsFor(id, model));
}

/** A file for each run of a case by a live model. */
function trafficOf(evalCase: EvalCase, variant: Variant, run: number) {
  const folder = values.replay ?? values.record;
  if (folder === undefined) return undefined;
  const name = `${variant.name}-${evalCase.name}-${run}.jsonl`.replaceAll(/[^\w.-]+/g, "-");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const act = values.replay === undefined ? ("record" as const) : ("replay" as const);
  return { do: act, file: join(folder, name) };
}

/** Why the case is not played; undefined: it is. */
function whySkipped({ world, script }: EvalCase, model: string | undefined): string | undefined {
  if (model === undefined && script === undefined)
    return "it has no script, so only a model plays it";
  if (world === undefined) return undefined;
  return values.lab ? labs.missing(world.lab) : "it wants real servers: --lab starts them";
}

async function resultOf(evalCase: EvalCase, variant: Variant, run: number): Promise<Result> {
  const about = { variant: variant.name, case: evalCase.name, kind: evalCase.kind };
  let world: OpenWorld | undefined;
  try {
    const traffic = trafficOf(evalCase, variant, run);
    world = evalCase.world && (await labs.open(evalCase.world.lab));
    const options = { env: process.env, traffic, world };
    const { facts, beyond, ms } = await play(evalCase, variant, options);
    const { steps, calls, tokens, money, gates } = facts;
    const score = scoreOf(evalCase, facts);
    const opinion =
      judgeModel && (await judge(judgeModel, evalCase, facts, new AbortController().signal));
    const used = { steps, calls: calls.length, tokens, money, gates };
    return { ...about, opinion, score, ...used, beyond, ms };
  } catch (error) {
    const score = { passed: false, checks: [], wronglyConfirmed: false, unfrozen: 0 };
    const nothing = { steps: 0, calls: 0, tokens: 0, money: NO_MONEY, gates: {}, beyond: 0, ms: 0 };
    return { ...about, score, ...nothing, error: messageOf(error) };
  } finally {
    await world?.close();
  }
}

const labs = createLabWorlds();
const judgeModel = values.judge === undefined ? undefined : await loadJudge(values.judge);
const results: Result[] = [];
const skipped: string[] = [];
const repeats = Number(values.repeat);
try {
  for (const variant of variantsOf(values.model, values.variant))
    for (const evalCase of casesOf(positionals)) {
      const why = whySkipped(evalCase, variant.model);
      if (why !== undefined) {
        skipped.push(`- ${variant.name}, ${evalCase.name}: ${why}`);
        continue;
      }
      for (let i = 0; i < repeats; i += 1) {
        const result = await resultOf(evalCase, variant, i);
        results.push(result);
        const { score, error, steps, ms } = result;
        const word = error ?? (score.passed ? "passed" : "NOT passed");
        process.stderr.write(
          `${variant.name}: ${evalCase.name}: ${word}, ${steps} steps, ${ms} ms\n`,
        );
      }
    }
} finally {
  await labs.stop();
}
const told = skipped.length === 0 ? "" : `\n\nNot played:\n\n${skipped.join("\n")}`;
const report = `${reportText(results)}${told}`;
process.stdout.write(`${report}\n`);
if (values.report !== undefined) writeFileSync(values.report, `${report}\n`);
if (values.json !== undefined) {
  const whole = { summaries: summarise(results), results };
  writeFileSync(values.json, `${JSON.stringify(whole, undefined, 2)}\n`);
}
process.exitCode = results.length > 0 && results.every(({ score }) => score.passed) ? 0 : 1;
