import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import {
  type JournalKey,
  platformName,
  transportOf,
  tryJournalKey,
} from "../../core/journal-key.ts";
import type { Mirroring } from "../integration.ts";
import { refused } from "../refusal.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";

const TOOL_MS = 20_000;

const to = z
  .string()
  .trim()
  .regex(
    /^[a-z]+:[A-Za-z0-9]+:[A-Za-z0-9]+$/,
    "expected slack:T1:C1 or discord:1122:3344, with ids",
  )
  .describe("The channel on the other platform: slack:T1:C1 or discord:1122:3344, with ids")
  .meta({ examples: ["discord:1122:3344"] });

/**
 * Shows the thread in a channel of another platform too. It tells people there what is said here, so it asks like every write:
 * by default a full member of the thread's channel approves it, and `access` says who may ask for it at all. Whoever reads
 * the other place may decide what is open here, so who wants it there does not approve that alone.
 */
export function createMirror(mirroring: () => Mirroring): Tool {
  /** `#ops on Discord`, and who reads it. Who isn't in a private channel learns nothing of it. */
  async function describe(channel: string) {
    const { name, isPublic, hasAny } = await mirroring().describe(keyOf(channel));
    const platform = platformName(keyOf(channel));
    return {
      isPublic,
      hasAny,
      name: `${(isPublic ? name : undefined) ?? channel} on ${platform}`,
      readers: isPublic
        ? `everybody there (${platform}), since the channel is public`
        : "its members",
    };
  }
  return defineTool({
    name: "mirror",
    summary: "shows this thread on a second platform too, with its cards",
    description:
      "Shows this thread in a channel of another chat platform too: from then on messages, answers and approval cards stand in both. Use it only when somebody asks for that.",
    input: z.strictObject({ to }),
    effect: "write",
    byOthers: true,
    timeoutMs: TOOL_MS,
    title: ({ to: channel }) => `Show this thread on ${platformName(keyOf(channel))} too`,
    resource: ({ to: channel }) => `mirror ${channel}`,
    async precheck({ to: channel }) {
      await describe(channel);
    },
    async preview({ to: channel }) {
      const { name, readers } = await describe(channel);
      return {
        lines: [
          { label: "Where", value: name },
          { label: "Readers", value: readers },
          { label: "Shown there", value: "all that is said here from now on, and open cards" },
          { label: "May decide there", value: "whoever the cards let: a person counts once" },
        ],
        blastRadius: `Whoever reads ${name} reads this thread from now on, and what it looks up.`,
        undo: "unmirror ends it. What was shown there by then stays.",
      };
    },
    async run({ to: channel }, ctx) {
      const { key } = asking(ctx);
      const { encode } = ctx.encoder;
      const place = keyOf(channel);
      await checkPlace(mirroring(), key, place);
      const { name, isPublic, hasAny } = await describe(channel);
      const { account, approvers = [] } = asking(ctx);
      if (!isPublic && !(await hasAny([account, ...approvers]))) throw refused(NOT_IN_IT);
      const view = await mirroring().open(key, channel, encode(await greeting(mirroring(), key)));
      const address = mirroring().link(view);
      const where = address === undefined ? "" : `: ${address}`;
      return {
        text: `This thread is shown in ${name} too${where}`,
        view: { kind: "view_added", view, channel },
      };
    },
  });
}

/** Ends that. Nothing more is told to anybody, so nobody has to approve it. */
export function createUnmirror(mirroring: () => Mirroring): Tool {
  return defineTool({
    name: "unmirror",
    summary: "stops showing this thread on a second platform",
    description: "Ends that this thread is shown on a second chat platform.",
    input: z.strictObject({}),
    effect: "write",
    own: true,
    timeoutMs: TOOL_MS,
    title: () => "Show this thread only here",
    resource: () => "mirror",
    preview: async () => ({
      lines: [],
      blastRadius: "The other place is told where the thread goes on.",
      undo: "Mirror it again.",
    }),
    async run(_, ctx) {
      const [view] = await mirroring().viewsOf(asking(ctx).key);
      if (view === undefined) throw refused("This thread is shown in no other place.");
      const text = `This thread is no longer shown on ${platformName(view)}.`;
      return { text, view: { kind: "view_removed", view } };
    },
  });
}

const NOT_IN_IT =
  "That channel is private, and neither who asked for this nor who approved it is known to be in it. Whoever is has to ask or approve, and `people` in the configuration has to name their account there.";

/** @throws BotError PRECHECK_FAILED */
async function checkPlace(mirroring: Mirroring, key: JournalKey, place: JournalKey): Promise<void> {
  const platform = platformName(place);
  if (!mirroring.isChat(key)) throw refused("Only a thread on Slack or Discord can be mirrored.");
  const shown = [key, ...(await mirroring.viewsOf(key))];
  if (shown.some((each) => transportOf(each) === transportOf(place)))
    throw refused(`This thread is on ${platform} already; it can have one place there.`);
}

async function greeting(mirroring: Mirroring, key: JournalKey): Promise<string> {
  const platform = platformName(key);
  const name = await mirroring.nameOf(key).catch(() => undefined);
  const where =
    name === undefined ? `a thread on ${platform}` : `a thread in ${name} on ${platform}`;
  return `Mirror of ${where}: what is said here or there is shown in both, and its cards can be decided in either.`;
}

function keyOf(channel: string): JournalKey {
  const key = tryJournalKey(channel);
  if (key !== undefined) return key;
  throw new BotError("INPUT_INVALID", `${channel} names no channel.`);
}

function asking({ asker }: ToolContext): NonNullable<ToolContext["asker"]> {
  if (asker !== undefined) return asker;
  throw new BotError("NOT_AVAILABLE", "A thread can be mirrored only while the tool is run.");
}
