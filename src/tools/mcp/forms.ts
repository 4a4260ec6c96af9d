import type { JsonObject } from "../../core/entry.ts";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import { createTurns } from "../../core/turns.ts";
import { within } from "../../core/time-limit.ts";
import { formHash, type ToolForm } from "../../team/tool-forms.ts";
import type { ToolParts } from "../integration.ts";
import type { McpServer } from "./servers.ts";

/** Which form of a tool is used: the one that was accepted, whatever its server says by now. */

/** A tool of a server that the configuration turns on. */
export interface Granted {
  server: McpServer;
  /** As the server calls it. */
  tool: string;
}

/** A start waits so long for servers whose tools it does not know yet. */
const SEE_MS = 15_000;

/** With all of its description and schema. */
const MAX_FORM = 48_000;

export type Forms = ReturnType<typeof createForms>;

/**
 * The accepted forms of the tools that the configuration names. What nobody accepted yet is asked of its server, and is accepted as
 * it is first seen: the configuration names it.
 */
export function createForms(
  servers: readonly McpServer[],
  { forms: store, stopped }: Pick<ToolParts, "forms" | "stopped">,
  seeMs = SEE_MS,
) {
  const known = new Map<string, ToolForm>();
  const problems = new Map<string, readonly string[]>();
  const turns = createTurns<"read">();
  /** By server: one that did not answer is not asked again at once. */
  const askAt = new Map<string, number>();

  async function readAgain(): Promise<void> {
    await turns("read", async () => {
      // Where tools are only listed there is no store.
      const forms = await ifThere(async () => store().read());
      for (const form of forms ?? []) known.set(keyOf(form.server, form.tool), form);
    });
  }

  async function see(server: McpServer, missing: readonly string[]): Promise<void> {
    const found: string[] = [];
    try {
      const { tools } = await within(seeMs, stopped, (signal) => server.session.list(signal), 0);
      for (const tool of missing) {
        const form = tools.get(tool);
        const why = whyUnfit(tool, form);
        if (form === undefined || why !== undefined) found.push(`${server.name}: ${why}`);
        else await firstSeen({ server: server.name, tool, form, by: undefined });
      }
      await readAgain();
    } catch (error) {
      found.push(`${server.name}: ${missing.join(", ")} cannot be offered. ${messageOf(error)}`);
    }
    problems.set(server.name, found);
  }

  async function firstSeen(seen: Omit<ToolForm, "hash" | "at">): Promise<void> {
    // Whoever only looks at the store, as `doctor` does, writes nothing there.
    const isKept = await ifThere(async () => (await store().accept(seen, undefined), true));
    const { server, tool, form } = seen;
    if (isKept !== true)
      known.set(keyOf(server, tool), { ...seen, hash: formHash(form), at: Date.now() });
  }

  return {
    accepted: ({ server, tool }: Granted) => known.get(keyOf(server.name, tool)),
    /** What is not offered and why. */
    problems: () => [...problems.values()].flat(),
    /**
     * Looks at the store, and asks each server whose tools it does not know all of. The first time it waits for their answers;
     * later ones are there when it is called again.
     */
    async look(): Promise<void> {
      await readAgain();
      const isFirst = askAt.size === 0;
      const asking = servers.flatMap((server) => {
        const { name, settings } = server;
        const missing = Object.keys(settings.tools).filter((tool) => !known.has(keyOf(name, tool)));
        if (missing.length === 0) problems.delete(name);
        if (missing.length === 0 || performance.now() < (askAt.get(name) ?? 0)) return [];
        askAt.set(name, performance.now() + seeMs);
        return [see(server, missing)];
      });
      if (isFirst) await Promise.all(asking);
    },
    /** From now on its form is this one. @throws BotError PRECHECK_FAILED */
    async accept(
      { server, tool }: Granted,
      { form, by, replaces }: Pick<ToolForm, "form" | "by"> & { replaces: string | undefined },
    ): Promise<void> {
      await store().accept({ server: server.name, tool, form, by }, replaces);
      await readAgain();
    },
    /** What its server says by now, at most `maxAgeMs` ago; undefined: it has no such tool any more. */
    async current({ server, tool }: Granted, signal: AbortSignal, maxAgeMs: number) {
      return (await server.session.list(signal, maxAgeMs)).tools.get(tool);
    },
    /**
     * @throws BotError NOT_AVAILABLE when the server's tool is no longer what was accepted, here or by another process
     */
    async checkSame(granted: Granted, signal: AbortSignal, maxAgeMs: number): Promise<void> {
      const { server, tool } = granted;
      const now = await this.current(granted, signal, maxAgeMs);
      if (now === undefined)
        throw new BotError("NOT_AVAILABLE", `${server.name} has no tool ${tool} any more.`);
      const hash = formHash(now);
      if (hash === this.accepted(granted)?.hash) return;
      await readAgain();
      if (hash === this.accepted(granted)?.hash) {
        const text = `Another form of ${tool} was accepted meanwhile; ask for it once more.`;
        throw new BotError("NOT_AVAILABLE", text);
      }
      throw new BotError("NOT_AVAILABLE", changedText(server.name, tool));
    },
  };
}

async function ifThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isBotError(error, "NOT_AVAILABLE")) throw error;
    return undefined;
  }
}

function whyUnfit(tool: string, form: JsonObject | undefined): string | undefined {
  if (form === undefined) return `it has no tool ${tool}`;
  return JSON.stringify(form).length > MAX_FORM
    ? `${tool} cannot be offered: it takes more than ${MAX_FORM} characters`
    : undefined;
}

function changedText(server: string, tool: string): string {
  return `${server} changed its tool ${tool} since it was accepted, so it is not used. \`mcp accept ${server} ${tool}\` shows what is other.`;
}

function keyOf(server: string, tool: string): string {
  return `${server} ${tool}`;
}
