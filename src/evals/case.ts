import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { outcome } from "../core/entry-fields.ts";
import { BotError, messageOf } from "../core/errors.ts";
import { findings } from "../core/finding.ts";
import { json } from "../core/tuple.ts";

/**
 * A case of an evaluation: a folder with `case.yaml` (what is asked, and what a good answer is) and `outputs.json` (what tools then
 * say, so that each run meets the same world). `script.json` has a model's turns, for runs without one.
 */

export const CASE_FILE = "case.yaml";
export const OUTPUTS_FILE = "outputs.json";
export const SCRIPT_FILE = "script.json";

/** What kind of a question it is: what its score says depends on it. */
const KINDS = [
  "fault",
  "healthy",
  "stale_alert",
  "ambiguous",
  "injection",
  "long",
  "recovery",
  "verification",
  "plan",
] as const;

export const VERDICTS = ["CONFIRMED", "LIKELY", "INCONCLUSIVE"] as const;
export type VerdictWord = (typeof VERDICTS)[number];

/** Of several, any will do. */
const anyOf = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

const expectation = z.strictObject({
  /** The words that may grade the answer's conclusion. Without it any may, or none. */
  verdict: z.array(z.enum(VERDICTS)).min(1).optional(),
  /** Each has to be in the answer, whatever its case; of a list any one of them. */
  finds: z.array(anyOf).default([]),
  /** None may be in it. */
  never: z.array(z.string().min(1)).default([]),
  /** Each is in what a call returned: the world is as the case says. */
  sees: z.array(anyOf).default([]),
  /** Tools whose calls it has to rest on: called, and cited. */
  cites: z.array(z.string()).default([]),
  /** Tools that have to be called, in this order, with others between. */
  calls: z.array(z.string()).default([]),
  /** Tools that may not run, also not when they were approved. */
  neverRuns: z.array(z.string()).default([]),
});

const limits = z.strictObject({
  steps: z.int().min(1).optional(),
  calls: z.int().min(0).optional(),
  tokens: z.int().min(1).optional(),
});

/** Real servers in place of frozen outputs. Nothing but the lab's own parts and faults can be named. */
const world = z.strictObject({
  lab: z.strictObject({
    parts: z.array(z.string()).min(1),
    /** What is broken; without it nothing is. */
    fault: z.string().optional(),
    /** It is noticed once this address of the lab answers with these words. */
    until: z
      .strictObject({
        url: z
          .string()
          .regex(/^\$[A-Z_]+(?:\/[\w/.-]*)?$/, "expected such as $PROMETHEUS_URL/api/v1/alerts"),
        has: z.string().min(1),
      })
      .optional(),
  }),
});

export type LabWorld = z.infer<typeof world>["lab"];

const evalCase = z.strictObject({
  about: z.string().min(1),
  kind: z.enum(KINDS),
  question: z.string().min(1),
  /** What was answered when the case was saved: for whoever writes down what a good answer is. */
  answered: z.string().optional(),
  /** Settings of `watchkeeper.yaml`, such as a small context window: none by which something is started or fetched. */
  settings: z.partialRecord(z.enum(["model", "budgets", "agent"]), json).default({}),
  /** Addresses that make tools available; nothing is asked there. */
  variables: z
    .record(
      z
        .string()
        .regex(
          /^(?!OPENAI|ANTHROPIC)[A-Z]+(?:_TARGET)?_(?:URL|HOST)$/,
          "no address of a system that tools ask",
        ),
      z.string(),
    )
    .default({}),
  /** Its addresses are `$SHOP_URL` and the like in the question and the script. */
  world: world.optional(),
  /** Cards are approved, by the one person who is there. Without it they stay. */
  approves: z.boolean().default(false),
  expect: expectation,
  limits: limits.default({}),
});

const output = z.strictObject({
  tool: z.string(),
  /** The call has at least these. */
  args: z.record(z.string(), json).default({}),
  /** Only once a call of this tool has run. */
  after: z.string().optional(),
  outcome: outcome.extract(["ok", "error"]).default("ok"),
  text: z.string(),
  findings: findings.default([]),
});

const turn = z.strictObject({
  say: z.string().default(""),
  calls: z
    .array(z.strictObject({ tool: z.string(), args: z.record(z.string(), json) }))
    .default([]),
});

export type FrozenOutput = z.infer<typeof output>;
export type ScriptedTurn = z.infer<typeof turn>;

/** How a scripted model goes on once the program's newest words to it have these. */
export interface Reaction {
  readonly word: string;
  readonly turns: readonly ScriptedTurn[];
}

export interface EvalCase extends z.infer<typeof evalCase> {
  /** Its folder's name. */
  readonly name: string;
  readonly outputs: readonly FrozenOutput[];
  /** Undefined: it has none, so only a model can run it. */
  readonly script: readonly ScriptedTurn[] | undefined;
  /** Each is taken once, the first that fits. */
  readonly reactions?: readonly Reaction[];
}

/** @throws BotError INPUT_INVALID with the file, and what is wrong in it */
export function readCase(folder: string): EvalCase {
  const read = <T>(file: string, schema: z.ZodType<T>, parsed: (text: string) => unknown): T => {
    try {
      return schema.parse(parsed(readFileSync(join(folder, file), "utf8")));
    } catch (error) {
      const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
      throw new BotError("INPUT_INVALID", `${basename(folder)}/${file}: ${why}`);
    }
  };
  const hasScript = readdirSync(folder).includes(SCRIPT_FILE);
  const said = read(CASE_FILE, evalCase, (text) => parse(text));
  return {
    name: basename(folder),
    ...said,
    outputs: said.world === undefined ? read(OUTPUTS_FILE, z.array(output), JSON.parse) : [],
    script: hasScript ? read(SCRIPT_FILE, z.array(turn).min(1), JSON.parse) : undefined,
  };
}

/** The case that this folder is, or those that it holds. @throws as `readCase`, and where there is none */
export function casesAt(folder: string): EvalCase[] {
  if (existsSync(join(folder, CASE_FILE))) return [readCase(folder)];
  const cases = existsSync(folder) ? readCases(folder) : [];
  if (cases.length > 0) return cases;
  throw new BotError("INPUT_INVALID", `${folder} is no case: there is no ${CASE_FILE} in it.`);
}

/** The cases of a folder by name. @throws as `readCase` */
export function readCases(folder: string): EvalCase[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => readCase(join(folder, name)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
