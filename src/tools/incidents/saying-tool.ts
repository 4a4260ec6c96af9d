import type * as z from "zod";
import type { Ledger } from "../../incidents/incident.ts";
import { defineTool, type Tool } from "../tool.ts";
import { askedIn, changeOf, type Fields, previewOf, readBack } from "./asked.ts";
import { headline, recordText } from "./record-text.ts";

/** What is said of an incident that is there. */
interface SayingTool<I> extends Pick<Tool<I>, "name" | "summary" | "description"> {
  input: z.ZodType<I>;
  /** Begins the result, before the incident's headline. */
  done: string;
  say: Ledger["update"];
}

/** A tool by which the record of one incident grows; a repeated call says nothing twice. */
export function createSayingTool<I extends Fields & { id: string }>(
  ledger: () => Ledger,
  { input, done, say, ...names }: SayingTool<I>,
): Tool<I> {
  return defineTool<I>({
    ...names,
    input,
    effect: "write",
    own: true,
    timeoutMs: 15_000,
    resource: ({ id }) => `incident ${id}`,
    preview: async (fields) => previewOf(fields),
    verify: ({ id }, ctx, startedAt) => readBack(ledger(), ctx, startedAt, id),
    async run({ id, ...fields }, ctx) {
      const { saying, here } = await askedIn(ctx);
      const incident = await say(saying, id, await changeOf(fields, here));
      return { text: `${done} ${headline(incident)}.\n${recordText(incident, here.zone)}` };
    },
  });
}
