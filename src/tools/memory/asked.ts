import { BotError } from "../../core/errors.ts";
import { viewerOf } from "../../core/viewer.ts";
import type { Saying } from "../../memory/memory.ts";
import type { ToolContext } from "../tool.ts";

/** Who asks, and what they may see. @throws BotError NOT_AVAILABLE outside a run, and what the platform throws: then nothing is shown or written */
export async function askedIn({ asker }: ToolContext): Promise<Saying> {
  if (asker === undefined)
    throw new BotError("NOT_AVAILABLE", "Memory can be looked at only while the tool is run.");
  const { key: thread, call, account, name, principals, link, startedAt: at } = asker;
  const [viewer, outside] = await Promise.all([viewerOf(asker), asker.outside()]);
  return { ...viewer, actor: { account, name }, principals, thread, call, link, outside, at };
}
