import type { Item } from "./decode.ts";
import * as z from "zod";
import type { Preview } from "../core/entry.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput, type Verdict } from "./tool.ts";
import { absent, orRefused, refused } from "./refusal.ts";
import type { Rest } from "./rest.ts";
import { nowOf } from "./since.ts";
import type { Endpoint } from "./http.ts";

/** Writes to things of a service: each to the thing as it was when the call was pinned, or not at all. */

/** What is compared before the call is made: a SHA, an attempt, a state. */
const beforeField = z
  .record(z.string(), z.union([z.string(), z.number()]))
  .optional()
  .meta({ internal: true });
export type Before = Record<string, string | number>;

/** The arguments that say where, of which a service has one. */
interface Places {
  repository?: string | undefined;
  project?: string | undefined;
  instance?: string | undefined;
}

/** A service whose things are changed. `P`: what a call finds them by, such as a repository. */
export interface Service<P> {
  /** Its folder's name. */
  name: string;
  endpoints: Readonly<Record<string, Endpoint>>;
  /** The argument that says where. */
  fields: z.ZodRawShape;
  /** @throws BotError INPUT_INVALID */
  place(given: Places): P;
  rest(place: P, ctx: ToolContext): Rest;
  /** That argument, written out, and as a card shows it. */
  pinned(place: P): { args: object; lines: Preview["lines"] };
}

/** Everything that a step of a write has at hand. */
export interface WriteContext<P> {
  at: P;
  rest: Rest;
  ctx: ToolContext;
  /** What the call is about, as it is now. */
  item: Item;
  /** ms since 1970. */
  now: number;
}

type Given<S extends z.ZodRawShape> = z.infer<z.ZodObject<S>> &
  Places & { before?: Before | undefined };

interface Write<P, S extends z.ZodRawShape, I = Given<S>> {
  name: string;
  summary: string;
  description: string;
  shape: S;
  title(input: I): string;
  resource(input: I, at: P): string;
  /** What it is done to. @throws BotError INPUT_INVALID */
  find(input: I, at: P, rest: Rest): Promise<Item>;
  /** What must be the same when it is done. */
  before(item: Item): Before;
  /** Why it may not be done to this. @throws BotError PRECHECK_FAILED */
  check(input: I, step: WriteContext<P>): Promise<void> | void;
  preview(input: I, step: WriteContext<P>): Promise<Preview> | Preview;
  run(input: I, step: WriteContext<P>): Promise<ToolOutput>;
  /** `item` undefined: it is not there any more. */
  verify(
    input: I,
    step: Omit<WriteContext<P>, "item"> & { item: Item | undefined; startedAt: number },
  ): Promise<Verdict>;
}

/** Clocks differ. */
export const CLOCK_MS = 60_000;

/** A write to one thing: shown as it is, done only while it is so, read back. */
export function defineWrite<P, S extends z.ZodRawShape>(
  service: Service<P>,
  write: Write<P, S>,
): Tool<Given<S>> {
  type I = Given<S>;
  const { name, summary, description } = write;
  const input: z.ZodType = z.strictObject({
    ...service.fields,
    ...write.shape,
    before: beforeField,
  });

  async function begin(given: I, ctx: ToolContext): Promise<WriteContext<P>> {
    const at = service.place(given);
    const rest = service.rest(at, ctx);
    const item = await write.find(given, at, rest);
    return { at, rest, ctx, item, now: nowOf(ctx) };
  }

  /** @throws BotError PRECHECK_FAILED */
  async function checked(given: I, ctx: ToolContext): Promise<WriteContext<P>> {
    const step = await begin(given, ctx);
    const now = write.before(step.item);
    for (const [key, was] of Object.entries(given.before ?? {})) {
      if (now[key] === was) continue;
      const text = `It has changed since it was shown: ${key} was ${was} and is ${now[key] ?? "unknown"}.`;
      throw refused(text);
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
    title(given) {
      const place = given.repository ?? given.project;
      return `${write.title(given)}${place === undefined ? "" : ` in ${place}`}`;
    },
    endpoints: service.endpoints,
    timeoutMs: 40_000,
    resource: (given) => `${service.name} ${write.resource(given, service.place(given))}`,
    async pin(given, ctx) {
      if (given.before !== undefined) return given;
      const { item, at } = await begin(given, ctx);
      return Object.assign({}, given, service.pinned(at).args, { before: write.before(item) });
    },
    async precheck(given, ctx) {
      await checked(given, ctx);
    },
    async preview(given, ctx) {
      const step = await begin(given, ctx);
      const shown = await write.preview(given, step);
      return { ...shown, lines: [...service.pinned(step.at).lines, ...shown.lines] };
    },
    run: (given, ctx) => orRefused(async () => write.run(given, await checked(given, ctx))),
    async verify(given, ctx, startedAt) {
      const at = service.place(given);
      const rest = service.rest(at, ctx);
      const item = await write.find(given, at, rest).catch(absent);
      return write.verify(given, { at, rest, ctx, item, startedAt, now: Date.now() });
    },
  });
}

export const gone: Verdict = { verdict: "unknown", evidence: "it is not there any more." };
