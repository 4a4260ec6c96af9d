import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { counted } from "../../core/text.ts";
import type { Viewer } from "../../core/viewer.ts";
import type { MemoryItem } from "../../memory/item.ts";
import type { Memory } from "../../memory/memory.ts";
import { itemText } from "../../memory/words.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { askedIn } from "./asked.ts";

const TOOL_MS = 15_000;
/** Notes that are listed where it is not said which one is meant. */
const MOST_OFFERED = 10;

/** Keeps a note for everybody who may read the thread. */
export function createRemember(memory: () => Memory): Tool {
  return defineTool({
    name: "remember",
    summary: "keeps a note that later threads are told of",
    description:
      "Keeps a note for this team that later threads are told of: a fact about their systems or how they work, in one or two sentences that make sense alone. Use it when people ask for it, or tell you something that will matter again. Never secrets, and nothing that a tool can look up.",
    input: z.strictObject({
      text: z
        .string()
        .regex(/\S/, "is empty")
        .max(1_000)
        .describe("The note, a sentence or two")
        .meta({ examples: ["web-2 is drained on Sundays from 02:00 to 04:00 UTC"] }),
    }),
    effect: "write",
    own: true,
    answeredBy: { kind: "text" },
    title: ({ text }) => `Remember: ${text}`,
    timeoutMs: TOOL_MS,
    resource: () => "notes",
    preview: async ({ text }) => ({
      lines: [{ label: "Note", value: text }],
      blastRadius: "Changes only this program's own notes.",
      undo: "forget takes it away again.",
    }),
    async verify(_, { asker }, startedAt) {
      const noted =
        asker && (await memory().noted({ thread: asker.key, call: asker.call, at: startedAt }));
      return noted === undefined
        ? { verdict: "unknown", evidence: "there is no note of this call" }
        : { verdict: "done", evidence: "the note is there." };
    },
    async run({ text }, ctx) {
      const { item, isNew } = await memory().note(await askedIn(ctx), text);
      if (!isNew) return { text: `That is known already: ${itemText(item)}` };
      return {
        text: `Noted as ${item.id}: \`forget ${item.id}\` takes it away.`,
        undo: { tool: "forget", args: { id: item.id } },
      };
    },
  });
}

/** Takes something out of memory, for everybody. */
export function createForget(memory: () => Memory): Tool {
  const found = async ({ id, text = "" }: Named, ctx: ToolContext) => {
    const saying = await askedIn(ctx);
    const one = id === undefined ? undefined : await memory().get(id, saying);
    if (id === undefined) return memory().notesWith(text, saying);
    return one === undefined ? [] : [one];
  };
  return defineTool({
    name: "forget",
    summary: "takes a note or a record of an earlier thread out of memory",
    description:
      "Takes a note, or the record of what an earlier thread found, out of memory, when a person asks for it. Give its name, as notes and recall list it. It is shown and found no more.",
    input: z
      .strictObject({
        id: z
          .string()
          .regex(
            /^\s*m-[a-z2-7]{4,16}\s*$/i,
            "expected a name such as m-k3qa7xw2ab; notes lists them",
          )
          .optional()
          .describe("Its name, as notes and recall list it")
          .meta({ examples: ["m-k3qa7xw2ab"] }),
        text: z
          .string()
          .regex(/\S/, "is empty")
          .max(500)
          .optional()
          .describe("Words of the note, in a command that a person typed; models give its name"),
        note: z.string().optional().describe("What it says").meta({ internal: true }),
      })
      .refine(({ id, text }) => (id === undefined) !== (text === undefined), {
        path: ["id"],
        error: "expected either id or text",
      }),
    effect: "write",
    own: true,
    answeredBy: { kind: "text" },
    title: ({ id, text }) => `Forget ${id ?? `the note about ${text}`}`,
    timeoutMs: TOOL_MS,
    resource: () => "notes",
    pin: async (named, { viewer, typedBy }) =>
      viewer === undefined ? named : whichOne(memory(), named, await viewer(), typedBy),
    preview: async ({ id, text, note }) => ({
      lines: [
        id === undefined
          ? { label: "Looks for", value: `the note with all of these words: ${text}` }
          : { label: "Forgets", value: note ?? id },
      ],
      blastRadius: "Nobody finds it any more. Changes only this program's own memory.",
      undo: "It can only be noted once more.",
    }),
    async verify(named, ctx) {
      const what = named.id ?? "a note with these words";
      return (await found(named, ctx)).length === 0
        ? { verdict: "done", evidence: `${what} is not remembered.` }
        : { verdict: "unknown", evidence: `${what} is still remembered` };
    },
    async run({ id, text = "" }, ctx) {
      const saying = await askedIn(ctx);
      if (id !== undefined) return forgotten(await memory().forget(saying, id));
      // Words alone take nothing away: nobody was shown which note has them.
      const notes = await memory().notesWith(text, saying);
      const [first] = notes;
      const which = `of the words ${JSON.stringify(text)}`;
      if (first === undefined)
        return { text: `I forgot nothing: no note here has all ${which}. \`notes\` lists them.` };
      const have = notes.length === 1 ? "one note has" : `${notes.length} notes have`;
      const head = `I forgot nothing: ${have} all ${which}. Say which one, such as \`forget ${first.id}\`:`;
      return { text: [head, ...notes.slice(0, MOST_OFFERED).map(itemText)].join("\n") };
    },
  });
}

interface Named {
  id?: string | undefined;
  text?: string | undefined;
  note?: string | undefined;
}

/** What exactly is forgotten, for the card. Words stand for the one note that has them, if whoever typed them wrote it. */
async function whichOne(
  memory: Memory,
  named: Named,
  viewer: Viewer,
  typedBy: string | undefined,
): Promise<Named> {
  const { id, text = "" } = named;
  if (id !== undefined) {
    const item = await memory.get(id, viewer);
    return { id, ...(item !== undefined && { note: itemText(item) }) };
  }
  if (typedBy === undefined)
    throw new BotError("INPUT_INVALID", "Give the note's name as `id`: `notes` lists them.");
  const [only, ...others] = await memory.notesWith(text, viewer);
  const isOwn = only?.what.kind === "note" && only.what.by.account === typedBy;
  return isOwn && others.length === 0 ? { id: only.id, note: itemText(only) } : { text };
}

function forgotten(item: MemoryItem): { text: string } {
  return { text: `Forgotten: ${itemText(item)}` };
}

/** Lists what people had noted. */
export function createNotes(memory: () => Memory): Tool {
  return defineTool({
    name: "notes",
    summary: "lists the notes that are kept, or those about something",
    description:
      "Lists the notes that people had kept, the newest first, or those about something, with who wrote them. Notes are people's words: true when they were written, to be verified.",
    input: z.strictObject({
      text: z.string().max(500).optional().describe("What they are to be about"),
      limit: z.int().min(1).max(50).default(20).describe("How many to show at the most"),
    }),
    effect: "read",
    doing: ({ text }) => `Looking up notes${text === undefined ? "" : ` about ${text}`}`,
    answeredBy: { kind: "text" },
    timeoutMs: TOOL_MS,
    async run({ text = "", limit }, ctx) {
      const viewer = await askedIn(ctx);
      const wanted = { kind: "note", limit } as const;
      const about = text.trim();
      const notes =
        about === ""
          ? await memory().newest(viewer, wanted)
          : (await memory().search(about, viewer, wanted)).map(({ item }) => item);
      return { text: listText(notes, about) };
    },
  });
}

function listText(notes: readonly MemoryItem[], about: string): string {
  const which = about === "" ? "" : ` about ${JSON.stringify(about)}`;
  if (notes.length === 0) return `There are no notes${which} here. \`remember: …\` keeps one.`;
  return [`${counted(notes.length, "note")}${which}:`, ...notes.map(itemText)].join("\n");
}
