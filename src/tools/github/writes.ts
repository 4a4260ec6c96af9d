import * as z from "zod";
import type { Preview } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput, type Verdict } from "../tool.ts";
import { orRefused } from "../refusal.ts";
import type { Rest } from "../rest.ts";
import { type Forge, type Repository, repositoryArgument } from "./forge.ts";

/** What the writes share: the thing as it was when the call was pinned, without which nothing is done to it. */

/** What is compared before the call is made: a SHA, an attempt, a state. */
const beforeField = z
  .record(z.string(), z.union([z.string(), z.number()]))
  .optional()
  .meta({ internal: true });
export type Before = Record<string, string | number>;

type Item = Record<string, unknown>;

/** Everything that a step of a write has at hand. */
export interface Step {
  at: Repository;
  rest: Rest;
  ctx: ToolContext;
  /** What the call is about, as it is now. */
  item: Item;
  /** ms since 1970. */
  now: number;
}

type Given<S extends z.ZodRawShape> = z.infer<z.ZodObject<S>> & {
  repository?: string | undefined;
  before?: Before | undefined;
};

interface Write<S extends z.ZodRawShape, I = Given<S>> {
  name: string;
  summary: string;
  description: string;
  shape: S;
  resource(input: I, at: Repository): string;
  /** What it is done to. @throws BotError INPUT_INVALID */
  find(input: I, at: Repository, rest: Rest): Promise<Item>;
  /** What must be the same when it is done. */
  before(item: Item): Before;
  /** Why it may not be done to this. @throws BotError PRECHECK_FAILED */
  check(input: I, step: Step): Promise<void> | void;
  preview(input: I, step: Step): Promise<Preview> | Preview;
  run(input: I, step: Step): Promise<ToolOutput>;
  /** `item` undefined: it is not there any more. */
  verify(
    input: I,
    step: Omit<Step, "item"> & { item: Item | undefined; startedAt: number },
  ): Promise<Verdict>;
}

/** Clocks differ. */
export const CLOCK_MS = 60_000;

/** A write to one thing of a repository: shown as it is, done only while it is so, read back. */
export function defineWrite<S extends z.ZodRawShape>(
  forge: Forge,
  write: Write<S>,
): Tool<Given<S>> {
  type I = Given<S>;
  const { name, summary, description } = write;
  const input: z.ZodType = z.strictObject({
    repository: repositoryArgument(forge),
    ...write.shape,
    before: beforeField,
  });

  async function begin(given: I, ctx: ToolContext): Promise<Step> {
    const at = forge.find(given.repository);
    const rest = forge.rest(at, ctx);
    const item = await write.find(given, at, rest);
    return { at, rest, ctx, item, now: ctx.asker?.startedAt ?? Date.now() };
  }

  /** @throws BotError PRECHECK_FAILED */
  async function checked(given: I, ctx: ToolContext): Promise<Step> {
    const step = await begin(given, ctx);
    const now = write.before(step.item);
    for (const [key, was] of Object.entries(given.before ?? {})) {
      if (now[key] === was) continue;
      const text = `It has changed since it was shown: ${key} was ${was} and is ${now[key] ?? "unknown"}.`;
      throw new BotError("PRECHECK_FAILED", text);
    }
    await write.check(given, step);
    return step;
  }

  return defineTool<I>({
    name,
    summary,
    description,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler does not see through a spread of a generic
    input: input as z.ZodType<I>,
    effect: "write",
    endpoints: forge.endpoints,
    timeoutMs: 40_000,
    resource: (given) => `github ${write.resource(given, forge.find(given.repository))}`,
    async pin(given, ctx) {
      if (given.before !== undefined) return given;
      const { item, at } = await begin(given, ctx);
      return { ...given, repository: at.label, before: write.before(item) };
    },
    async precheck(given, ctx) {
      await checked(given, ctx);
    },
    async preview(given, ctx) {
      const step = await begin(given, ctx);
      const shown = await write.preview(given, step);
      return { ...shown, lines: [{ label: "Repository", value: step.at.label }, ...shown.lines] };
    },
    run: (given, ctx) => orRefused(async () => write.run(given, await checked(given, ctx))),
    async verify(given, ctx, startedAt) {
      const at = forge.find(given.repository);
      const rest = forge.rest(at, ctx);
      const item = await write.find(given, at, rest).catch(absent);
      return write.verify(given, { at, rest, ctx, item, startedAt, now: Date.now() });
    },
  });
}

function absent(error: unknown): undefined {
  if (error instanceof BotError && error.code === "INPUT_INVALID") return undefined;
  throw error;
}

export function refused(text: string): BotError {
  return new BotError("PRECHECK_FAILED", text);
}

export const gone: Verdict = { verdict: "unknown", evidence: "it is not there any more." };
