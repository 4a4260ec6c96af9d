import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Entry, JsonObject } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";
import { createFollower } from "./follow.ts";

/** `team:mcp`: a record like an incident's, which anyone folds and nobody has to work on. */
export const TEAM_MCP: JournalKey = "team:mcp";

/** A tool of another server in the form that it may be used in. */
export type ToolForm = Pick<Entry<"tool_form">, "server" | "tool" | "hash" | "form" | "by" | "at">;

export function formHash(form: JsonObject): string {
  return hash("sha256", canonicalize(form) ?? "", "hex");
}

export type ToolForms = ReturnType<typeof createToolForms>;

/** The accepted forms, the same for every process of the store. */
export function createToolForms(journal: Pick<Journal, "read" | "post">) {
  const entries = createFollower<Entry<"tool_form">[]>(
    journal,
    TEAM_MCP,
    () => [],
    (forms, entry) => void (entry.kind === "tool_form" && forms.push(entry)),
  );

  const read = async (): Promise<ToolForm[]> => [
    ...new Map((await entries()).map((entry) => [`${entry.server} ${entry.tool}`, entry])).values(),
  ];

  return {
    /** The newest of each tool. @throws BotError STORE_NEWER, and what the store throws */
    read,
    /**
     * From now on the tool is used in this form. `replaces`: the hash of the form that whoever accepts it has seen as the one so
     * far. @throws BotError PRECHECK_FAILED when it is another one by now
     */
    async accept(
      accepted: Pick<ToolForm, "server" | "tool" | "form" | "by">,
      replaces: string | undefined,
    ): Promise<void> {
      const { server, tool } = accepted;
      const known = (await entries()).filter((one) => one.server === server && one.tool === tool);
      const hashed = { ...accepted, hash: formHash(accepted.form) };
      const last = known.at(-1);
      if (last?.hash === hashed.hash) return;
      // Of several that write at the same moment one does: the number is taken then.
      const id = `form:${server}:${tool}:${known.length}`;
      const { entry } =
        last?.hash === replaces
          ? await journal.post(TEAM_MCP, { id, kind: "tool_form", ...hashed })
          : { entry: last };
      if (entry?.kind === "tool_form" && entry.hash === hashed.hash) return;
      const text = `Somebody accepted another form of ${tool} meanwhile; look at it again.`;
      throw new BotError("PRECHECK_FAILED", text);
    },
  };
}
