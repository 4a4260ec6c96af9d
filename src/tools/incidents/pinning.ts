import * as z from "zod";
import { formatUtc } from "../../core/instant.ts";
import { oneLine } from "../../core/text.ts";
import type { Change, Incident, Pin } from "../../incidents/incident.ts";
import { pinnedIn, quoteText } from "../../incidents/pins.ts";
import { refused } from "../refusal.ts";
import type { Quotable, ToolContext } from "../tool.ts";

/** Messages of the incident's thread, quoted in its timeline: somebody else's words, which nobody verified. */

const post = z.string().regex(/\S/, "is empty").max(200).optional();

export const pinFields = {
  pin: post.describe("A message of this thread to quote in the timeline, by its id"),
  unpin: post.describe("A quoted message to take out again"),
  /** The message as it stood when it was asked for: what is shown and approved is what is recorded. */
  quote: z
    .strictObject({
      message: z.string(),
      name: z.string(),
      account: z.string().optional(),
      at: z.int().nonnegative(),
      text: z.string(),
      link: z.string().optional(),
    })
    .optional()
    .meta({ internal: true }),
};
export type Pinning = z.infer<z.ZodObject<typeof pinFields>>;

/** With the message as it stands. @throws BotError PRECHECK_FAILED where its words are not known */
export async function withQuote<I extends Pinning>(
  given: I,
  { said, encoder }: Pick<ToolContext, "said" | "encoder">,
): Promise<I> {
  if (given.pin === undefined) return given;
  const quote = await quoteOf(await said?.(given.pin), encoder);
  if (quote === undefined) throw refused(NOT_SEEN);
  return { ...given, quote };
}

const NOT_SEEN =
  "I haven't read it. I know what people write in a thread from when I was asked there, and what stood above.";
const CHANGED = "The message was changed meanwhile. Pin it once more.";

async function quoteOf(
  found: Quotable | undefined,
  { encode, aside }: ToolContext["encoder"],
): Promise<Pin | undefined> {
  if (found?.text === undefined) return undefined;
  const { message, name, account, at, link } = found;
  return {
    message,
    name: oneLine(encode(name)),
    ...(account !== undefined && { account }),
    at,
    text: quoteText(await aside.encode(found.text)),
    ...(link !== undefined && { link }),
  };
}

/** What a card shows of it: all that would be recorded. */
export function quoteLines({ name, text, at, link }: Pin): { label: string; value: string }[] {
  return [
    { label: `Message of ${name}`, value: text },
    { label: "Said", value: formatUtc(at) },
    ...(link === undefined ? [] : [{ label: "Link", value: link }]),
  ];
}

/** What there is to record of it; nothing where it is as it should be. @throws BotError PRECHECK_FAILED */
export async function pinChange(
  incident: Incident,
  { pin, unpin, quote }: Pinning,
  { asker, encoder }: ToolContext,
): Promise<Pick<Change, "pin" | "unpin">> {
  const found = await asker?.said?.(pin ?? unpin ?? "");
  if (incident.thread !== asker?.key) throw refused(`${incident.id} was opened in another thread.`);
  if (quote !== undefined) {
    // Whoever pins it second does not bring it in again.
    if (pinnedIn(incident, quote.message) !== undefined) return {};
    if ((await quoteOf(found, encoder))?.text !== quote.text) throw refused(CHANGED);
    return { pin: quote };
  }
  const message = found?.message ?? unpin ?? "";
  const pinned = pinnedIn(incident, message);
  // Only who pinned it takes it out again.
  return pinned?.said.actor.account === asker.account ? { unpin: message } : {};
}
