import * as z from "zod";
import { isRecord } from "../src/core/json.ts";

/**
 * Recorded turns of a model, as JSON; docs/recordings.md describes the form. A recording is strict: what it answers must have been
 * foreseen, so a conversation that takes another way fails and says where.
 */

const call = z.strictObject({ tool: z.string(), args: z.record(z.string(), z.json()) });

const turn = z.strictObject({
  name: z.string(),
  when: z.strictObject({
    /** How many turns the model had before. */
    step: z.int().min(0),
    /** Who said what comes after them. */
    from: z.enum(["user", "tool"]),
    contains: z.array(z.string()).default([]),
    lacks: z.array(z.string()).default([]),
  }),
  say: z.string().default(""),
  calls: z.array(call).default([]),
});

const schema = z.strictObject({
  format: z.literal("watchkeeper-recording/1"),
  about: z.string(),
  variables: z.array(z.string()).default([]),
  turns: z.array(turn).min(1),
});

type Variables = Readonly<Record<string, string>>;
type RecordedTurn = z.infer<typeof turn>;

/** What the model is to answer to. */
export interface Situation {
  step: number;
  from: "user" | "tool";
  /** Everything that was said since the model's last turn. */
  text: string;
  /** The tools that it is offered. */
  tools: readonly string[];
}

/** The conversation took a way that was not recorded. */
export class OffRecord extends Error {}

export type Recording = ReturnType<typeof readRecording>;

/** @throws ZodError, SyntaxError when the text is no recording, Error when a variable has no value */
export function readRecording(json: string, variables: Variables) {
  const { about, turns, variables: named } = schema.parse(JSON.parse(json));
  const missing = named.filter((name) => variables[name] === undefined);
  if (missing.length > 0) throw new Error(`The recording needs ${missing.join(", ")}.`);
  const recorded = turns.map((each) => turn.parse(filled(each, variables)));

  /** @throws OffRecord unless exactly one turn fits */
  function answer(situation: Situation): RecordedTurn {
    const here = recorded.filter(
      ({ when }) => when.step === situation.step && when.from === situation.from,
    );
    const [found, another] = here.filter(({ when }) => misfits(when, situation.text).length === 0);
    if (found === undefined) throw new OffRecord(problemOf(here, situation));
    if (another !== undefined)
      throw new OffRecord(`Both "${found.name}" and "${another.name}" would fit.`);
    const unknown = found.calls.find(({ tool }) => !situation.tools.includes(tool));
    if (unknown !== undefined)
      throw new OffRecord(`"${found.name}" calls ${unknown.tool}, which is not offered.`);
    return found;
  }
  return { about, answer };
}

function filled(value: unknown, variables: Variables): unknown {
  if (typeof value === "string")
    return value.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => variables[name] ?? whole);
  if (Array.isArray(value)) return value.map((each) => filled(each, variables));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, filled(each, variables)]),
  );
}

function misfits({ contains, lacks }: RecordedTurn["when"], text: string): string[] {
  return [
    ...contains.filter((part) => !text.includes(part)).map((part) => `lacks ${quoted(part)}`),
    ...lacks.filter((part) => text.includes(part)).map((part) => `contains ${quoted(part)}`),
  ];
}

function problemOf(here: readonly RecordedTurn[], { step, from, text }: Situation): string {
  const where = `step ${step}, after ${from === "user" ? "a message" : "results"}`;
  if (here.length === 0) return `Nothing is recorded for ${where}.`;
  const why = here.map(({ name, when }) => `"${name}": it ${misfits(when, text).join(", ")}`);
  return `What was said at ${where} fits no recorded turn. ${why.join("; ")}.`;
}

function quoted(part: string): string {
  return JSON.stringify(part);
}
