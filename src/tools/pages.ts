import { messageOf } from "../core/errors.ts";
import { within } from "../core/time-limit.ts";
import type { CallParts } from "./prepare-call.ts";
import { refused } from "./refusal.ts";
import { createContext } from "./tool-context.ts";
import type { Pager, PageRequest, PageTarget, Tool, ToolContext } from "./tool.ts";

/** Calling people to actions that wait for them, by the pager that is configured. */

const TIMEOUT_MS = 40_000;

/** The first that has one, of these tools. */
export function pagerIn(tools: readonly Tool[]): Pager | undefined {
  return tools.find(({ pager }) => pager !== undefined)?.pager;
}

export const NO_PAGER = "PagerDuty is not configured: set PAGERDUTY_TOKEN and PAGERDUTY_FROM.";

export function createPages(parts: CallParts & { tools: readonly Tool[] }) {
  const use = async <T>(
    signal: AbortSignal,
    work: (pager: Pager, ctx: ToolContext) => Promise<T>,
  ): Promise<T> => {
    const tool = parts.tools.find(({ pager }) => pager !== undefined);
    if (tool?.pager === undefined) throw refused(NO_PAGER);
    const { pager } = tool;
    return within(TIMEOUT_MS, signal, async (inner) =>
      work(pager, createContext(parts, tool, { signal: inner, args: {} })),
    );
  };

  return {
    /** As people know it: `Mail through PagerDuty`. */
    nameOf: ({ service }: PageTarget): string =>
      parts.encoder.encode(`${service} through ${pagerIn(parts.tools)?.title ?? "a pager"}`),

    /** @throws BotError as `Pager.open` */
    open: async (page: PageRequest, signal: AbortSignal) =>
      use(signal, async (pager, ctx) => pager.open(page, ctx)),

    /** @throws BotError as `Pager.close` */
    close: async (page: Parameters<Pager["close"]>[0], signal: AbortSignal) =>
      use(signal, async (pager, ctx) => pager.close(page, ctx)),

    /** Never throws. */
    async examine(to: PageTarget, signal: AbortSignal): Promise<{ ok: boolean; text: string }> {
      try {
        return { ok: true, text: await use(signal, async (pager, ctx) => pager.examine(to, ctx)) };
      } catch (error) {
        return { ok: false, text: parts.encoder.encode(messageOf(error)) };
      }
    },
  };
}
