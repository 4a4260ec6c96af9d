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

export type Forms = Awaited<ReturnType<typeof readForms>>;

/**
 * The accepted forms of the tools that the configuration names. What nobody accepted yet is asked of its server, and is accepted as
 * it is first seen: the configuration names it.
 */
export async function readForms(
  servers: readonly McpServer[],
  { forms: store, stopped, warn }: Pick<ToolParts, "forms" | "stopped" | "warn">,
  seeMs = SEE_MS,
) {
  const known = new Map<string, ToolForm>();
  const turns = createTurns<"read">();

  async function readAgain(): Promise<void> {
    await turns("read", async () => {
      for (const form of await store().read()) known.set(keyOf(form.server, form.tool), form);
    });
  }

  async function see(server: McpServer): Promise<void> {
    const missing = Object.keys(server.settings.tools).filter(
      (tool) => !known.has(keyOf(server.name, tool)),
    );
    if (missing.length === 0) return;
    try {
      const { tools } = await within(seeMs, stopped, (signal) => server.session.list(signal), 0);
      for (const tool of missing) {
        const form = tools.get(tool);
        if (form === undefined) warn(`mcp ${server.name}: it has no tool ${tool}`);
        else if (JSON.stringify(form).length > MAX_FORM)
          warn(
            `mcp ${server.name}: ${tool} cannot be offered: it takes more than ${MAX_FORM} characters`,
          );
        else await firstSeen({ server: server.name, tool, form, by: undefined });
      }
      await readAgain();
    } catch (error) {
      warn(`mcp ${server.name}: ${missing.join(", ")} cannot be offered. ${messageOf(error)}`);
    }
  }

  async function firstSeen(seen: Omit<ToolForm, "hash" | "at">): Promise<void> {
    try {
      await store().accept(seen, undefined);
    } catch (error) {
      // Whoever only looks at the store, as `doctor` does, writes nothing there.
      if (!isBotError(error, "NOT_AVAILABLE")) throw error;
      const { server, tool, form } = seen;
      known.set(keyOf(server, tool), { ...seen, hash: formHash(form), at: Date.now() });
    }
  }

  // Where tools are only listed there is no store.
  await readAgain().catch((error: unknown) => {
    if (!isBotError(error, "NOT_AVAILABLE")) throw error;
  });
  await Promise.all(servers.map(see));

  return {
    accepted: ({ server, tool }: Granted) => known.get(keyOf(server.name, tool)),
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
      const text = `${server.name} changed its tool ${tool} since it was accepted, so it is not used. \`mcp accept ${server.name} ${tool}\` shows what is other.`;
      throw new BotError("NOT_AVAILABLE", text);
    },
  };
}

function keyOf(server: string, tool: string): string {
  return `${server} ${tool}`;
}
